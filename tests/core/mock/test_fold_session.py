"""Seats, the lead, the clock's events and releases."""

from __future__ import annotations

import pytest

from core.mock.clock import clock
from core.mock.events import EventError
from tests.core.mock.made import CARD, DRILL, PACK, Played, at_phase, opened, plan, scored


def test_a_room_is_opened_once_and_with_its_own_pack():
    room = opened()
    with pytest.raises(EventError, match="open already"):
        room.does("interviewer", "opened", pack=PACK, content_hash="x", level="mid")
    other = Played()
    with pytest.raises(EventError, match="plays mock-other"):
        other.does("interviewer", "opened", pack="mock-other", content_hash="x", level="mid")


def test_another_edition_of_the_content_is_noticed():
    assert opened(content_hash="older").state.content_changed
    assert not opened().state.content_changed


def test_a_rooms_seed_is_that_of_all_its_cards():
    assert set(opened(seed=7).state.seeds.values()) == {7}
    assert opened().state.seeds == plan().seeds


def test_a_taken_seat_is_not_lost_to_a_second_tab_unless_it_takes_over():
    room = opened()
    with pytest.raises(EventError, match="seat is taken"):
        room.does("candidate", "joined", holder="second-tab")
    room.does("candidate", "joined", holder="tab-candidate", handle="New name")  # a reload of the same tab
    assert room.state.seats["candidate"].handle == "New name"
    room.does("candidate", "joined", holder="second-tab", take_over=True)
    assert room.state.seats["candidate"].holder == "second-tab"


def test_ready_comes_after_consent():
    room = Played().does("interviewer", "opened", pack=PACK, content_hash="x", level="mid")
    with pytest.raises(EventError, match="what is stored"):
        room.does("candidate", "ready")
    room.does("candidate", "consented").does("candidate", "ready")
    assert room.state.ready == {"candidate"}
    assert room.does("candidate", "ready", on=False).state.ready == frozenset()


def test_the_lead_is_handed_over_and_can_be_taken_back_by_the_interviewer():
    room = opened()
    with pytest.raises(EventError, match="Nobody sits"):
        room.does("interviewer", "handed_over", to="rater")
    room.does("rater", "joined", holder="r")
    with pytest.raises(EventError, match="interviewer leads"):
        room.does("rater", "handed_over", to="rater")
    room.does("interviewer", "handed_over", to="rater")
    with pytest.raises(EventError, match="The rater leads"):
        room.does("interviewer", "phase_started", phase=0)
    room.does("rater", "phase_started", phase=0)
    room.does("interviewer", "handed_over", to="interviewer")
    assert room.state.lead == "interviewer"
    with pytest.raises(EventError, match="leads already"):
        room.does("interviewer", "handed_over", to="interviewer")


def test_a_lead_that_is_handed_over_does_not_close_an_open_scorecard():
    room = scored(at_phase(7).does("rater", "joined", holder="tab-rater"), "interviewer")
    room.does("interviewer", "committed").does("candidate", "self_rated", overall="lean no")
    assert room.state.revealed
    with pytest.raises(EventError, match="the rater has to commit scores first"):
        room.does("interviewer", "handed_over", to="rater")
    scored(room, "rater").does("rater", "committed")
    room.does("interviewer", "handed_over", to="rater")
    assert (room.state.lead, room.state.revealed) == ("rater", True)


def test_phases_are_those_of_the_pack_and_show_their_card():
    room = opened()
    assert room.state.shown_cards == ()
    room.does("interviewer", "phase_started", phase=0)
    assert room.state.shown_cards == ()
    room.does("interviewer", "phase_started", phase=1)
    assert room.state.shown_cards == (CARD,)
    with pytest.raises(EventError, match="There are 8 phases"):
        room.does("interviewer", "phase_started", phase=8)
    with pytest.raises(EventError, match="is running"):
        room.does("interviewer", "phase_started", phase=1)
    assert room.state.drills == ()
    assert room.does("interviewer", "phase_started", phase=5).state.drills == (DRILL,)


def test_pauses_are_left_out_of_the_running_time():
    room = at_phase(0)
    start = room.at
    room.does("interviewer", "paused", after_s=100)
    assert room.state.time.running_s(start + 500) == 100
    with pytest.raises(EventError, match="does not run"):
        room.does("interviewer", "paused")
    room.does("interviewer", "resumed", after_s=400)
    assert room.state.time.running_s(start + 510) == 110
    with pytest.raises(EventError, match="running"):
        room.does("interviewer", "resumed")


def test_the_server_may_pause_for_an_interviewer_who_is_away_and_no_more():
    room = at_phase(0)
    room.does("server", "paused", reason="away")
    with pytest.raises(EventError, match="server cannot"):
        room.does("server", "resumed")


def test_to_begin_a_phase_is_to_go_on():
    room = at_phase(0).does("interviewer", "paused", after_s=10)
    room.does("interviewer", "phase_started", phase=1, after_s=1000)
    assert room.state.time.paused_at is None
    assert room.state.time.phase_began_s == 10


def test_a_phase_is_shortened_to_nothing_and_no_further():
    room = at_phase(1)
    assert clock(room.state, room.at).phase_s == 240
    for _ in range(4):
        room.does("interviewer", "stretched", seconds=-60)
    with pytest.raises(EventError, match="Nothing is left of this phase"):
        room.does("interviewer", "stretched", seconds=-60)
    assert clock(room.state, room.at).phase_s == 0
    assert clock(room.does("interviewer", "stretched", seconds=60).state, room.at).phase_s == 60


def test_a_stretch_adds_up_within_an_hour():
    room = at_phase(0)
    for _ in range(3):
        room.does("interviewer", "stretched", seconds=1800)
    assert room.state.time.stretched_s == 3600
    assert room.does("interviewer", "phase_started", phase=1).state.time.stretched_s == 0
    with pytest.raises(EventError, match="No phase"):
        opened().does("interviewer", "stretched", seconds=60)


def test_a_reply_is_released_once_and_may_be_marked_without():
    room = at_phase(1)
    room.does("interviewer", "reply_asked", card=CARD, reply=0, asked=False)
    room.does("interviewer", "reply_released", card=CARD, reply=1)
    assert room.state.asked == {(CARD, 0): False, (CARD, 1): True}
    assert set(room.state.replies) == {(CARD, 1)}
    with pytest.raises(EventError, match="out already"):
        room.does("interviewer", "reply_released", card=CARD, reply=1)
    for card, reply in ((CARD, 5), ("q-nowhere", 0)):
        with pytest.raises(EventError, match="no such reply"):
            room.does("interviewer", "reply_released", card=card, reply=reply)


def test_a_hint_costs_what_the_card_says_and_answers_a_stuck_candidate():
    room = at_phase(2).does("candidate", "stuck")
    assert room.state.stuck
    room.does("interviewer", "hint_released", card=CARD, hint=2, item="arithmetic")
    assert not room.state.stuck
    assert [(hint.hint, hint.cost, hint.item) for hint in room.state.hints] == [(2, 0.5, "arithmetic")]
    for fields, says in (
        ({"card": CARD, "hint": 2}, "out already"),
        ({"card": CARD, "hint": 4}, "no such hint"),
        ({"card": DRILL, "hint": 1}, "no such hint"),
        ({"card": CARD, "hint": 1, "item": "charm"}, "charm is no item"),
    ):
        with pytest.raises(EventError, match=says):
            room.does("interviewer", "hint_released", **fields)


def test_twists_are_those_on_offer_each_once():
    room = at_phase(4)
    room.does("interviewer", "twist_applied", twist="padding", card=CARD)
    room.does("interviewer", "twist_applied", twist="slow-rail", public=False)
    assert [(twist.twist, twist.card, twist.public) for twist in room.state.twists] == [
        ("padding", CARD, True),
        ("slow-rail", None, False),
    ]
    for fields, says in (
        ({"twist": "padding", "card": CARD}, "applied already"),
        ({"twist": "experts", "card": CARD}, "not offer"),  # a twist of the card that the pack leaves out
        ({"twist": "padding"}, "not offer"),
        ({"twist": "slow-rail", "card": CARD}, "not offer"),
    ):
        with pytest.raises(EventError, match=says):
            room.does("interviewer", "twist_applied", **fields)


def test_a_drill_may_come_before_its_phase():
    room = at_phase(2).does("interviewer", "drill_released", drill=DRILL)
    assert room.state.drills == (DRILL,)
    with pytest.raises(EventError, match="out already"):
        room.does("interviewer", "drill_released", drill=DRILL)
    with pytest.raises(EventError, match="no such drill"):
        room.does("interviewer", "drill_released", drill=CARD)
    assert room.does("interviewer", "phase_started", phase=5).state.drills == (DRILL,)


def test_visits_of_the_tree_are_kept_in_order_and_bounded():
    room = at_phase(2)
    room.does("interviewer", "node_visited", card=CARD, node="start", heard="wrong")
    room.does("interviewer", "node_visited", card=CARD, node="waiting")
    assert [(visit.node, visit.heard) for visit in room.state.visits] == [("start", "wrong"), ("waiting", None)]
    with pytest.raises(EventError, match="no such question"):
        room.does("interviewer", "node_visited", card=CARD, node="nowhere")
    for _ in range(498):
        room.does("interviewer", "node_visited", card=CARD, node="start")
    with pytest.raises(EventError, match="500 questions"):
        room.does("interviewer", "node_visited", card=CARD, node="start")


def test_the_level_stands_once_scores_are_committed():
    room = opened().does("interviewer", "level_set", level="mid")
    assert room.state.level == "mid"
    scored(room.does("interviewer", "phase_started", phase=0)).does("interviewer", "committed")
    with pytest.raises(EventError, match="committed at this level"):
        room.does("interviewer", "level_set", level="staff")


def test_a_session_that_never_began_is_not_finished():
    with pytest.raises(EventError, match="has not begun"):
        opened().does("interviewer", "finished")


def test_results_are_covered_and_shown():
    room = opened().does("interviewer", "mask_toggled", on=True)
    assert room.state.masked
    assert not room.does("interviewer", "mask_toggled", on=False).state.masked
