"""The interviewer's console: what is pressed is in the log, what is refused is said, what is rated has evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.cards.draw import draw, twisted
from core.cards.text import with_unit
from tests.core.mock.made import CARD, DRILL, ITEMS, Played, at_phase, bank, opened, scored, whole
from tests.pages.mock_visit import SeatVisit, Stored, mirrored, stored
from views._ui.mock_console_now import FIRST_NUMBERS
from views._ui.mock_console_tabs import NO_NUMBER, SAME_NUMBERS, Number, twisted_in_vain


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


def visit(played: Played, role: str = "interviewer", tab: str = "") -> tuple[Stored, SeatVisit]:
    room = stored(played)
    page = SeatVisit(room, role)
    if tab:
        open_tab(page, tab)
    return room, page


def open_tab(page: SeatVisit, name: str) -> None:
    page.at.session_state["console.tabs"] = name
    page.run()


def keep_evidence(page: SeatVisit, text: str) -> None:
    page.at.text_input(key="console.evidence").input(text)
    page.press("Keep")


def own(room: Stored, role: str = "interviewer"):
    return room.state.ratings[role]


def table_text(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def test_the_clock_is_started_only_by_the_one_who_leads_and_goes_through_the_phases():
    room, page = visit(opened())
    page.press("Start the clock")
    assert room.state.time.phase == 0
    page.press("Next: Clarify")
    page.press("+1 min")
    page.press("Pause")
    assert (room.state.time.phase, room.state.time.stretched_s) == (1, 60)
    assert room.state.time.paused_at is not None
    page.press("Resume")
    assert room.state.time.paused_at is None
    room, page = visit(at_phase(1).does("rater", "joined", holder="tab-rater"), "rater")
    assert "The interviewer leads" in page.says()
    assert not [label for label in page.labels() if label.startswith(("Next", "Pause", "Asked"))]


def test_the_last_phase_is_followed_by_the_end_of_the_session():
    room, page = visit(at_phase(7))
    page.press("Finish the session")
    assert room.state.time.finished_at is not None
    assert "Next" not in "".join(page.labels())


def test_a_session_that_was_finished_early_asks_for_scores_and_no_more_questions():
    _, page = visit(at_phase(2).does("interviewer", "finished"))
    assert "The session is over" in page.says()
    assert "Score the items in the tab Rubric, judge the whole, then commit." in page.says()
    assert "**Ask:**" not in page.says()
    assert page.at.session_state["mock.room"].rater.private.phases[2].goal not in page.says()


@pytest.mark.parametrize("phase", range(8))
def test_each_phase_shows_its_goal_and_when_it_is_done(phase: int):
    _, page = visit(at_phase(phase))
    script = page.at.session_state["mock.room"].rater.private.phases[phase]
    assert script.goal in page.says()
    assert script.done_when in page.says()
    for probe in script.probes:
        assert probe in page.says()


def test_a_reply_is_released_once_and_whether_it_was_asked_for_can_be_mended():
    room, page = visit(at_phase(1))
    page.press("Asked: release")
    assert room.state.asked[(CARD, 0)] is True
    page.press("Change to: given unasked")
    assert room.state.asked[(CARD, 0)] is False
    page.press("Release unasked")
    assert list(room.state.replies) == [(CARD, 0), (CARD, 1)]


def test_the_tree_leads_from_a_reply_to_the_next_question_and_comes_back_after_a_reload():
    room, page = visit(at_phase(2))
    assert "how can 35% and 62% both be true?" in page.says()
    page.press(":red[wrong] blames communication")
    assert room.state.visits[-1].node == "start"
    assert "Suppose every GPU waits a third" in page.says()
    assert "Suppose every GPU waits a third" in SeatVisit(room, "interviewer").says()
    page.press(":green[strong] sees that waiting cancels")
    assert "Which other math runs here" in page.says()
    page.press(":green[strong] names attention or padding")
    assert [twist.twist for twist in room.state.twists] == ["long-context"]


def test_the_tree_of_another_room_begins_at_its_own_first_question_in_the_same_tab():
    _, page = visit(at_phase(2))
    page.press(":red[wrong] blames communication")
    assert "**Ask:** Suppose every GPU waits" in page.says()
    other = stored(at_phase(2))
    page.at.query_params["room"] = other.new.room
    page.at.query_params["key"] = other.new.tokens["interviewer"]
    page.run()
    assert "**Ask:** What does each figure count" in page.says()


def test_an_edge_to_a_drill_shows_it_to_the_candidate():
    room, page = visit(at_phase(2))
    page.press(":orange[stuck] still no ratio")
    assert room.state.drills == (DRILL,)


def test_a_twist_is_applied_with_a_banner_or_only_said_and_the_truth_is_core_s():
    room, page = visit(at_phase(4), tab="Truth")
    base = draw(bank().cards[CARD], 0)
    twist = next(twist for twist in base.card.model.twists if twist.id == "long-context")
    after = twisted(base, twist.set)
    shown = with_unit(after.truth["attention"], 2, "%")
    assert shown not in table_text(page.at)
    page.press("Apply, only said")
    assert [(done.twist, done.public) for done in room.state.twists] == [("long-context", False)]
    assert with_unit(base.truth["attention"], 2, "%") in table_text(page.at)
    assert shown in table_text(page.at)


def test_a_twist_that_moves_no_number_is_said_to():
    """Else the numbers of before would stand there as the truth of after, without a word."""
    room, page = visit(at_phase(4), tab="Truth")
    (strip,) = page.at.session_state["mock.room"].rater.private.truth
    room.does("interviewer", "twist_applied", twist="long-context", card=CARD)
    twists = room.state.twists
    assert not twisted_in_vain(strip, ())
    assert twisted_in_vain(strip, twists)  # the numbers are those of before
    assert not twisted_in_vain(replace(strip, card="another"), twists)
    page.run()
    assert SAME_NUMBERS not in page.says()
    (moved,) = page.at.session_state["mock.room"].rater.private.truth
    assert not twisted_in_vain(moved, twists)


def test_the_tree_keeps_its_first_numbers_after_a_twist_and_says_so():
    _, page = visit(at_phase(2))
    assert FIRST_NUMBERS not in page.says()
    before = page.at.session_state["mock.room"].rater.private.tree
    _, page = visit(at_phase(2).does("interviewer", "twist_applied", twist="long-context", card=CARD))
    assert FIRST_NUMBERS in page.says()
    assert page.at.session_state["mock.room"].rater.private.tree == before
    _, page = visit(at_phase(2).does("interviewer", "twist_applied", twist="slow-rail"))  # an event moves no number
    assert FIRST_NUMBERS not in page.says()


def test_the_truth_can_be_hidden_until_the_candidate_has_given_a_number():
    room, page = visit(at_phase(3), tab="Truth")
    assert "46.7%" in table_text(page.at)
    page.at.toggle(key="console.hide").set_value(True).run()
    assert "46.7%" not in page.payload()
    room.does("candidate", "claim", row="c1", claim="HFU ceiling", number="47", unit="%")
    page.run()
    assert "46.7%" in table_text(page.at)


def test_a_probe_shows_what_was_locked_against_the_truth():
    room, page = visit(at_phase(5))
    assert "Truth:" in page.says()
    room.does("candidate", "answer_locked", drill=DRILL, text="2350 tok/s", confidence=80)
    page.run()
    assert "Locked: **2350 tok/s**, 80% sure: :green" in page.says().replace("\\", "")


def test_evidence_takes_sign_and_item_from_the_line_and_an_empty_one_is_refused():
    room, page = visit(at_phase(2))
    keep_evidence(page, "+ derived 8N over 6N unaided #arithmetic")
    keep_evidence(page, "-3 points were left unexplained")
    lines = own(room).evidence
    assert [(line.sign, line.item) for line in lines] == [("+", "arithmetic"), ("?", "")]
    assert lines[0].mark.phase == 2
    assert "1 of 2 lines belong to no item yet" in page.says()
    keep_evidence(page, "   ")
    assert "text is empty" in page.says()
    assert len(own(room).evidence) == 2


def test_what_is_too_long_is_refused_in_words_and_stays_in_the_box():
    room, page = visit(at_phase(2))
    long = "+ " + "x" * 2_001
    keep_evidence(page, long)
    assert "at most 2,000 are kept" in page.says()
    assert page.at.text_input(key="console.evidence").value == long
    assert own(room).evidence == ()


@pytest.mark.parametrize("words", ["<script>alert(1)</script>", "**bold** $x$ :red[no]", "مرحبا 🙂 \u202eabc"])
def test_a_line_shows_as_it_was_typed(words: str):
    _, page = visit(at_phase(2).does("interviewer", "evidence", text=words, sign="+"))
    line = next(
        element.value for element in page.at.markdown if "0:00" not in element.value and "2:00 Dia" in element.value
    )
    assert "<script>" not in line
    assert "**bold**" not in line
    assert "\u202e" not in line


def test_an_observation_is_one_press_and_goes_to_the_only_item_of_its_competency():
    room, page = visit(at_phase(2))
    page.press(":green[:material/add:] asked how a figure is measured")
    line = own(room).evidence[0]
    assert (line.sign, line.item) == ("+", "define")


def test_notes_are_kept_and_are_the_raters_own():
    room, page = visit(at_phase(2), tab="Notes")
    page.at.text_area(key="console.note").input("seems tired")
    page.press("Keep the note")
    assert [note.text for note in own(room).notes] == ["seems tired"]
    assert "seems tired" in page.says()
    room, page = visit(
        at_phase(2).does("interviewer", "note", text="seems tired").does("rater", "joined", holder="tab-rater"),
        "rater",
        "Notes",
    )
    assert "seems tired" not in page.payload()


def test_a_score_without_evidence_is_amber_and_cannot_be_committed():
    room, page = visit(at_phase(7), tab="Rubric")
    for item in ITEMS:
        mirrored(page.at, "radio", f"console.score.{item}").set_value(3).run()
    assert dict(own(room).scores) == dict.fromkeys(ITEMS, 3)
    assert "A score without evidence" in page.payload()
    page.at.segmented_control(key="console.judgement").set_value("lean hire")
    page.at.text_input(key="console.reason").input("prices each fix")
    page.press("Keep the judgement")
    page.press("Commit my scores")
    assert own(room).committed is None
    assert "has a score without evidence" in page.says()
    for item in ITEMS:
        room.does("interviewer", "evidence", text=f"heard {item}", sign="+", item=item)
    page.run()
    assert "A score without evidence" not in page.payload()
    page.press("Commit my scores")
    assert own(room).committed is not None
    assert all(mirrored(page.at, "radio", f"console.score.{item}").disabled for item in ITEMS)


def test_the_whole_is_judged_before_the_mean_is_shown_and_after_the_items():
    _, page = visit(at_phase(7), tab="Rubric")
    page.press("Keep the judgement")
    assert "Choose one of the four judgements first" in page.says()
    page.at.segmented_control(key="console.judgement").set_value("lean no")
    page.at.text_input(key="console.reason").input("no prices")
    page.press("Keep the judgement")
    assert "Score the items first, then the whole" in page.says()
    for item in ITEMS:
        mirrored(page.at, "radio", f"console.score.{item}").set_value(2).run()
    assert "The items alone" not in page.says()
    page.press("Keep the judgement")
    assert "The items alone: 2 of 4 after hints" in page.says()


def test_the_candidate_s_own_view_opens_only_after_the_own_commit():
    played = scored(at_phase(7)).does("candidate", "self_rated", overall="strong hire", words="splendid")
    _, page = visit(played, tab="Rubric")
    assert "The candidate has committed" in page.says()
    assert "splendid" not in page.payload()
    page.press("Commit my scores")
    assert "splendid" in page.payload()


def test_a_claim_is_set_beside_a_number_and_the_board_is_read():
    _, page = visit(whole(), tab="Board")
    assert "8N over 6N" in page.says()
    assert "Cover its results" not in "".join(page.labels())  # the session is over


def test_a_claim_stands_beside_the_truth_as_soon_as_it_is_set_there_and_can_be_taken_away_again():
    played = at_phase(3).does("candidate", "claim", row="c1", claim="HFU ceiling", number="48", unit="%")
    room, page = visit(played, tab="Board")
    assert "Truth then" not in page.says()

    def choose(number: Number) -> None:
        mirrored(page.at, "selectbox", "console.claim.c1").set_value(number).run()

    assert (
        "HFU with full recomputation alone, at most: 46.7%" in mirrored(page.at, "selectbox", "console.claim").options
    )
    choose((CARD, "ceiling"))
    assert [(row, checked.number) for row, checked in room.state.checked.items()] == [("c1", "ceiling")]
    assert "Truth then: **46\\.67%**; the claim is +2.9%, :green[within 5%]." in page.says()
    choose((CARD, "idle"))
    assert ":red[not within 5%]" in page.says()
    choose(NO_NUMBER)
    assert not room.state.checked
    assert "Truth then" not in page.says()


def test_results_are_covered_and_opened():
    room, page = visit(at_phase(3), tab="Board")
    page.press("Cover its results")
    assert room.state.masked
    page.press("Open the results")
    assert not room.state.masked


def test_the_level_lens_changes_the_bar_until_a_rater_has_committed():
    room, page = visit(at_phase(2), tab="Room")
    mirrored(page.at, "segmented_control", "console.level").set_value("mid").run()
    assert room.state.level == "mid"
    assert "A right sum after a hint reaches the bar" in page.says()
    played = scored(at_phase(7)).does("interviewer", "committed")
    room, page = visit(played, tab="Room")
    mirrored(page.at, "segmented_control", "console.level").set_value("mid").run()
    assert "Scores are committed at this level" in page.says()
    assert room.state.level == "staff"
    assert mirrored(page.at, "segmented_control", "console.level").value == "staff"


def test_the_lead_is_handed_over_and_taken_back():
    room, page = visit(at_phase(2), tab="Room")
    page.press("Hand the lead")
    assert "Nobody sits on the seat of the rater" in page.says()
    room, page = visit(at_phase(2).does("rater", "joined", holder="tab-rater"), tab="Room")
    page.press("Hand the lead")
    assert room.state.lead == "rater"
    assert not [label for label in page.labels() if label.startswith("Next")]
    page.press("Take the lead back")
    assert room.state.lead == "interviewer"


def test_links_are_made_anew_and_the_old_ones_open_nothing():
    room, page = visit(at_phase(2), tab="Room")
    old = room.new.tokens["candidate"]
    page.press("New link: candidate")
    link = page.at.code[0].value
    assert old not in link
    assert room.new.room in link
    watching = SeatVisit(room, "candidate")
    assert "was replaced by a newer one" in watching.says()
    page.press("New link: interviewer")
    assert page.at.query_params["key"][0] != room.new.tokens["interviewer"]
    assert page.run().at.session_state["mock.room"].closed == ""


def test_a_room_is_deleted_for_everybody_only_when_one_is_sure():
    room, page = visit(at_phase(2), tab="Room")
    assert page.at.button(key="console.delete").disabled
    page.at.checkbox(key="console.delete.sure").check().run()
    page.press("Delete the room")
    assert "deleted" in page.says()
    assert "does not open a room" in SeatVisit(room, "candidate").says()


def test_an_edited_pack_is_named_on_the_console():
    _, page = visit(opened(content_hash="other"))
    assert "has been edited since this room was opened" in page.says()


def test_a_stretched_phase_takes_its_time_from_those_after_it():
    _, page = visit(at_phase(3))
    assert "5 The facts change, 10:00" in page.payload()
    for _ in range(12):  # nine minutes were saved before
        page.press("+1 min")
    assert "5 The facts change, 10:00" not in page.payload()
    assert "4 Design and numbers (now)" in page.payload()
