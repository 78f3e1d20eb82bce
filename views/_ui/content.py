"""Reads a page's prose from ``content/steps/<topic>.md``: sections by their headings, numbers put in by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from string import Template

from views._ui.words import inline, money_safe

CONTENT = Path(__file__).parents[2] / "content"


@lru_cache(maxsize=64)
def sections(topic: str) -> dict[str, str]:
    """The text under each second-level heading of a step's file, by heading."""
    text = (CONTENT / "steps" / f"{topic}.md").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in ("\n" + text).split("\n## ")[1:]]
    return {heading.strip(): body.strip() for heading, _, body in parts}


def section(topic: str, heading: str, numbers: Mapping[str, str] | None = None) -> str:
    """One section as safe Markdown, with ``${name}`` replaced by text that shows as it is.

    A name without a number is an error of ours and raises KeyError.
    """
    text = sections(topic)[heading]
    if numbers is None:
        return money_safe(text)
    prose = Template(text.replace("$$", r"\$$"))
    return prose.substitute({name: inline(number) for name, number in numbers.items()})
