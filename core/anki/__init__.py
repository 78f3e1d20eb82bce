"""Cards as a deck that Anki imports."""
