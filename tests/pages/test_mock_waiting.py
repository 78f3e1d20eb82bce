"""What waits is said in the bar; the console's header stands still, and its primary button is what comes next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.mock.made import Played, at_phase, scored, whole
from tests.pages.mock_visit import SeatVisit, Stored, stored
from views._ui.mock_console_bar import PRESSED, _watch
from views._ui.mock_waiting import CARD, RATE, waits


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


def visit(played: Played, role: str) -> tuple[Stored, SeatVisit]:
    room = stored(played)
    return room, SeatVisit(room, role)


def said_in_the_bar(page: SeatVisit) -> str:
    return waits(page.at.session_state["mock.room"])[0]


def test_the_candidate_is_told_that_the_rating_waits_and_then_the_scorecard():
    room, page = visit(scored(at_phase(6)), "candidate")
    assert said_in_the_bar(page) == ""
    room.does("interviewer", "phase_started", phase=7)
    assert said_in_the_bar(page.run()) == RATE
    room.does("candidate", "self_rated", overall="lean no", competencies={}, words="")
    assert said_in_the_bar(page.run()) == ""
    room.does("interviewer", "committed")
    assert said_in_the_bar(page.run()) == CARD
    _, watching = visit(whole(), "observer")
    assert said_in_the_bar(watching) == ""


def test_a_rater_is_told_of_the_scorecard_once_it_is_on_the_page():
    played = scored(at_phase(7)).does("interviewer", "committed").does("candidate", "self_rated", overall="lean no")
    room, page = visit(played, "interviewer")
    assert said_in_the_bar(page) == ""
    room.does("interviewer", "finished")
    assert said_in_the_bar(page.run()) == CARD


def button(page: SeatVisit, key: str):
    return page.at.button(key=key).proto


def test_the_end_of_the_session_is_the_primary_button_only_once_both_have_committed():
    room, page = visit(scored(at_phase(7)), "interviewer")
    assert button(page, "console.finish").type == "secondary"
    room.does("interviewer", "committed")
    assert button(page.run(), "console.finish").type == "secondary"
    room.does("candidate", "self_rated", overall="lean no", competencies={}, words="")
    assert button(page.run(), "console.finish").type == "primary"


def test_a_stuck_candidate_touches_no_button_of_the_bar():
    room, page = visit(at_phase(2), "interviewer")
    seen = page.at.session_state["mock.room"]
    before = _watch(seen)
    room.does("candidate", "stuck")
    page.run()
    assert "Candidate is stuck" in page.says()
    assert _watch(seen) == before


def test_only_an_own_press_that_moves_the_session_on_asks_for_the_top_of_the_page():
    room, page = visit(at_phase(2), "interviewer")
    seen = page.at.session_state["mock.room"]

    def mark() -> str:
        key = f"{PRESSED}.{seen.id}"
        return str(page.at.session_state[key]) if key in page.at.session_state else ""

    assert mark() == ""
    room.does("interviewer", "phase_started", phase=3)  # as another browser with the lead does
    page.run()
    page.press("+1 min")
    assert mark() == ""
    page.press("Next: The facts change")
    first = mark()
    assert first
    page.press("Next: Numeric probe")
    assert mark() not in ("", first)
