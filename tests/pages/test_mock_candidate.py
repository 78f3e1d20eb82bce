"""The candidate's side of a mock interview: nothing private is sent, and what is typed is kept or refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1.element_tree import TextInput

from core.cards.draw import draw
from core.mock.calculator import scenario_from, serving_results, training_results
from core.mock.fold_board import HOLD_S
from core.storage.rooms import RoomStore
from tests.core.mock.made import CARD, DRILL, Played, at_phase, bank, opened, scored, whole
from tests.pages.mock_visit import SeatVisit, Stored, leaked, mirrored, stored
from views._ui.mock_calculator import _depends_on
from views._ui.mock_released import BEFORE, IN_SETUP
from views._ui.room import Room


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


def visit(played: Played, role: str = "candidate") -> tuple[Stored, SeatVisit]:
    room = stored(played)
    return room, SeatVisit(room, role)


@pytest.mark.parametrize("role", ["candidate", "observer"])
@pytest.mark.parametrize("phase", range(8))
def test_no_private_text_of_the_pack_is_sent_in_any_phase(phase: int, role: str):
    played = scored(at_phase(phase)).does("interviewer", "note", text="a private note")
    room, page = visit(played, role)
    sent = page.payload()
    assert leaked(sent, room.state) == []
    assert [word for word in ("private note", "heard this", "would hire") if word in sent] == []


def test_the_walk_through_what_is_sent_would_find_a_leak():
    room, page = visit(at_phase(3), "interviewer")
    assert len(leaked(page.payload(), room.state)) > 5


def test_no_id_of_a_card_is_sent_with_which_an_answer_could_be_looked_up():
    _, page = visit(at_phase(5))
    assert "A number to work out" in page.says()
    assert CARD not in page.payload()
    assert DRILL not in page.payload()


def test_before_the_start_the_candidate_says_that_they_are_ready():
    played = opened().does("candidate", "ready", on=False)
    room, page = visit(played)
    assert "45 minutes at staff level" in page.says()
    page.press("I am ready")
    assert "candidate" in room.state.ready
    page.press("Not ready yet")
    assert "candidate" not in room.state.ready


def test_what_was_released_is_read_in_words():
    _, page = visit(whole())
    said = page.says()
    assert "**The facts change (1).** The context is 32,768 tokens" in said
    assert said.index("A dense 70B model trains") < said.index("Full, in every layer") < said.index("**Hint.**")
    assert "You said **2350 tok/s**, 70% sure." in said


@pytest.mark.parametrize("role", ["candidate", "observer"])
def test_what_stands_in_the_prompt_s_place_follows_the_clock(role: str):
    room, page = visit(opened(), role)
    assert BEFORE in page.says()
    room.does("interviewer", "phase_started", phase=0)
    said = page.run().says()
    assert BEFORE not in said
    assert IN_SETUP in said
    room.does("interviewer", "phase_started", phase=1)
    assert IN_SETUP not in page.run().says()
    room, page = visit(at_phase(0).does("interviewer", "finished"), role)
    assert "The prompt comes" not in page.says()


def test_stuck_is_told_and_taken_back():
    room, page = visit(at_phase(2))
    page.press("I am stuck")
    assert room.state.stuck
    page.press("Never mind")
    assert not room.state.stuck
    assert "I am stuck" in page.labels()


def claim(page: SeatVisit, words: str, number: str = "", unit: str = "", sure: int | None = None) -> None:
    for label, value in (("Claim", words), ("Number", number), ("Unit", unit)):
        claim_box(page, label).set_value(value)
    next(group for group in page.at.button_group if group.label.startswith("How sure are you")).set_value(sure)


def claim_box(page: SeatVisit, label: str) -> TextInput:
    return next(box for box in page.at.text_input if box.label == label)


def test_a_claim_is_added_changed_and_removed():
    room, page = visit(at_phase(2))
    claim(page, "HFU ceiling", "47", "%", 70)
    page.press("Add the claim")
    (row,) = room.state.claims.values()
    assert (row.claim, row.number, row.unit, row.confidence) == ("HFU ceiling", "47", "%", 70)
    assert claim_box(page, "Claim").value == ""
    page.press("Change")
    assert claim_box(page, "Number").value == "47"
    claim(page, "HFU ceiling", "46.7", "%", 90)
    page.press("Keep the change")
    (row,) = room.state.claims.values()
    assert (row.number, row.confidence) == ("46.7", 90)
    page.press("Remove")
    assert not room.state.claims


def test_a_change_upon_a_claim_that_another_tab_has_changed_is_asked_about_first():
    played = at_phase(2).does("candidate", "claim", row="c1", claim="HFU ceiling", number="47", unit="%")
    room, page = visit(played)
    page.press("Change")
    claim(page, "HFU ceiling", "46.7", "%", 90)
    room.does("candidate", "claim", row="c1", claim="HFU at most", number="46.67", unit="%")
    page.press("Keep the change")
    assert [row.number for row in room.state.claims.values()] == ["46.67"]
    assert "another tab has made this claim" in page.says()
    assert claim_box(page, "Number").value == "46.7"
    page.press("Keep the change")
    assert [(row.claim, row.number) for row in room.state.claims.values()] == [("HFU ceiling", "46.7")]


def test_another_room_in_the_same_tab_begins_with_an_empty_claim():
    _, page = visit(at_phase(2).does("candidate", "claim", row="c1", claim="HFU ceiling", number="47"))
    page.press("Change")
    assert "Keep the change" in page.labels()
    other = stored(at_phase(2))
    page.at.query_params["room"] = other.new.room
    page.at.query_params["key"] = other.new.tokens["candidate"]
    page.run()
    assert "Add the claim" in page.labels()
    assert claim_box(page, "Claim").value == ""
    claim(page, "decode is bound by bandwidth")
    page.press("Add the claim")
    assert "c1" not in other.state.claims


def test_an_empty_claim_is_refused_in_words_and_what_was_typed_stays():
    room, page = visit(at_phase(2))
    claim(page, " ", "47")
    page.press("Add the claim")
    assert "claim is empty" in page.says()
    assert claim_box(page, "Number").value == "47"
    assert not room.state.claims


@pytest.mark.parametrize("words", ["<script>alert(1)</script>", "![x](http://evil.example/a.png)", "🙂 مرحبا **bold**"])
def test_a_claim_shows_as_it_was_typed(words: str):
    _, page = visit(at_phase(2).does("candidate", "claim", row="c1", claim=words))
    shown = next(e.value for e in page.at.markdown if any(part in e.value for part in ("evil", "alert", "bold")))
    assert "![" not in shown
    assert "<script" not in shown.replace("\\<", "")
    assert "**bold**" not in shown


def test_the_preview_of_the_pad_fetches_no_picture():
    _, page = visit(at_phase(2).does("candidate", "pad", text="# Plan\n![x](http://evil.example/a.png)"))
    shown = next(element.value for element in page.at.markdown if "evil" in element.value)
    assert "![" not in shown
    assert shown.startswith("# Plan")


def probe(page: SeatVisit, typed: str, sure: int | None) -> None:
    page.at.text_input(key="mock.probe.0.typed").set_value(typed)
    page.at.button_group(key="mock.probe.0.confidence").set_value(sure)
    page.press("Lock the answer")


@pytest.mark.parametrize("typed", ["", "1,34", "12 GB", "abc", "∞", "<script>alert(1)</script>", "9" * 90])
def test_an_answer_that_is_no_number_of_that_unit_is_refused_in_words(typed: str):
    room, page = visit(at_phase(5))
    probe(page, typed, 70)
    assert ":material/error:" in page.says()
    assert "<script" not in page.says().replace("\\<", "")
    assert not room.state.answers


def test_an_answer_needs_a_confidence_and_is_locked_once_without_a_verdict():
    room, page = visit(at_phase(5))
    probe(page, "2350 tok/s", None)
    assert "how sure" in page.says()
    probe(page, "2350 tok/s", 70)
    locked = room.state.answers[DRILL]
    assert (locked.text, locked.confidence) == ("2350 tok/s", 70)
    assert "You said **2350 tok/s**" in page.says()
    assert "Lock the answer" not in page.labels()
    answer = draw(bank().cards[DRILL], 0).answer
    assert f"{answer:,.0f}" not in page.payload()


def test_a_slider_is_written_to_the_room_and_its_results_are_core_s():
    room, page = visit(at_phase(3))
    mirrored(page.at, "select_slider", "mock.calc.data_parallel").set_value(128).run()
    assert room.state.sliders == {"data_parallel": 128}
    assert "128" in page.payload()
    page.at.button_group(key="mock.calc.side").set_value("Serving").run()
    mirrored(page.at, "select_slider", "mock.calc.batch").set_value(48).run()
    assert room.state.sliders == {"data_parallel": 128, "batch": 48}


def test_a_control_begins_with_the_room_s_value_and_is_never_set():
    """What is set is told to a browser once, and lost where the next run is quicker: then it shows what it had."""
    room, page = visit(at_phase(3))
    kinds = {"data_parallel": "select_slider", "model": "selectbox"}

    def drawn(field: str) -> Any:
        return mirrored(page.at, kinds[field], f"mock.calc.{field}")

    def key(field: str) -> str:
        assert not drawn(field).proto.set_value
        return str(drawn(field).key)

    first = {field: key(field) for field in kinds}
    drawn("data_parallel").set_value(128).run()
    assert {field: key(field) for field in kinds} == first  # the hand stays on it
    room.does("candidate", "sliders", values={"data_parallel": 100.0})
    page.run()
    assert drawn("data_parallel").value == 100
    position = drawn("data_parallel").proto.default[0]
    assert drawn("data_parallel").proto.options[int(position)] == "100"
    assert key("data_parallel") != first["data_parallel"]  # as no browser has seen it
    assert key("model") == first["model"]
    drawn("data_parallel").set_value(128).run()
    assert "100" in drawn("data_parallel").proto.options  # positions go on meaning the same


def results_sent(page: SeatVisit) -> bool:
    return "memory of the fullest GPU" in page.payload()


def test_covered_results_are_not_sent_to_the_candidate():
    room, page = visit(at_phase(3))
    assert results_sent(page)
    room.does("interviewer", "mask_toggled", on=True)
    page.run()
    assert not results_sent(page)
    assert "Estimate first" in page.says()


def test_while_another_hand_is_on_the_sliders_a_move_is_refused_and_springs_back():
    room, page = visit(at_phase(3))
    room.does("interviewer", "sliders", values={"data_parallel": 256.0})
    page.run()
    slider = mirrored(page.at, "select_slider", "mock.calc.data_parallel")
    assert slider.value == 256
    assert "Interviewer moved it" in page.says()
    slider.set_value(64).run()
    assert "The interviewer has the sliders" in page.says()
    assert mirrored(page.at, "select_slider", "mock.calc.data_parallel").value == 256
    assert room.state.sliders == {"data_parallel": 256.0}


def test_a_hand_that_moves_no_more_is_no_longer_told(monkeypatch: pytest.MonkeyPatch):
    _, page = visit(at_phase(3).does("interviewer", "sliders", values={"data_parallel": 256.0}))
    assert "Interviewer moved it; free again 10 s after the last move" in page.says()
    room = page.at.session_state["mock.room"]
    assert isinstance(room, Room)
    drawn, now = _depends_on(room), RoomStore.now
    monkeypatch.setattr(RoomStore, "now", lambda store: now(store) + HOLD_S)
    assert _depends_on(room) != drawn  # so that a beat draws it anew
    assert "moved it" not in page.run().says()


def test_the_hand_can_be_taken_off():
    room, page = visit(at_phase(3))
    mirrored(page.at, "select_slider", "mock.calc.data_parallel").set_value(128).run()
    assert room.state.hold is not None
    page.press("Let go")
    assert room.state.hold is None


@pytest.mark.parametrize("values", [{"model": "no/such"}, {"tensor_parallel": 3.0}, {"data_parallel": "many"}])
def test_values_that_cannot_be_are_told_and_nothing_breaks(values: dict):
    _, page = visit(at_phase(3).does("interviewer", "sliders", values=values))
    assert ":material/error:" in page.says()
    assert not results_sent(page)


def test_the_self_rating_is_asked_for_in_the_last_phase_and_needs_an_overall():
    _, early = visit(at_phase(6))
    assert "Commit my rating" not in early.labels()
    room, page = visit(at_phase(7))
    page.press("Commit my rating")
    assert "Choose what it was" in page.says()
    page.at.radio(key="mock.self.overall").set_value("lean no")
    page.at.button_group(key="mock.self.quantitative").set_value(2)
    page.at.text_area(key="mock.self.words").set_value("I forgot the price.")
    page.press("Commit my rating")
    own = room.state.self_rating
    assert own is not None
    assert (own.overall, own.competencies, own.words) == ("lean no", {"quantitative": 2}, "I forgot the price.")
    assert "sealed until the interviewer has committed" in page.says()


def test_feedback_needs_all_three_answers():
    room, page = visit(at_phase(7).does("candidate", "self_rated", overall="lean no"))
    page.press("Send")
    assert "Answer all three" in page.says()
    for name, given in (("clear", 5), ("fair", 4), ("useful", 3)):
        page.at.button_group(key=f"mock.feedback.{name}").set_value(given)
    page.press("Send")
    assert room.state.feedback is not None
    assert (room.state.feedback.clear, room.state.feedback.fair, room.state.feedback.useful) == (5, 4, 3)
    assert "Send" not in page.labels()


def test_an_observer_reads_the_board_and_can_press_nothing():
    played = at_phase(5).does("candidate", "pad", text="8N over 6N")
    room = stored(played.does("candidate", "claim", row="c1", claim="HFU ceiling", number="47"))
    watching = SeatVisit(room, "observer", holder="tab-observer")
    assert "8N over 6N" in watching.says()
    assert "HFU ceiling" in watching.payload()
    assert watching.labels() == []
    assert all(slider.disabled for slider in watching.at.select_slider)


def test_a_tab_that_only_watches_the_seat_cannot_write():
    room = stored(at_phase(5))
    page = SeatVisit(room, "candidate", holder="another-browser")
    page.press("Watch")
    assert "Add the claim" not in page.labels()
    assert "Lock the answer" not in page.labels()
    assert all(slider.disabled for slider in page.at.select_slider)


def test_the_calculator_starts_where_the_app_starts():
    scenario = scenario_from({})
    _, page = visit(at_phase(3))
    sent = page.payload()
    assert training_results(scenario).tiles[2].value in sent
    page.at.button_group(key="mock.calc.side").set_value("Serving").run()
    assert serving_results(scenario).tiles[2].value in page.payload()


def test_the_probe_asks_for_the_confidence_that_is_graded():
    _, page = visit(at_phase(5))
    rtol = bank().cards[DRILL].model.answer.rtol
    asked = [group.label for group in page.at.button_group if group.label.startswith("How sure")]
    assert f"How sure are you that it is within {100 * rtol:g}%?" in asked
