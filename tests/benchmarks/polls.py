"""What a poll of a mock interview's room costs the server, by hand: python -m tests.benchmarks.polls

A poll in which nothing has changed, against the tick of an empty fragment; both from real browsers, which send the
state of every control along, by turns. A poll is called for 20 times a second instead of once, to have many; few of
them carry the sign that the tab is there, which is due every 4.5 s. `--every 1000 --seconds 60` keeps the real pace.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, sync_playwright

from core.storage.engine import URL_VARIABLE
from core.storage.rooms import RoomStore
from tests.benchmarks.machine import describe
from tests.benchmarks.report import Row, table
from tests.core.mock.made import at_phase
from tests.e2e.mock_rooms import Rooms, cookie_of, served
from tests.e2e.server import Server, launch_chromium, running_server, wait_idle

EMPTY_FRAGMENT = Path(__file__).parent / "apps" / "empty_fragment.py"
AT_MOST = 1.3
# A tab that comes to the front asks at once: so pulse.js can be made to ask more often than once a second.
MORE_OFTEN = "setInterval(() => document.dispatchEvent(new Event('visibilitychange')), {})"


@dataclass(slots=True)
class Polled:
    """A page that polls, alone on its server."""

    name: str
    server: Server
    open_page: Callable[[], Page]

    def cpu_ms(self, seconds: float) -> float:
        """Of the server, for each poll."""
        page, sent = self.open_page(), []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(len(frame))))
        page.reload()
        wait_idle_often(page)
        process = psutil.Process(self.server.process.pid)
        before, count = cpu_s(process), len(sent)
        page.wait_for_timeout(1000 * seconds)
        used, polls = cpu_s(process) - before, len(sent) - count
        page.context.close()
        assert polls > 0.5 * seconds, f"{self.name}: only {polls} polls in {seconds} s"
        return 1e3 * used / polls


def wait_idle_often(page: Page) -> None:
    """A page that polls 20 times a second is hardly ever idle: wait for its first runs."""
    page.wait_for_timeout(6_000)


def cpu_s(process: psutil.Process) -> float:
    """Seconds of the processor that a process has used."""
    times = process.cpu_times()
    return times.user + times.system


def measure(rounds: int, seconds: float, every_ms: int) -> list[Row]:
    """A row for each seat."""
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        pytest.MonkeyPatch.context() as patch,
    ):
        url = f"sqlite:///{folder}/rooms.db"
        patch.setenv(URL_VARIABLE, url)
        browser = launch_chromium(playwright)
        with running_server(EMPTY_FRAGMENT) as smallest, served(browser, url) as app:
            room = Rooms(RoomStore.open(url)).played(at_phase(3))

            def seat(role: str) -> Page:
                page = browser.new_context(storage_state=cookie_of(role)).new_page()
                page.goto(app.url + room.path(role))
                wait_idle(page)
                if every_ms < 1000:
                    page.add_init_script(MORE_OFTEN.format(every_ms))
                return page

            def empty() -> Page:
                page = browser.new_context().new_page()
                page.goto(f"{smallest.url}/?every={every_ms / 1000}")
                return page

            seats = [Polled(role, app, lambda role=role: seat(role)) for role in ("candidate", "interviewer")]
            baseline = Polled("empty", smallest, empty)
            ratios: dict[str, list[tuple[float, float]]] = {polled.name: [] for polled in seats}
            for _ in range(rounds):
                theirs = baseline.cpu_ms(seconds)
                for polled in seats:
                    ratios[polled.name].append((polled.cpu_ms(seconds), theirs))
        browser.close()
    return [
        Row(
            f"server CPU of a poll without news, {name}",
            "ms",
            statistics.median(ours for ours, _ in pairs),
            statistics.median(theirs for _, theirs in pairs),
            at_most=AT_MOST,
        )
        for name, pairs in ratios.items()
    ]


def main() -> int:
    """Print the table; 1 where the target is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.polls", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--every", type=int, default=50, help="milliseconds between polls")
    options = parser.parse_args()
    rows = measure(options.rounds, options.seconds, options.every)
    print(table(rows))
    print(f"\n{describe()}")
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
