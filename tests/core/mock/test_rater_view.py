"""The console holds what an interviewer needs, and says what has been done with it."""

from __future__ import annotations

import pytest

from core.mock.rater_view import PrivateView
from core.mock.views import RaterView, view_for
from tests.core.mock.made import CARD, DRILL, ITEMS, at_phase, bank, opened, pack, scored, whole


def private(state, role="interviewer") -> PrivateView:
    view = view_for(role, state, pack(), bank())
    assert isinstance(view, RaterView)
    return view.private


def test_the_script_is_the_packs_with_numbers_put_in():
    view = private(at_phase(2).state)
    assert view.opening.startswith("Thanks for taking the time")
    assert len(view.probes) == 5
    assert sum(phase.minutes for phase in view.phases) == 45
    assert "unaided" not in view.lens
    assert view.lens.startswith("The bar needs a check that nobody asked for")
    tree = {node.node: node for node in view.tree}
    assert tree["start"].say == "What does each figure count, and how can 35% and 62% both be true?"
    assert "{{" not in repr(view)


def test_the_lens_and_the_bar_follow_the_level():
    room = opened()
    bars = {level: [] for level in ("mid", "staff")}
    for level, found in bars.items():
        view = private(room.does("interviewer", "level_set", level=level).state)
        found += [row.bar for row in view.rubric]
    assert sorted(bars["mid"]) == [2, 2, 2, 2]
    assert sorted(bars["staff"]) == [3, 4, 4, 4]


def test_the_truth_strip_shows_base_and_twisted():
    room = at_phase(4).does("interviewer", "twist_applied", twist="long-context", card=CARD)
    (strip,) = private(room.state).truth
    moved = {row.name: (row.base_text, row.now_text) for row in strip.rows if row.moved}
    assert moved["explained"] == ("50.2%", "61%")
    assert "ratio" not in moved


def test_releases_are_marked():
    view = private(whole().state)
    assert [(row.reply, row.released, row.asked) for row in view.replies][:3] == [
        (0, False, False),
        (1, True, True),
        (2, False, None),
    ]
    assert [(row.hint, row.released, row.item, row.cost) for row in view.hints] == [
        (1, True, "arithmetic", 0.25),
        (2, False, "", 0.5),
        (3, False, "", 1.0),
    ]
    assert {row.twist: row.applied for row in view.twists} == {
        "long-context": True,
        "padding": False,
        "slow-rail": True,
        "half-budget": False,
    }
    assert [(node.node, node.visited, node.heard) for node in view.tree][:2] == [
        ("start", True, "wrong"),
        ("waiting", False, None),
    ]


def test_twists_of_the_running_phase_are_offered_now():
    assert not any(row.now for row in private(at_phase(3).state).twists)
    assert all(row.now for row in private(at_phase(4).state).twists)


def test_an_edge_says_where_it_leads():
    start = private(opened().state).tree[0]
    assert [(edge.heard, edge.target, edge.to) for edge in start.edges] == [
        ("strong", "node", "second-cause"),
        ("wrong", "node", "waiting"),
        ("wrong", "node", "ceiling"),
        ("stuck", "hint", "1"),
        ("stuck", "hint", "2"),
        ("stuck", "drill", DRILL),
    ]


@pytest.mark.parametrize(
    ("text", "correct", "slip"),
    [("2350 tok/s", True, None), ("73.3", False, "one token for every request"), ("dunno", None, None)],
)
def test_a_locked_answer_is_graded_with_its_known_slip(text, correct, slip):
    room = at_phase(5).does("candidate", "answer_locked", drill=DRILL, text=text, confidence=60)
    (row,) = private(room.state).drills
    assert row.answer == pytest.approx(2344.7, abs=0.05)
    assert row.locked is not None
    if correct is None:
        assert row.grade is None
    else:
        assert row.grade is not None
        assert row.grade.correct is correct
        assert slip is None or (row.grade.slip is not None and slip in row.grade.slip.say)
    assert len(row.slips) == 3


def test_the_mean_is_shown_after_the_whole_was_judged():
    room = at_phase(7)
    for item in ITEMS:
        room.does("interviewer", "evidence", text="x", item=item).does(
            "interviewer", "score_drafted", item=item, level=4
        )
    assert (private(room.state).mean, private(room.state).nearest) == (None, None)
    room.does("interviewer", "overall", judgement="lean hire", reason="x")
    assert (private(room.state).mean, private(room.state).nearest) == (4.0, "strong hire")


def test_what_keeps_a_commit_back_is_said():
    assert len(private(opened().state).commit_refusals) == 5
    assert private(scored(at_phase(7)).state).commit_refusals == ()


def test_the_order_of_items_differs_between_raters_and_rooms():
    orders = set()
    for second in range(12):
        room = opened()
        room.at += second
        room.does("interviewer", "joined", holder="again", take_over=True)
        orders |= {tuple(row.key for row in private(room.state, role).rubric) for role in ("interviewer", "rater")}
    assert len(orders) > 3
    assert {frozenset(order) for order in orders} == {frozenset(ITEMS)}


def test_the_summary_and_the_lead_are_the_leading_raters():
    state = whole().state
    assert private(state).leads
    assert private(state).summary is not None
    assert not private(state, "rater").leads
    assert private(state, "rater").summary is None


def test_a_stuck_candidate_is_seen():
    assert private(at_phase(2).does("candidate", "stuck").state).stuck


def test_two_raters_who_have_committed_see_where_they_differ():
    room = scored(at_phase(7), level=4).does("rater", "joined", holder="r")
    scored(room, "rater", level=2).does("rater", "committed")
    assert private(room.state).others == ()
    room.does("interviewer", "committed")
    (other,) = private(room.state).others
    assert other.role == "rater"
    first = other.differences[0]
    assert (first.item, first.first, first.second, first.wide) == ("define", 4, 2, True)
    assert (other.agreement.exact, other.agreement.within_one, other.agreement.alpha) == (0.0, 0.0, None)
    (seen_from_there,) = private(room.state, "rater").others
    assert seen_from_there.differences[0].first == 2


def test_an_item_that_one_of_them_did_not_observe_is_no_difference():
    room = scored(at_phase(7)).does("interviewer", "score_drafted", item="plan", level=0)
    room.does("interviewer", "committed").does("rater", "joined", holder="r")
    scored(room, "rater").does("rater", "committed")
    (other,) = private(room.state).others
    assert (other.differences[3].first, other.differences[3].apart) == (None, None)
    assert (other.agreement.units, other.agreement.exact) == (3, 1.0)
