"""The long form of the tests of rooms, by hand: python -m tests.benchmarks.rooms [--sequences 10000] [--kills 50]

10,000 random event sequences fold without raising and come back from each database without a gap; writers are killed at
50 random moments on each; then what one revision check, one append and one touch cost.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, Phase, given, settings

from core.mock.clock import clock
from core.mock.fold import fold
from core.mock.roles import ROLES
from core.mock.state import RoomState
from core.mock.views import view_for
from core.storage.engine import open_database
from core.storage.rooms import RoomStore
from tests.core.mock.made import NOON, Line, bank, pack, plan
from tests.core.mock.random_events import logs
from tests.core.storage.killing import kill_at_random
from tests.core.storage.test_random_rooms import through_store
from tests.databases import postgresql


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """The URL of an empty database of each kind."""
    with tempfile.TemporaryDirectory() as folder, postgresql() as server:
        yield {"SQLite": f"sqlite:///{folder}/rooms.db", "PostgreSQL": server}


def many(count: int, check: Callable[[list[Line]], None]) -> None:
    """Run a check on so many random logs."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]

    @given(log=logs(max_size=10))
    @settings(max_examples=count, deadline=None, database=None, suppress_health_check=quiet, phases=[Phase.generate])
    def run(log: list[Line]) -> None:
        check(log)

    run()


def folds(log: list[Line]) -> None:
    """A log folds, has a clock, and every role has a view of it."""
    state = fold(RoomState(plan()), log)
    assert state.seq == len(log)
    assert fold(fold(RoomState(plan()), log[::2]), log).seq == len(log)
    clock(state, log[-1].at if log else NOON)
    for role in ROLES:
        view_for(role, state, pack(), bank())


def median_ms(run: Callable[[int], object], times: int) -> float:
    """The median of single calls."""
    spent = []
    for number in range(times):
        start = time.perf_counter()
        run(number)
        spent.append(1e3 * (time.perf_counter() - start))
    return statistics.median(spent)


def costs(store: RoomStore) -> str:
    """Medians of the three calls that pages make all the time."""
    room, payload = store.create_room().room, {"text": "x" * 2000}
    appended = median_ms(lambda n: store.append(room, "candidate", "pad", payload, client_id=f"c{n}"), 200)
    checked = median_ms(lambda n: store.revision(room), 1000)
    touched = median_ms(lambda n: store.touch(room, "candidate", "tab"), 200)
    return f"revision {checked:.2f} ms, append {appended:.2f} ms, touch {touched:.2f} ms (medians)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=50)
    options = parser.parse_args()
    start = time.time()
    many(options.sequences, folds)
    print(f"{options.sequences:,} random logs folded and shown to every role in {time.time() - start:.0f} s")
    with databases() as urls:
        for name, url in urls.items():
            store = RoomStore(open_database(url))
            start = time.time()
            many(options.sequences, lambda log, store=store: through_store(store, log))
            print(f"{name}: {options.sequences:,} random logs without a gap in {time.time() - start:.0f} s")
            acknowledged = kill_at_random(url, store, options.kills, seed=1)
            print(f"{name}: {options.kills} writers killed, {acknowledged:,} acknowledged events, none lost")
            print(f"{name}: {costs(store)}")
            store.engine.dispose()


if __name__ == "__main__":
    main()
