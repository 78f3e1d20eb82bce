"""Many rooms at once, by hand: python -m tests.benchmarks.rooms_load [--rooms 20] [--seconds 120] [--database URL]

Each room has a candidate and an interviewer, who poll once a second and make about one move a second between them.
Measured is the time from a press in one browser until what it changed stands on the other's screen. Two cores do not
hold 40 pages of Chromium: two rooms have real ones (`--browsers`), the others have clients that speak Streamlit's
protocol, send what a browser sends for a press or a poll and parse what they get, but draw nothing, and do not send the
values of other controls along. Both kinds are reported apart, and held to the same limit.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from playwright.async_api import Browser, Page, async_playwright

from core.storage.engine import URL_VARIABLE
from core.storage.rooms import RoomStore
from tests.benchmarks.machine import describe
from tests.benchmarks.seat import Seat
from tests.core.mock.made import at_phase
from tests.e2e.mock_rooms import COOKIE, LiveRoom, Rooms, cookie_of, holder
from tests.e2e.server import CHROMIUM_ARGS, Server, chromium_path, running_server

LIMIT_S = 1.5  # p95, from one side's press to the other side's screen
LOST_S = 10.0  # after which a change counts as not arrived
MOVE_S = 1.0
STUCK = "Candidate is stuck"
ON_THE_BAR = """([words, there]) =>
  document.querySelector('[class*="st-key-mock-bar-console"]').textContent.includes(words) === there"""
ROLES = ("candidate", "interviewer")


@dataclass(slots=True)
class Measured:
    """Times of one kind of client; what has not arrived counts as lost. [s]"""

    waits: list[float] = field(default_factory=list)
    lost: int = 0

    @property
    def p95(self) -> float:
        """Of all that was pressed, lost or not."""
        return sorted([*self.waits, *[LOST_S] * self.lost])[int(0.95 * (len(self.waits) + self.lost))]

    def words(self, kind: str) -> str:
        """One line."""
        if not self.waits and not self.lost:
            return f"{kind}: nothing measured"
        median = statistics.median(self.waits) if self.waits else LOST_S
        count = f"{len(self.waits)} changes, {self.lost} lost"
        return f"{kind}: median {median:.2f} s, p95 {self.p95:.2f} s (limit {LIMIT_S} s), {count}"


Move = Callable[[], Awaitable[float | None]]  # the seconds until it was seen; None: a move that is not measured


def bare_moves(lead: Seat, candidate: Seat) -> list[Move]:
    """A cycle of moves: a call for help, a minute more, the call taken back, a minute less."""

    async def until(seen: asyncio.Future[float], seat: Seat, key: str) -> float:
        start = time.perf_counter()
        await seat.press(key)
        return await seen - start

    def phase_ms() -> int:
        return int(json.loads(candidate.component("mock.clock").json)[2])

    async def stretch(key: str) -> float:
        before = phase_ms()

        def moved(element: object) -> bool:
            component = getattr(element, "bidi_component", None)
            if component is None or not component.id.endswith("-mock.clock"):
                return False
            return abs(int(json.loads(component.json)[2]) - before) > 50_000

        return await until(candidate.until(moved), lead, key)

    async def calls() -> float:
        seen = lead.until(lambda element: STUCK in element.markdown.body)
        return await until(seen, candidate, "mock.stuck.on")

    async def takes_back() -> None:
        await candidate.press("mock.stuck.off")

    return [calls, lambda: stretch("console.stretch.60"), takes_back, lambda: stretch("console.stretch.-60")]


def page_moves(lead: Page, candidate: Page) -> list[Move]:
    """A call for help and its taking back, pressed and seen on real pages."""

    async def press(name: str, there: bool) -> float:
        button = candidate.get_by_role("button", name=name)
        await button.wait_for(timeout=1e3 * LOST_S)
        # Playwright's own waiting looks again after up to half a second: a page that looks at every frame does not.
        seen = asyncio.create_task(lead.wait_for_function(ON_THE_BAR, arg=[STUCK, there], timeout=1e3 * LOST_S))
        await asyncio.sleep(0.05)
        start = time.perf_counter()
        await button.evaluate("button => button.click()")
        await seen
        return time.perf_counter() - start

    return [lambda: press("I am stuck", there=True), lambda: press("Never mind", there=False)]


async def play(moves: list[Move], measured: Measured, until: float, offset: float) -> None:
    """About one move a second, measured or not, until it is over; the next one waits for the last to arrive."""
    await asyncio.sleep(offset)
    number = 0
    while time.perf_counter() < until:
        due = time.perf_counter() + MOVE_S * random.uniform(0.7, 1.3)  # in step with the polls, luck would decide
        try:
            wait = await asyncio.wait_for(moves[number % len(moves)](), LOST_S)
        except Exception as error:  # of Playwright's kinds or asyncio's: it is counted, and said
            measured.lost += 1
            print(f"lost: {type(error).__name__}: {str(error).splitlines()[:1]}", file=sys.stderr)
        else:
            if wait is not None:
                measured.waits.append(wait)
        number += 1
        await asyncio.sleep(max(0.0, due - time.perf_counter()))


@contextlib.asynccontextmanager
async def real_pages(browser: Browser, server: Server, room: LiveRoom) -> AsyncIterator[list[Page]]:
    """The pages of an interviewer and a candidate."""
    pages = []
    for role in reversed(ROLES):
        context = await browser.new_context(storage_state=cookie_of(role))  # type: ignore[arg-type]
        page = await context.new_page()
        await page.goto(server.url + room.path(role))
        await page.get_by_role("timer").wait_for(timeout=60_000)
        pages.append(page)
    yield pages
    for page in pages:
        await page.context.close()


async def measure(server: Server, rooms: list[LiveRoom], in_browsers: int, seconds: float) -> tuple[Measured, Measured]:
    """All rooms at once: what bare clients saw, and what real pages saw."""
    bare, real = Measured(), Measured()
    async with contextlib.AsyncExitStack() as stack, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        plays: list[tuple[list[Move], Measured]] = []
        for number, room in enumerate(rooms):
            if number < in_browsers:
                pages = await stack.enter_async_context(real_pages(browser, server, room))
                plays.append((page_moves(*pages), real))
                continue
            lead, candidate = [
                await stack.enter_async_context(Seat(server.url + room.path(role), f"{COOKIE}={holder(role)}"))
                for role in reversed(ROLES)
            ]
            plays.append((bare_moves(lead, candidate), bare))
        process = psutil.Process(server.process.pid)
        used, start = sum(process.cpu_times()[:2]), time.perf_counter()
        until = start + seconds
        offsets = [MOVE_S * number / len(plays) for number in range(len(plays))]
        await asyncio.gather(
            *[play(moves, kind, until, offset) for (moves, kind), offset in zip(plays, offsets, strict=True)]
        )
        share = (sum(process.cpu_times()[:2]) - used) / (time.perf_counter() - start)
        print(f"{len(rooms)} rooms, {in_browsers} of them in real pages: the server used {share:.2f} of a core")
        await browser.close()
    return bare, real


def main() -> int:
    """Print what was measured; 1 where the limit is missed or a change was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.rooms_load", description=__doc__.splitlines()[0])
    parser.add_argument("--rooms", type=int, default=20)
    parser.add_argument("--browsers", type=int, default=2, help="rooms of real pages among them")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--database", help="URL of an empty database; left out, a SQLite file of its own")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        url = options.database or f"sqlite:///{Path(folder)}/rooms.db"
        patch.setenv(URL_VARIABLE, url)
        with running_server() as server:
            store = RoomStore.open(url)
            rooms = [Rooms(store).played(at_phase(3)) for _ in range(options.rooms)]
            bare, real = asyncio.run(measure(server, rooms, min(options.browsers, options.rooms), options.seconds))
            store.engine.dispose()
            failed = "Traceback" in server.log()
    kinds = [(kind, measured) for kind, measured in (("bare clients", bare), ("real pages", real)) if measured.waits]
    for kind, measured in kinds:
        print(measured.words(kind))
    print(describe())
    if failed:
        print("the server's log holds a traceback")
    lost = bare.lost + real.lost
    return 0 if kinds and not lost and not failed and all(found.p95 < LIMIT_S for _, found in kinds) else 1


if __name__ == "__main__":
    sys.exit(main())
