"""Random logs of mock sessions through each database: seqs without a gap, and the same state as from memory."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from core.mock.fold import fold
from core.mock.state import RoomState
from core.storage.rooms import RoomStore
from tests.core.mock.made import Line, plan
from tests.core.mock.random_events import logs


def through_store(store: RoomStore, log: list[Line]) -> None:
    """Write a log, read it back and fold it; what JSON does not hold is refused by the store and left out."""
    room = store.create_room().room
    kept: list[Line] = []
    for line in log:
        try:
            seq = store.append(room, line.actor, line.kind, line.payload, client_id=f"c{line.seq}")
        except ValueError:  # NaN and infinity
            continue
        kept.append(Line(seq, line.at, line.actor, line.kind, line.payload))
    events = store.events(room)
    assert [event.seq for event in events] == list(range(1, len(kept) + 1))
    assert store.revision(room) == len(kept)
    pairs = zip(events, kept, strict=True)
    again = [Line(event.seq, line.at, event.actor, event.kind, event.payload) for event, line in pairs]
    assert fold(RoomState(plan()), again) == fold(RoomState(plan()), kept)
    fold(RoomState(plan()), events)  # at the server's own times
    store.delete_room(room)


@given(log=logs(max_size=12))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_a_log_comes_back_from_the_database_as_it_was_written(store, log):
    through_store(store, log)
