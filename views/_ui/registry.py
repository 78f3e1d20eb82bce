"""Every page once: its script, its address, its title and icon, and for the five steps what they are about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

PAGES = Path(__file__).parents[1]
PRACTICE, MOCK, GPU, MORE = "Practice", "Mock", "My GPU", "More"


@dataclass(frozen=True, slots=True)
class Entry:
    """One page of the app."""

    script: str  # below views/
    title: str
    url_path: str
    icon: str
    section: str = ""  # the menu that it lies in; empty: on the bar itself
    hidden: bool = False  # in no menu: it is opened by a link


@dataclass(frozen=True, slots=True)
class Step:
    """One of the five steps; ``url_path`` is None while its page is still to come."""

    number: int
    title: str
    limit: str
    question: str
    url_path: str | None


ENTRIES = (
    Entry("start/home.py", "Home", "", ":material/home:"),
    Entry("steps/bottleneck.py", "1 Bottleneck", "bottleneck", ":material/search_insights:"),
    Entry("steps/partition.py", "2 Partition", "partition", ":material/grid_view:"),
    Entry("steps/communication.py", "3 Communication", "communication", ":material/hub:"),
    Entry("steps/attention.py", "4 Attention", "attention", ":material/view_module:"),
    Entry("steps/batch.py", "5 Batch", "batch", ":material/stacked_line_chart:"),
    Entry("practice/review.py", "Review", "review", ":material/event_repeat:", PRACTICE),
    Entry("practice/cards.py", "Cards", "cards", ":material/forum:", PRACTICE),
    Entry("practice/drills.py", "Drills", "drills", ":material/calculate:", PRACTICE),
    Entry("practice/quiz.py", "Quiz", "quiz", ":material/quiz:", PRACTICE),
    Entry("practice/faults.py", "Spot the bug", "faults", ":material/bug_report:", PRACTICE),
    Entry("practice/claims.py", "Critique a claim", "claims", ":material/fact_check:", PRACTICE),
    Entry("practice/progress.py", "Progress", "progress", ":material/insights:", PRACTICE),
    Entry("practice/own.py", "Own cards", "own-cards", ":material/folder_open:", PRACTICE),
    Entry("mock/lobby.py", "Mock interviews", "mock", ":material/groups:", MOCK),
    Entry("mock/room.py", "Interview room", "room", ":material/meeting_room:", MOCK, hidden=True),
    Entry("mock/solo.py", "Solo mock", "solo", ":material/person:", MOCK),
    Entry("mock/calibration.py", "Calibrate yourself", "calibrate", ":material/balance:", MOCK),
    Entry("gpu/measure.py", "Run on my GPU", "measure", ":material/speed:", GPU),
    Entry("gpu/profiles.py", "Datasheet against silicon", "silicon", ":material/stacked_line_chart:", GPU),
    Entry("gpu/trace.py", "Read a trace", "trace", ":material/timeline:", GPU),
    Entry("start/cheat_sheet.py", "Cheat sheet", "cheat-sheet", ":material/list_alt:", MORE),
    Entry("start/search.py", "Search", "search", ":material/search:", MORE),
    Entry("start/settings.py", "Settings", "settings", ":material/settings:", MORE),
)

STEPS = (
    Step(
        1,
        "Find the bottleneck",
        "all four limits",
        "Which limit binds? Measure before you change anything.",
        "bottleneck",
    ),
    Step(2, "Partition", "memory capacity", "Split the model states until they fit.", "partition"),
    Step(3, "Cut communication", "communication", "Move fewer bytes between GPUs, or hide them.", "communication"),
    Step(4, "Tile attention", "memory bandwidth", "Keep the score matrix inside the chip.", "attention"),
    Step(
        5,
        "Raise the batch",
        "capacity and bandwidth",
        "The KV cache caps the batch; the batch makes the throughput.",
        "batch",
    ),
)


@lru_cache(maxsize=1)
def _paths() -> dict[str, str]:
    return {entry.url_path: str(PAGES / entry.script) for entry in ENTRIES}


def pages() -> dict[str, list[StreamlitPage]]:
    """The pages by menu, in the order of the navigation; the first is the one that opens at the root."""
    menus: dict[str, list[StreamlitPage]] = {}
    for entry in ENTRIES:
        page = st.Page(
            _paths()[entry.url_path],
            title=entry.title,
            icon=entry.icon,
            url_path=entry.url_path or None,
            default=not entry.url_path,
            visibility="hidden" if entry.hidden else "visible",
        )
        menus.setdefault(entry.section, []).append(page)
    return menus


def path_of(url_path: str) -> str:
    """The script of a page, as ``st.page_link`` and ``st.switch_page`` take it."""
    return _paths()[url_path]
