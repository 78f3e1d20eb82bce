"""Several writers of one room at once, in threads and processes, and writers that are killed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from core.storage.engine import open_database
from core.storage.rooms import Draft, RoomStore
from tests.core.storage.killing import kill_at_random, start_writer

THREADS, EACH = 8, 25


def test_threads_of_one_process_lose_no_event(store):
    room = store.create_room(Draft("interviewer", "opened")).room
    begin = threading.Barrier(THREADS)

    def write(name: int) -> list[int]:
        begin.wait()
        return [
            store.append(room, "candidate", "note", {"text": "x"}, client_id=f"{name}:{number}")
            for number in range(EACH)
        ]

    with ThreadPoolExecutor(THREADS) as pool:
        seqs = [seq for batch in pool.map(write, range(THREADS)) for seq in batch]
    assert sorted(seqs) == list(range(2, THREADS * EACH + 2))
    log = store.events(room)
    assert [event.seq for event in log] == list(range(1, THREADS * EACH + 2))
    assert [event.at for event in log] == sorted(event.at for event in log)


def test_two_threads_with_the_same_client_id_write_once(store):
    room = store.create_room().room
    begin = threading.Barrier(4)

    def write(_: int) -> int:
        begin.wait()
        return store.append(room, "candidate", "note", {}, client_id="same")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(4))) == [1, 1, 1, 1]
    assert store.revision(room) == 1


def test_two_processes_lose_no_event(store, url):
    room = store.create_room().room
    writers = [start_writer(url, room, name, 60) for name in ("a", "b")]
    printed = [line for writer in writers for line in writer.communicate(timeout=60)[0].splitlines()]
    assert [writer.returncode for writer in writers] == [0, 0]
    log = store.events(room)
    assert [event.seq for event in log] == list(range(1, 121))
    assert sorted(printed) == sorted(f"{event.seq} {event.client_id}" for event in log)


def test_readers_see_a_log_without_gaps_while_it_is_written(store):
    room = store.create_room().room
    done = threading.Event()

    def read() -> int:
        looks = 0
        while not done.is_set():
            seqs = [event.seq for event in store.events(room)]
            assert seqs == list(range(1, len(seqs) + 1))
            assert store.revision(room) >= len(seqs)
            looks += 1
        return looks

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        for number in range(60):
            store.append(room, "candidate", "note", {}, client_id=f"c{number}")
        done.set()
        assert reader.result() > 0


def test_killing_a_writer_at_random_moments_loses_nothing_acknowledged(store, url):
    assert kill_at_random(url, store, moments=5, seed=7) > 10


def test_two_servers_that_start_at_once_make_one_schema(url):
    begin = threading.Barrier(3)

    def start(_: int) -> RoomStore:
        begin.wait()
        return RoomStore(open_database(url))

    with ThreadPoolExecutor(3) as pool:
        stores = list(pool.map(start, range(3)))
    room = stores[0].create_room().room
    assert [store.revision(room) for store in stores] == [0, 0, 0]
    for store in stores:
        store.engine.dispose()
