"""Ways into practice from Home: each sets what its page shows first, and opens it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from views._ui import registry

CHECK_UP, SPRINT = "Five-minute check-up", "Ten-minute sprint"  # as the pages' own controls name them


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One way in; ``sets`` is the key and value of the control that the page begins with."""

    label: str
    about: str
    icon: str
    url_path: str
    sets: tuple[str, str] | None = None


ENTRY_POINTS = (
    EntryPoint(
        CHECK_UP,
        "Ten mixed cards, then a map of what to practise.",
        ":material/timer:",
        "quiz",
        ("quiz.way", CHECK_UP),
    ),
    EntryPoint("Today's review", "What is due comes back before you forget it.", ":material/event_repeat:", "review"),
    EntryPoint(
        SPRINT,
        "Ten numbers against the clock.",
        ":material/calculate:",
        "drills",
        ("drills.mode", SPRINT),
    ),
    EntryPoint("Open questions", "Rubric, hints, and twists that change the numbers.", ":material/forum:", "cards"),
)


def entry_points() -> None:
    """A cell for each."""
    grid = st.grid(len(ENTRY_POINTS), min_column_width=230, border=True)
    for entry in ENTRY_POINTS:
        with grid.cell():
            pressed = st.button(entry.label, key=f"entry.{entry.url_path}", icon=entry.icon, width="stretch")
            st.markdown(f":small[:gray[{entry.about}]]")
            if pressed:
                if entry.sets:
                    st.session_state[entry.sets[0]] = entry.sets[1]
                st.switch_page(registry.path_of(entry.url_path))
