"""Rooms on SQLite and on a PostgreSQL server: links, log, limits, expiry, presence."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from core.storage.engine import reading
from core.storage.errors import NotARoom, RoomFull, TooLarge, TooManyRooms
from core.storage.records import Draft, Limits
from core.storage.rooms import HOSTED_LIFETIME_S, ROLES, RoomStore


class Clock:
    """A server's time that a test sets."""

    def __init__(self, at: float = 1_000_000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def hosted(store: RoomStore, clock: Clock) -> RoomStore:
    return dataclasses.replace(store, lifetime_s=HOSTED_LIFETIME_S, clock=clock)


def append(store: RoomStore, room: str, number: int, words: str = "x") -> int:
    return store.append(room, "candidate", "note", {"text": words}, client_id=f"c{number}")


def test_each_role_has_a_link_of_128_bits_that_opens_its_seat(store):
    new = store.create_room()
    assert set(new.tokens) == set(ROLES)
    assert all(len(token) == 22 for token in new.tokens.values())  # 16 bytes in base64url
    assert {role: store.role_of(new.room, token) for role, token in new.tokens.items()} == {r: r for r in ROLES}


def test_only_hashes_of_links_are_kept(store, url):
    new = store.create_room(address="203.0.113.7")
    with reading(store.engine) as connection:
        rows = [
            str(row)
            for table in ("rooms", "tokens", "meta")
            for row in connection.execute(text(f"SELECT * FROM {table}")).all()
        ]
    assert not [row for row in rows for secret in (*new.tokens.values(), "203.0.113.7") if secret in row]


@pytest.mark.parametrize("token", ["", "x", "\x00", "\ud800", "a" * 10_000, "🙂"])
def test_a_wrong_link_opens_nothing_and_does_not_say_why(store, token):
    new = store.create_room()
    for room in (new.room, "aaaaaaaa", "", "\x00", "' OR 1=1 --", new.room.upper()):
        with pytest.raises(NotARoom, match="does not open a room"):
            store.role_of(room, token)


def test_a_link_opens_its_own_room_only(store):
    one, other = store.create_room(), store.create_room()
    assert one.room != other.room
    with pytest.raises(NotARoom):
        store.role_of(one.room, other.tokens["interviewer"])


def test_rotating_replaces_one_link_and_leaves_the_others(store):
    new = store.create_room()
    fresh = store.rotate(new.room, "observer")
    assert store.role_of(new.room, fresh) == "observer"
    with pytest.raises(NotARoom):
        store.role_of(new.room, new.tokens["observer"])
    assert store.role_of(new.room, new.tokens["candidate"]) == "candidate"
    with pytest.raises(ValueError, match="'boss' is no role"):
        store.rotate(new.room, "boss")


def test_a_link_that_was_replaced_after_it_was_looked_at_writes_nothing(store):
    new = store.create_room()
    old = new.tokens["candidate"]
    assert store.role_of(new.room, old) == "candidate"
    fresh = store.rotate(new.room, "candidate")
    with pytest.raises(NotARoom, match="replaced by a newer one"):
        store.append(new.room, "candidate", "note", {}, client_id="a", token=old)
    with pytest.raises(NotARoom):
        store.append(new.room, "interviewer", "note", {}, client_id="b", token=fresh)
    assert (store.revision(new.room), store.events(new.room)) == (0, [])
    assert store.append(new.room, "candidate", "note", {}, client_id="a", token=fresh) == 1


def test_all_four_hashes_are_compared_in_constant_time(store, monkeypatch):
    new = store.create_room()
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    store.role_of(new.room, new.tokens["interviewer"])
    assert len(compared) == len(ROLES)


def test_events_count_from_one_and_come_back_as_they_went_in(store):
    payload = {
        "text": 'a\x00b "quoted" <script>',
        "emoji": "🙂",
        "arabic": "مرحبا",
        "lone": "\ud800",
        "n": [1, 2.5, None],
    }
    room = store.create_room(Draft("interviewer", "opened", {"pack": "mock-x"})).room
    assert store.append(room, "candidate", "note", payload, client_id="a:1") == 2
    log = store.events(room)
    assert [(event.seq, event.actor, event.kind) for event in log] == [
        (1, "interviewer", "opened"),
        (2, "candidate", "note"),
    ]
    assert log[1].payload == payload
    assert store.events(room, after_seq=1) == log[1:]
    assert store.events(room, after_seq=2) == []
    assert store.revision(room) == 2


def test_the_same_client_id_again_writes_nothing(store):
    room, other = store.create_room().room, store.create_room().room
    assert append(store, room, 1, "first") == 1
    assert append(store, room, 2) == 2
    assert append(store, room, 1, "again") == 1
    assert store.revision(room) == 2
    assert store.events(room)[0].payload == {"text": "first"}
    assert append(store, other, 1) == 1  # an id counts within its room


@pytest.mark.parametrize("client_id", ["", "a" * 65, "a b", "\x00"])
def test_a_client_id_is_short_and_plain(store, client_id):
    room = store.create_room().room
    with pytest.raises(ValueError, match="client_id"):
        store.append(room, "candidate", "note", {}, client_id=client_id)


def test_time_never_runs_backwards_in_a_log(hosted, clock):
    room = hosted.create_room().room
    for number, at in enumerate((1_000_010.0, 1_000_005.0, 1_000_020.0)):
        clock.at = at
        append(hosted, room, number)
    assert [event.at for event in hosted.events(room)] == [1_000_010.0, 1_000_010.0, 1_000_020.0]


def test_too_long_a_text_is_refused_and_nothing_is_written(store):
    room = store.create_room().room
    with pytest.raises(TooLarge, match=r"100 kB \(note\), and at most 66 kB"):
        append(store, room, 1, "x" * 100_000)
    assert store.revision(room) == 0
    assert append(store, room, 1, "x" * 60_000) == 1


@pytest.mark.parametrize(
    ("limits", "most"),
    [(Limits(events_per_room=3), "3 entries"), (Limits(bytes_per_room=40), "4e-05 MB of text")],
)
def test_a_full_room_says_so_and_keeps_what_it_has(store, limits, most):
    small = dataclasses.replace(store, limits=limits)
    room = small.create_room().room
    for number in range(3):  # of 12 bytes each
        append(small, room, number)
    with pytest.raises(RoomFull, match=f"room is full: it holds at most {most}"):
        append(small, room, 9)
    assert small.revision(room) == len(small.events(room)) == 3
    assert append(small, room, 0) == 1  # a retry of what is there is still answered


def test_an_address_opens_so_many_rooms_a_day(hosted, clock):
    few = dataclasses.replace(hosted, limits=Limits(rooms_per_address=2), lifetime_s=None)
    first = few.create_room(address="203.0.113.7")
    few.create_room(address="203.0.113.7")
    with pytest.raises(TooManyRooms, match="2 rooms were opened from here within 24 hours"):
        few.create_room(address="203.0.113.7")
    few.create_room(address="203.0.113.8")
    few.create_room()
    few.delete_room(first.room)
    few.create_room(address="203.0.113.7")
    clock.at += 24 * 3600 + 1
    few.create_room(address="203.0.113.7")


def test_a_server_holds_so_many_rooms(store):
    few = dataclasses.replace(store, limits=Limits(rooms=1))
    few.create_room()
    with pytest.raises(TooManyRooms, match="as many rooms as it can"):
        few.create_room()


def test_a_hosted_room_ends_after_a_day_and_its_rows_go(hosted, clock):
    new = hosted.create_room(Draft("interviewer", "opened"))
    hosted.touch(new.room, "candidate", "tab")
    assert hosted.expires(new.room) == clock.at + 24 * 3600
    clock.at += 24 * 3600 - 1
    append(hosted, new.room, 1)
    clock.at += 1
    for ask in (
        lambda: hosted.revision(new.room),
        lambda: hosted.events(new.room),
        lambda: hosted.expires(new.room),
        lambda: append(hosted, new.room, 2),
        lambda: hosted.touch(new.room, "candidate", "tab"),
        lambda: hosted.rotate(new.room, "candidate"),
        lambda: hosted.role_of(new.room, new.tokens["candidate"]),
    ):
        with pytest.raises(NotARoom, match=r"gone|not any more"):
            ask()
    assert hosted.purge() == 1
    assert rows(hosted) == []


def test_a_server_that_starts_removes_what_ended_while_it_was_down(hosted, url):
    hosted.create_room(Draft("interviewer", "opened"))  # in 1970
    again = RoomStore.open(url, hosted=True)
    assert rows(again) == []
    again.engine.dispose()


def test_a_server_that_runs_on_removes_what_ended_once_an_hour(hosted, clock):
    hosted.purge_when_due()
    hosted.create_room()
    clock.at += HOSTED_LIFETIME_S - 60
    hosted.purge_when_due()
    clock.at += 120  # over, and looked at two minutes ago
    hosted.purge_when_due()
    assert rows(hosted)
    clock.at += 3600
    hosted.purge_when_due()
    assert rows(hosted) == []


def test_a_local_room_is_kept_until_it_is_deleted(store, clock):
    local = dataclasses.replace(store, clock=clock)
    room = local.create_room().room
    clock.at += 1000 * 24 * 3600
    assert local.expires(room) is None
    assert append(local, room, 1) == 1
    local.delete_room(room)
    local.delete_room(room)
    local.delete_room("\x00")
    assert rows(local) == []


def rows(store: RoomStore) -> list[str]:
    with reading(store.engine) as connection:
        return [
            f"{table}: {row}"
            for table in ("rooms", "tokens", "events", "seats")
            for row in connection.execute(text(f"SELECT * FROM {table}")).all()
        ]


def test_presence_is_kept_beside_the_log(hosted, clock):
    room = hosted.create_room().room
    hosted.touch(room, "candidate", "tab-1")
    clock.at += 5
    hosted.touch(room, "observer", "tab-2")
    hosted.touch(room, "observer", "tab-2")
    assert hosted.revision(room) == 0
    seen = [(seen.role, seen.holder, seen.at) for seen in hosted.presence(room)]
    assert seen == [("observer", "tab-2", clock.at), ("candidate", "tab-1", clock.at - 5)]
    clock.at += 2 * 3600
    hosted.touch(room, "candidate", "tab-3")
    assert [seen.holder for seen in hosted.presence(room)] == ["tab-3"]
    with pytest.raises(ValueError, match="letters, digits"):
        hosted.touch(room, "candidate", "\x00")


def test_a_room_is_restored_from_the_events_of_another(hosted, clock):
    old = hosted.create_room(Draft("interviewer", "opened", {"pack": "p"}))
    clock.at += 60
    append(hosted, old.room, 1)
    log = hosted.events(old.room)
    drafts = [Draft(event.actor, event.kind, event.payload, event.at) for event in log]
    new = hosted.restore_room(drafts)
    assert [dataclasses.replace(event, client_id="") for event in hosted.events(new.room)] == [
        dataclasses.replace(event, client_id="") for event in log
    ]
    assert append(hosted, new.room, 1) == 3
    assert hosted.role_of(new.room, new.tokens["candidate"]) == "candidate"
    with pytest.raises(NotARoom):
        hosted.role_of(new.room, old.tokens["candidate"])


def test_restored_times_neither_fall_nor_lie_in_the_future(hosted, clock):
    drafts = [Draft("candidate", "note", {}, at) for at in (clock.at + 50, 5.0, clock.at - 3)]
    room = hosted.restore_room(drafts).room
    times = [event.at for event in hosted.events(room)]
    assert times == sorted(times)
    assert max(times) <= clock.at


def test_too_large_a_log_is_not_restored(store):
    small = dataclasses.replace(store, limits=Limits(events_per_room=2))
    with pytest.raises(RoomFull):
        small.restore_room([Draft("candidate", "note")] * 3)
    assert rows(small) == []


def test_a_room_code_can_be_read_aloud(store):
    assert re.fullmatch(r"[a-z2-7]{8}", store.create_room().room)


TEXTS = st.text(max_size=200)
PAYLOADS = st.dictionaries(
    TEXTS, st.one_of(TEXTS, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.none()), max_size=4
)
WRITES = st.lists(st.tuples(st.integers(0, 9), PAYLOADS), max_size=20)


@given(writes=WRITES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_writes_give_seqs_without_a_gap_and_each_client_id_once(store, writes):
    room = store.create_room().room
    first: dict[str, int] = {}
    for number, payload in writes:
        seq = store.append(room, "candidate", "note", payload, client_id=f"c{number}")
        assert seq == first.setdefault(f"c{number}", len(first) + 1)
    log = store.events(room)
    assert [event.seq for event in log] == list(range(1, len(first) + 1))
    assert {event.client_id: event.seq for event in log} == first
    store.delete_room(room)


def test_opening_hosted_sets_the_lifetime(url) -> None:
    for made, lifetime in ((RoomStore.open(url), None), (RoomStore.open(url, hosted=True), HOSTED_LIFETIME_S)):
        assert made.lifetime_s == lifetime
        made.engine.dispose()
