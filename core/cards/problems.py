"""What is wrong with a card file: file, line, field, value, and what would be right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MAX_SHOWN = 80


@dataclass(frozen=True, slots=True, order=True)
class CardProblem:
    """One finding, printed as ``file:line: field: rule``."""

    path: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}"
        return f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


class Fault(NamedTuple):
    """One finding before it has a line; ``words`` are those of the field's text that are at fault."""

    field: str
    rule: str
    words: str = ""


class CardError(ValueError):
    """Card files that cannot be used, with every finding."""

    def __init__(self, problems: list[CardProblem]) -> None:
        self.problems = sorted(problems)
        super().__init__("\n".join(map(str, self.problems)))


def short(value: object) -> str:
    """A value as it stands in a finding, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits, a list in a list in a list
        return f"a {type(value).__name__} too large to print"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."
