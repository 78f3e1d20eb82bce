"""A new card that checks without a finding, to be rewritten line by line."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

TEMPLATES = Path(__file__).parent / "templates"
SCAFFOLDS = ("drill", "question", "quiz")
_FOLDERS = {"drill": "drills", "question": "questions"}


def scaffold(kind: str, topic: str, slug: str, topics: set[str]) -> tuple[str, str]:
    """Path below the content folder, and text.

    Raises:
        ValueError: an unknown topic, or a slug that is not lower case with hyphens.
    """
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", topic):
        raise ValueError(f"{topic!r} is no topic: lower case and hyphens, like kv-cache")
    if topics and topic not in topics:
        raise ValueError(f"{topic!r} is no topic; there are {', '.join(sorted(topics))}")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug):
        raise ValueError(f"{slug!r} is no slug: lower case, digits and hyphens, like kv-cache-growth")
    place = f"quizzes/{topic}.md" if kind == "quiz" else f"{_FOLDERS[kind]}/{topic}/{slug}.md"
    template = Template((TEMPLATES / f"{kind}.md").read_text(encoding="utf-8"))
    return place, template.substitute(topic=topic, slug=slug)
