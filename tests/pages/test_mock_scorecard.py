"""The scorecard on a page: sealed until both have committed, complete then, and copies that come back byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.mock.agreement import agreement
from core.mock.fold import fold
from core.mock.reading import load_packs
from core.mock.scorecard_build import scorecard
from core.mock.scorecard_file import from_json, to_json
from core.mock.state import RoomState
from core.storage.engine import open_database
from core.storage.errors import AWAY, Away
from core.storage.records import Draft, StoredEvent
from core.storage.rooms import RoomStore
from tests.core.mock.made import CARD, DRILL, PACK, Played, at_phase, bank, pack, plan, scored, whole
from tests.pages.mock_visit import SeatVisit, Stored, stored
from views._ui.mock_copies import FORMATS, asked_for, written
from views._ui.mock_raters import agreement_in_words
from views._ui.room import Room

SELF = {"overall": "strong hire", "words": "I was splendid"}


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


def over(level: int = 3) -> Played:
    """A session in which both have committed, and a second rater has not."""
    room = at_phase(7)
    room.does("interviewer", "note", text="a private note")
    scored(room, level=level).does("interviewer", "committed").does("candidate", "self_rated", **SELF)
    return room.does("interviewer", "finished")


def open_room(page: SeatVisit) -> Room:
    """The room as this tab has it."""
    room = page.at.session_state["mock.room"]
    assert isinstance(room, Room)
    return room


def test_before_both_have_committed_nothing_of_it_is_there():
    played = scored(at_phase(7)).does("interviewer", "finished").does("candidate", "self_rated", **SELF)
    room = stored(played)
    lead, candidate = SeatVisit(room, "interviewer"), SeatVisit(room, "candidate")
    assert "opens when the interviewer has committed" in lead.says()
    assert "splendid" not in lead.payload()
    assert "Scorecard" not in candidate.says()
    assert "heard this" not in candidate.payload()
    room.does("interviewer", "committed")
    assert "splendid" in lead.run().payload()
    assert "heard this" in candidate.run().payload()


def test_a_commit_without_evidence_is_refused_in_words():
    played = at_phase(7)
    for item in plan().items:
        played.does("interviewer", "score_drafted", item=item, level=3)
    played.does("interviewer", "overall", judgement="lean hire", reason="because").does("interviewer", "finished")
    room = stored(played)
    page = SeatVisit(room, "interviewer")
    page.at.session_state["console.tabs"] = "Rubric"
    page.run()
    page.press("Commit")
    assert "has a score without evidence" in page.says()
    assert room.state.ratings["interviewer"].committed is None
    assert "Copies" not in page.says()


@pytest.mark.parametrize("role", ["interviewer", "candidate"])
def test_the_whole_card_is_on_the_page_of_both(role: str):
    page = SeatVisit(stored(whole(2)), role)
    said, sent = page.says(), page.payload()
    for words in ("Practice evidence", "Overall: lean hire", "interviewer heard this on plan", "after hints 1\\.75"):
        assert words in said
    for words in ("Tests the story of recomputation with numbers", "without working it out", "Numbers · #arithmetic"):
        assert words in said.replace("\\", "")
    for words in ("2,345 tok/s", "46.67%", "+0.7%, right", "lean no", "Asked first", "Price each fix", "Numeric probe"):
        assert words in sent.replace("\\", "")
    links = [link.proto.label for link in page.at.get("page_link")]
    assert "MFU from tokens per second" in links
    assert len(links) >= 5


def test_the_candidate_s_page_has_no_note_no_second_rater_and_no_feedback():
    room = stored(whole())
    sent = SeatVisit(room, "candidate").payload()
    assert [word for word in ("nervous", "rater heard", "second rater", "clear 5") if word in sent] == []
    lead = SeatVisit(room, "interviewer").payload()
    assert [word for word in ("nervous", "econd rater", "Thanks") if word not in lead] == []


def test_a_second_rater_s_scores_open_with_the_own_commit():
    played = over().does("rater", "joined", holder="tab-rater")
    scored(played, "rater", level=1)
    room = stored(played)
    rater = SeatVisit(room, "rater")
    assert "opens when the second rater has committed" in rater.says()
    assert "interviewer heard" not in rater.payload()
    assert "splendid" not in rater.payload()
    lead = SeatVisit(room, "interviewer")
    assert "Beside the second rater" not in lead.says()
    room.does("rater", "committed")
    assert "interviewer heard" in rater.run().payload()
    said = lead.run().says()
    assert "Beside the second rater" in said
    assert "lies 2 levels apart" in said
    assert "rater heard this on define" in said
    assert "0% have the same level and 0% lie within one" in said


def test_agreement_is_said_without_a_coefficient_for_so_few():
    assert "No item" in agreement_in_words(agreement([[None], [1]]))
    words = agreement_in_words(agreement([[1, 2, 3], [1, 3, 1]]))
    assert "Of 3 items" in words
    assert "33%" in words
    assert "67%" in words
    assert "Kappa" not in words
    many = agreement_in_words(agreement([[1, 2, 3, 4] * 6, [1, 2, 3, 3] * 6]))
    assert "Kappa 0." in many
    assert "Alpha 0." in many
    assert "95% interval" in many


def test_two_strengths_and_two_changes_are_written_and_reach_the_candidate():
    room = stored(over())
    lead, candidate = SeatVisit(room, "interviewer"), SeatVisit(room, "candidate")
    lead.at.text_input(key="mock.summary.strengths.0").set_value("Asked for the target first")
    lead.at.text_input(key="mock.summary.changes.0").set_value("Put a price on each fix")
    lead.press("Put it on the scorecard")
    assert room.state.summary is not None
    assert room.state.summary.changes == ("Put a price on each fix",)
    assert "Put a price on each fix" in candidate.run().says()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("audience", ["interviewer", "candidate"])
def test_copies_are_those_of_core(name: str, audience: str):
    room = stored(whole(2))
    page = SeatVisit(room, "interviewer")
    text = written(open_room(page), audience, name, True)  # type: ignore[arg-type]
    card = scorecard(room.state, room.log, pack(), bank(), audience=audience)  # type: ignore[arg-type]
    assert text == FORMATS[name][2](card)
    assert ("nervous" in text) == (audience == "interviewer")
    assert "Candidate" in text
    nameless = written(open_room(page), audience, name, False)  # type: ignore[arg-type]
    # The interviewer's JSON keeps them in the log, from which the room is restored.
    assert ("Candidate" in nameless) == (audience == "interviewer" and name == "JSON")


@pytest.mark.parametrize("arrives", ["before", "while"])
def test_a_copy_that_is_taken_while_the_candidate_writes_can_be_read_again(
    monkeypatch: pytest.MonkeyPatch, arrives: str
):
    made = stored(over())
    room = open_room(SeatVisit(made, "interviewer"))
    events, clear = RoomStore.events, {"clear": 4, "fair": 4, "useful": 4}

    def one_more(store: RoomStore, code: str, after_seq: int = 0) -> list[StoredEvent]:
        monkeypatch.setattr(RoomStore, "events", events)
        made.does("candidate", "feedback", **clear)
        return events(store, code, after_seq)

    if arrives == "while":
        monkeypatch.setattr(RoomStore, "events", one_more)
    else:
        made.does("candidate", "feedback", **clear)
    text = written(room, "interviewer", "JSON", True)
    assert from_json(text.encode(), load_packs(), bank()).card.feedback is not None


def test_a_copy_that_cannot_be_made_says_why_on_the_page(monkeypatch: pytest.MonkeyPatch):
    page = SeatVisit(stored(over()), "interviewer")
    room = open_room(page)
    assert not room.has_news()
    with monkeypatch.context() as patch:
        patch.setattr(RoomStore, "events", away)
        with pytest.raises(Away):
            asked_for(room, "interviewer", "JSON", True)
    assert room.has_news()
    assert "No copy was made. The room's database cannot be reached." in page.run().says().replace("\\", "")
    assert asked_for(room, "interviewer", "JSON", True)
    assert "No copy was made" not in page.run().says()


def away(*_: object) -> list[StoredEvent]:
    raise Away(AWAY)


def test_export_import_in_a_fresh_store_and_export_again_gives_the_same_bytes(tmp_path: Path):
    text = written(open_room(SeatVisit(stored(whole(2)), "interviewer")), "interviewer", "JSON", True)
    card = from_json(text.encode(), load_packs(), bank()).card
    fresh = RoomStore(open_database(f"sqlite:///{tmp_path}/fresh.db"))
    made = fresh.restore_room([Draft(line.actor, line.kind, line.payload, line.at) for line in card.log])
    restored = Stored(fresh, made)
    state = fold(RoomState(plan()), restored.log)
    assert to_json(scorecard(state, restored.log, pack(), bank())) == text
    fresh.engine.dispose()


def test_a_candidate_can_only_take_the_candidate_s_copy():
    page = SeatVisit(stored(whole()), "candidate")
    names = {button.proto.label for button in page.at.get("download_button")}
    assert names == set(FORMATS)
    assert len(page.at.get("download_button")) == len(FORMATS)
    card = json.loads(written(open_room(page), "candidate", "JSON", True))
    assert (card["audience"], card["log"], card["notes"]) == ("candidate", [], [])
    assert card["pack"] == PACK
    assert CARD in card["cards"]


def test_what_people_wrote_shows_as_text():
    played = at_phase(7)
    for item in plan().items:
        played.does("interviewer", "evidence", text="<img src=x> **loud** ![x](http://evil.example/a.png)", item=item)
        played.does("interviewer", "score_drafted", item=item, level=2)
    played.does("interviewer", "overall", judgement="lean no", reason="</style><script>alert(1)</script>")
    played.does("interviewer", "committed").does("candidate", "self_rated", **SELF).does("interviewer", "finished")
    page = SeatVisit(stored(played), "candidate")
    shown = page.says().replace("\\<", "").replace("\\*", "").replace("\\[", "").replace("\\!", "")
    assert "**loud" not in shown
    assert "<script" not in shown
    assert "![" not in shown
    printed = written(open_room(page), "candidate", "Page to print", True)
    assert "<img" not in printed
    assert "<script" not in printed


def test_the_scorecard_names_no_probe_that_was_never_shown_and_says_what_was_not_rated():
    title = bank().cards[DRILL].title
    page = SeatVisit(stored(whole()), "candidate")
    assert title in cards_of(page)
    passed_over = at_phase(4).does("interviewer", "phase_started", phase=7)
    scored(passed_over).does("interviewer", "committed").does("candidate", "self_rated", overall="lean no")
    page = SeatVisit(stored(passed_over), "candidate")
    assert bank().cards[CARD].title in cards_of(page)
    assert title not in cards_of(page)
    assert "not rated" in page.payload()


def cards_of(page: SeatVisit) -> str:
    return next(caption.value for caption in page.at.caption if "cards:" in caption.value).replace("\\", "")
