"""The console's script: what is given is seen where it was pressed, before the press and after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.mock.made import CARD, DRILL, ITEMS, Played, at_phase
from tests.pages.mock_visit import SeatVisit, Stored, stored
from views._ui.mock_console_now import READ_ALOUD

HINT = "Write down the FLOP of a token that each figure counts, in multiples of N."


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


def visit(played: Played) -> tuple[Stored, SeatVisit]:
    room = stored(played)
    return room, SeatVisit(room, "interviewer")


def test_a_hint_is_read_with_its_price_before_it_is_pressed_and_items_are_named_in_words():
    _, page = visit(at_phase(2))
    assert f"**Hint 1** :gray[(costs 0.25)] {HINT}" in page.says()
    assert "On the candidate's page" not in page.says()
    sent = page.payload()
    assert "silent for 90 s: hint 1, costs 0.25 of which item?" in sent
    rubric = page.at.session_state["mock.room"].rater.private.rubric
    assert {row.key for row in rubric} == set(ITEMS)
    for row in rubric:
        assert f"#{row.key} {row.observe}" in sent


def test_a_hint_that_was_given_is_read_where_it_was_pressed():
    _, page = visit(at_phase(2).does("interviewer", "hint_released", card=CARD, hint=1, item="causes"))
    said = page.says()
    assert f"{HINT}  \n:green[:material/check_circle:] On the candidate's page, costs 0.25 of #causes" in said


def test_a_probe_that_the_script_leads_to_shows_its_words_its_truth_and_what_was_locked():
    room, page = visit(at_phase(2))
    drill = next(row for row in page.at.session_state["mock.room"].rater.private.drills if row.drill == DRILL)
    label = next(label for label in page.labels() if "still no ratio" in label)
    assert label.endswith(f"show *{drill.title}*")
    assert "a smaller sum: a smaller sum" not in label
    assert drill.prompt not in page.says()
    page.press(":orange[stuck] still no ratio")
    assert room.state.drills == (DRILL,)
    said = page.says()
    assert drill.prompt in said
    assert ":green[:material/check_circle:] On the candidate's page" in said
    assert "Truth: **2,345 tok/s**" in said
    room.does("candidate", "answer_locked", drill=DRILL, text="2350 tok/s", confidence=80)
    assert "Locked: **2350 tok/s**, 80% sure: :green" in page.run().says().replace("\\", "")


def test_the_truth_of_a_probe_stays_hidden_where_numbers_are_until_an_answer_is_locked():
    room, page = visit(at_phase(2))
    page.at.session_state["console.tabs"] = "Truth"
    page.run().at.toggle(key="console.hide").set_value(True).run()
    page.press(":orange[stuck] still no ratio")
    assert "The answer is hidden until the candidate has locked theirs" in page.says()
    assert "2,345" not in page.payload()
    room.does("candidate", "answer_locked", drill=DRILL, text="2350 tok/s", confidence=80)
    assert "Truth: **2,345 tok/s**" in page.run().says()


def test_a_reply_that_was_released_says_what_it_is_and_what_a_press_makes_of_it():
    room, page = visit(at_phase(1))
    page.press("Asked: release")
    assert "On the candidate's page, asked for" in page.says()
    assert "Change to: given unasked" in page.labels()
    page.press("Change to: given unasked")
    assert room.state.asked[(CARD, 0)] is False
    assert "On the candidate's page, given unasked" in page.says()
    assert "Change to: asked for" in page.labels()


@pytest.mark.parametrize(("phase", "kind"), [(6, "reverse"), (7, "wrap")])
def test_the_last_two_phases_have_a_sentence_to_read_aloud(phase: int, kind: str):
    _, page = visit(at_phase(phase))
    assert READ_ALOUD[kind] in page.says()
    assert "Read aloud" in page.says()
