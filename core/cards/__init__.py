"""Cards: practice items as Markdown files whose numbers are drawn anew and whose truth the core computes."""
