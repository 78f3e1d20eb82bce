"""The fold is pure, incremental and total, whatever a log holds."""

from __future__ import annotations

import copy
import dataclasses
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.mock.clock import clock
from core.mock.events import KINDS, EventError
from core.mock.fold import HANDLERS, fold, passed_over, prepare
from core.mock.fold_rating import commit_refusals
from core.mock.roles import RATERS, ROLES
from core.mock.state import RoomState
from core.mock.views import view_for
from tests.core.mock.made import NOON, PACK, Line, Played, bank, opened, pack, plan, whole
from tests.core.mock.random_events import logs

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@given(log=logs(), cut=st.integers(0, 40))
@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
def test_any_log_folds_without_raising_and_in_any_pieces(log, cut):
    before = copy.deepcopy(log)
    state = fold(RoomState(plan()), log)
    assert state.seq == len(log)
    assert log == before
    assert fold(fold(RoomState(plan()), log[:cut]), log[cut:]) == state
    assert fold(state, log) == state  # what was seen is left out
    for rating in state.ratings.values():
        assert rating.committed is None or commit_refusals(state, rating) == []
    now = clock(state, log[-1].at if log else NOON)
    assert all(math.isfinite(value) and value >= 0 for value in (now.elapsed_s, now.left_s, now.phase_s))
    assert [value >= 0 for _, value in now.upcoming] == [True] * len(now.upcoming)


@given(log=logs(max_size=15))
@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
def test_every_state_has_a_view_for_every_role(log):
    state = fold(RoomState(plan()), log)
    for role in ROLES:
        assert view_for(role, state, pack(), bank()) == view_for(role, state, pack(), bank())


def test_every_kind_has_a_handler():
    assert HANDLERS.keys() == set(KINDS.values())


def test_an_unknown_kind_is_passed_over_and_counted():
    room = opened()
    before = room.state
    after = room.writes("interviewer", "invented_later", {"x": 1}).state
    assert dataclasses.replace(after, seq=before.seq) == before
    assert after.seq == before.seq + 1


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf])
def test_an_event_without_a_time_is_passed_over(at):
    line = Line(1, at, "interviewer", "opened", {"pack": PACK, "content_hash": "x", "level": "mid"})
    assert fold(RoomState(plan()), [line]).opened is None


def test_folding_makes_a_new_state_and_leaves_the_old_one():
    room = opened()
    before = room.state
    room.does("candidate", "claim", row="c1", claim="ratio 4/3")
    assert dict(before.claims) == {}
    assert set(room.state.claims) == {"c1"}
    with pytest.raises(TypeError):
        room.state.claims["c2"] = None  # type: ignore[index]


def test_nothing_happens_before_a_room_is_opened():
    with pytest.raises(EventError, match="not been opened"):
        prepare(RoomState(plan()), "candidate", "pad", NOON, text="x")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("actor", ["observer", "", "boss"])
def test_an_observer_writes_nothing(actor, kind):
    state = whole().state
    fields = next((line.payload for line in whole().log if line.kind == kind), {})
    with pytest.raises(EventError):
        prepare(state, actor, kind, NOON, **fields)


@pytest.mark.parametrize("kind", [kind for kind, model in KINDS.items() if "candidate" not in model.by])
def test_a_candidate_releases_and_scores_nothing(kind):
    room = whole()
    state = running(room)
    after = fold(state, [Line(state.seq + 1, room.at, "candidate", kind, {"text": "x", "phase": 1, "on": True})])
    assert dataclasses.replace(after, seq=state.seq) == state


@pytest.mark.parametrize("kind", [kind for kind, model in KINDS.items() if model.lead])
def test_a_rater_who_does_not_lead_releases_nothing(kind):
    room = whole()
    given = next((line.payload for line in room.log if line.kind == kind), {"level": "mid", "drill": "d-x"})
    fields = {name: value for name, value in given.items() if name in KINDS[kind].model_fields}
    with pytest.raises(EventError, match="The interviewer leads"):
        prepare(running(room), "rater", kind, room.at, **fields)


def running(room: Played) -> RoomState:
    """The state of a finished room as if it were not."""
    return dataclasses.replace(room.state, time=dataclasses.replace(room.state.time, finished_at=None))


def test_a_finished_session_takes_scores_and_words_but_no_moves():
    room = whole()
    room.does("interviewer", "note", text="after the end")
    with pytest.raises(EventError, match="session is finished"):
        room.does("candidate", "pad", text="x")
    with pytest.raises(EventError, match="session is finished"):
        room.does("interviewer", "phase_started", phase=1)


def test_prepare_gives_the_payload_that_folds_to_the_same_state():
    room = Played()
    payload = prepare(
        room.state, "interviewer", "opened", NOON, pack=PACK, content_hash=plan().content_hash, level="mid"
    )
    assert payload == {"pack": PACK, "content_hash": plan().content_hash, "level": "mid"}
    assert room.writes("interviewer", "opened", payload).state.level == "mid"


def test_why_an_event_is_passed_over_is_said_and_nothing_where_it_is_taken():
    room = opened()
    seq = room.state.seq + 1
    assert passed_over(room.state, Line(seq, NOON, "interviewer", "phase_started", {"phase": 0})) == ""
    assert "has not begun" in passed_over(room.state, Line(seq, NOON, "interviewer", "finished", {}))
    assert "cannot read" in passed_over(room.state, Line(seq, NOON, "interviewer", "of a later version", {}))
    assert "cannot read" in passed_over(room.state, Line(seq, math.nan, "interviewer", "phase_started", {"phase": 0}))


def test_every_rating_begins_empty():
    assert set(RoomState(plan()).ratings) == set(RATERS)
