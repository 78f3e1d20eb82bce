"""What can be searched: pages with their prose, terms of the glossary, and the numbers of the cheat sheet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from core.cheat_sheet import tables
from core.glossary import Term, read_glossary
from core.search import Entry
from views._ui.content import CONTENT, sections
from views._ui.registry import ENTRIES, STEPS

CHEAT_SHEET = "cheat-sheet"
# What pages that are no step are about, by address.
_ABOUT = {
    "": "The first question, the five steps, scenarios to start from, and what binds yours.",
    CHEAT_SHEET: "Numbers worth knowing by heart on one printable page.",
    "review": "Today's queue: what is due, and new cards from the weakest topics.",
    "cards": "Browse the bank; open questions with a rubric.",
    "drills": "One number at a time, a ten-minute sprint, an estimator.",
    "quiz": "Multiple choice with a reason for every option, and a five-minute check-up.",
    "faults": "Spot the bug: short programs that do not do what they are meant to.",
    "claims": "Critique a claim: what holds, on what condition, and how to say it better.",
    "progress": "The map of topics, calibration, history; export and import.",
    "own-cards": "Bring cards of your own as a zip.",
    "mock": "Mock interviews: lead one or join one, two browsers and one room; script, truth, rubric and scorecard.",
    "solo": "Solo mock: the same packs alone, by the clock, scored by yourself.",
    "calibrate": "Calibrate yourself: score three scripted answers, then see how others scored them.",
    "measure": "Run on my GPU: measure this machine or open a result; roofline, launches, predictions against them.",
    "silicon": "Datasheet against silicon: measured kernels of ten systems, over each other; estimates on them.",
    "trace": "Read a PyTorch profiler trace: compute, communication, copies, what idle time waited on, the limit.",
    "search": "Find pages, terms and numbers; the whole glossary.",
    "settings": "GB or GiB, predictions on or off, light or dark.",
}


@lru_cache(maxsize=1)
def glossary() -> tuple[Term, ...]:
    """All terms, in alphabetical order."""
    terms = read_glossary((CONTENT / "glossary.md").read_text(encoding="utf-8"))
    return tuple(sorted(terms, key=lambda term: term.name.lower()))


@lru_cache(maxsize=2)
def index(unit: str) -> tuple[Entry, ...]:
    """Everything that can be found, with memory in GB or GiB."""
    return (*_pages(), *_terms(), *_numbers(unit))


def about(url_path: str) -> str:
    """What a page is about, in a sentence."""
    steps = {step.url_path: step.question for step in STEPS}
    return steps.get(url_path) or _ABOUT.get(url_path, "")


def _pages() -> Iterator[Entry]:
    for entry in (entry for entry in ENTRIES if not entry.hidden):
        step = next((step for step in STEPS if step.url_path == entry.url_path), None)
        prose = [about(entry.url_path), *([step.title, step.limit] if step else []), *_prose(entry.url_path)]
        yield Entry("page", entry.title, " ".join(prose), entry.url_path)


def _prose(url_path: str) -> list[str]:
    """A step's own text."""
    written = (CONTENT / "steps" / f"{url_path}.md").exists()
    return list(sections(url_path).values()) if written else []


def _terms() -> Iterator[Entry]:
    return (Entry("term", term.name, term.meaning, term.topic) for term in glossary())


def _numbers(unit: str) -> Iterator[Entry]:
    for table in tables(unit):
        for name, *values in table.rows:
            text = "; ".join(f"{head}: {value}" for head, value in zip(table.head[1:], values, strict=True))
            yield Entry("number", f"{table.title}, {name}", text, CHEAT_SHEET)
