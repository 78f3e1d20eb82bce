"""Spot the bug: a short program with a line at fault, the same program mended, and a run of both that shows it.

The text of a line names it, so that no author counts lines: it must stand on exactly one line of the program.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.cards.front_matter import line_of, path_of, split_front_matter
from core.cards.models import Level, Line, Strict, Text, Topic

FAULTY, FIXED, DEMONSTRATION = "faulty.py", "fixed.py", "demonstrate.py"
PROGRAMS = (FAULTY, FIXED, DEMONSTRATION)  # what lies beside the card
MAX_LINES, MAX_WIDTH = 40, 88  # of a program, to be read on one screen

Snippet = Annotated[str, StringConstraints(min_length=3, max_length=120, strip_whitespace=True)]


class Fault(Strict):
    """A line at fault; ``also`` names other lines where the same fault may fairly be seen."""

    line: Snippet
    also: tuple[Snippet, ...] = ()
    what: Text
    effect: Text


class Innocent(Strict):
    """A line that looks odd and is right."""

    line: Snippet
    why: Line


class Bug(Strict):
    """``bug/1``: the front matter of ``bugs/<slug>/card.md``."""

    id: Annotated[str, StringConstraints(pattern=r"^b-[a-z0-9]+(-[a-z0-9]+)*$")]
    schema_: Literal["bug/1"] = Field(alias="schema")
    title: Line
    topic: Topic
    step: int = Field(ge=0, le=5)
    level: Level
    sources: tuple[str, ...] = Field(min_length=1)
    seconds: int = Field(default=120, ge=30, le=600)
    stem: Text
    faults: tuple[Fault, ...] = Field(min_length=1, max_length=4)
    innocent: tuple[Innocent, ...] = Field(min_length=2, max_length=4)


@dataclass(frozen=True)
class BugCard:
    """A bug with the text of its three programs."""

    model: Bug
    path: str
    content_hash: str
    answer_hash: str
    text: str  # of card.md, so that a finding can name its line
    faulty: str
    fixed: str
    demonstration: str
    own: bool = False  # never: what a stranger wrote is not run

    @property
    def id(self) -> str:
        return self.model.id

    @property
    def kind(self) -> Literal["bug"]:
        return "bug"

    @property
    def topic(self) -> str:
        return self.model.topic

    @property
    def step(self) -> int:
        return self.model.step

    @property
    def title(self) -> str:
        return self.model.title

    def line_of(self, field: str) -> int:
        """The line of a field (``faults.0.what``) in card.md; 1 for a program beside it."""
        return 1 if field in PROGRAMS else line_of(split_front_matter(self.text)[0], path_of(field), 2)

    def texts(self) -> dict[str, str]:
        """Every text that a reader sees as Markdown, by field."""
        model = self.model
        found = {"title": model.title, "stem": model.stem}
        for at, fault in enumerate(model.faults):
            found |= {f"faults.{at}.what": fault.what, f"faults.{at}.effect": fault.effect}
        return found | {f"innocent.{at}.why": line.why for at, line in enumerate(model.innocent)}

    def findings(self, topics: Collection[str]) -> Iterator[tuple[str, str]]:
        """What reading alone cannot see: a field of the card, or a program, and the rule that it breaks."""
        prefix = f"b-{self.topic}-"
        if topics and self.topic not in topics:
            yield "topic", f"{self.topic!r} is no topic; there are {', '.join(topics)}"
        if not self.id.startswith(prefix):
            yield "id", f"{self.id} is a bug of {self.topic}, so it begins with {prefix}"
        elif self.path != (place := f"bugs/{self.id.removeprefix(prefix)}/card.md"):
            yield "id", f"{self.id} lies in {place}"
        yield from program_findings(self.model, self.faulty, self.fixed)

    @property
    def asked(self) -> str:
        """What stands before the answer, for searching."""
        return self.model.stem

    @property
    def fault_lines(self) -> frozenset[int]:
        """The numbers of all lines that count as found."""
        return frozenset(number for fault in self.model.faults for number in lines_of(self.faulty, fault))


def number_of(program: str, snippet: str) -> int:
    """The number of the one line that holds a text, counted from 1.

    Raises:
        ValueError: no line holds it, or several do.
    """
    found = [number for number, line in enumerate(program.splitlines(), 1) if snippet in line]
    if len(found) != 1:
        where = f"lines {', '.join(map(str, found))}" if found else "no line"
        raise ValueError(f"{snippet!r} stands on {where} of the program; name text that stands on exactly one")
    return found[0]


def lines_of(program: str, fault: Fault) -> list[int]:
    """The numbers of the lines at which a fault may be seen, the first of them its own."""
    return [number_of(program, snippet) for snippet in (fault.line, *fault.also)]


def statements(program: str) -> dict[int, str]:
    """Lines that do something, by number: no blank ones, no comments, no docstrings."""
    silent: set[int] = set()
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            silent |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return {
        number: line.strip()
        for number, line in enumerate(program.splitlines(), 1)
        if line.strip() and not line.strip().startswith("#") and number not in silent
    }


def changes(faulty: str, fixed: str) -> str:
    """Both programs in one: lines that go begin with a minus, lines that come with a plus."""
    found = difflib.unified_diff(faulty.splitlines(), fixed.splitlines(), n=MAX_LINES, lineterm="")
    return "\n".join(list(found)[3:])  # without the names of the files and the place


def touched(faulty: str, fixed: str) -> set[int]:
    """Numbers of the lines that the mended program changes, or beside which it puts something."""
    matcher = difflib.SequenceMatcher(a=faulty.splitlines(), b=fixed.splitlines(), autojunk=False)
    found: set[int] = set()
    for tag, start, stop, _, _ in matcher.get_opcodes():
        if tag == "insert":
            found |= {start, start + 1}  # the line above and the line below, counted from 1
        elif tag != "equal":
            found |= set(range(start + 1, stop + 1))
    return found


def program_findings(model: Bug, faulty: str, fixed: str) -> Iterator[tuple[str, str]]:
    """What is wrong between a card and its programs: a field of the card, or a file, and the rule."""
    parsed = True
    for name, program in ((FAULTY, faulty), (FIXED, fixed)):
        rows = program.splitlines()
        if len(rows) > MAX_LINES or any(len(row) > MAX_WIDTH for row in rows):
            yield name, f"has at most {MAX_LINES} lines of {MAX_WIDTH} characters, to be read on one screen"
        try:
            ast.parse(program)
        except SyntaxError as error:
            yield name, f"is no Python: {error}"
            parsed = False
    if parsed:
        yield from _line_findings(model, faulty, fixed)


def _line_findings(model: Bug, faulty: str, fixed: str) -> Iterator[tuple[str, str]]:
    does, left = statements(faulty), set(statements(fixed).values())
    taken: dict[int, str] = {}
    named = [(f"faults.{at}", text) for at, fault in enumerate(model.faults) for text in (fault.line, *fault.also)]
    named += [(f"innocent.{at}", line.line) for at, line in enumerate(model.innocent)]
    for field, snippet in named:
        try:
            number = number_of(faulty, snippet)
        except ValueError as error:
            yield field, str(error)
            continue
        if number not in does:
            yield field, f"line {number} is a comment or a docstring: name a line that does something"
        elif number in taken:
            yield field, f"line {number} is named by {taken[number]} already"
        elif field.startswith("innocent") and does[number] not in left:
            yield field, f"line {number} is called innocent, and {FIXED} does without it"
        taken.setdefault(number, field)
    moved = touched(faulty, fixed)
    for at, fault in enumerate(model.faults):
        numbers = {number for number, field in taken.items() if field == f"faults.{at}"}
        if numbers and not numbers & moved:
            yield f"faults.{at}", f"{fault.line!r} is at fault, and {FIXED} leaves it as it was"
