"""A server that is killed amid a room, by hand: python -m tests.benchmarks.kills [--kills 50] [--database URL]

An interviewer and a candidate in two real browsers go on making moves through their pages: lines of evidence and notes,
phases, the scratchpad, claims, a slider. At a random moment the server gets SIGKILL, the candidate writes on, and it is
started again on the same port and database. Held to, at each kill:

- what a page had said to be kept (``room_play`` tells how) is in the log, the log of before is the beginning of the one
  after, its sequence numbers have no gap, and of the calculator only the slider that is played with has moved;
- both browsers come back by themselves, without an error on the page, and show what the log says and the same of phase,
  slider, claims and pad;
- what was typed and not acknowledged is in the log or stands in its box.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Error, Locator, Page, async_playwright

from core.storage.engine import URL_VARIABLE
from core.storage.records import StoredEvent
from core.storage.rooms import RoomStore
from tests.benchmarks.machine import describe
from tests.benchmarks.room_play import PAD, SLIDER, Move, Table, is_so, opened, pad_area
from tests.core.mock.made import at_phase
from tests.e2e.mock_rooms import LiveRoom, Rooms
from tests.e2e.server import CHROMIUM_ARGS, Server, chromium_path, running_server

BACK_S = 40.0  # for both to be back
STEADY_S = 0.5  # so long they have to stay it
ROUND_S = 6.0  # the latest moment of a kill, after both are back


@dataclass(slots=True)
class Found:
    """What the kills showed. Times in s."""

    kept: Counter[str] = field(default_factory=Counter)  # acknowledged moves, by kind
    texts: Counter[str] = field(default_factory=Counter)  # what became of those that were not acknowledged
    seen: Counter[str] = field(default_factory=Counter)  # what is no fault of what is kept, and is said
    waits: list[float] = field(default_factory=list)  # from the server's first answer until both were back
    starts: list[float] = field(default_factory=list)  # from the kill to that answer
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def words(self) -> str:
        """What was measured, in four lines."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kept.items()))
        texts = ", ".join(f"{count} {where}" for where, count in sorted(self.texts.items())) or "none"
        waits = sorted(self.waits) or [BACK_S]
        p95 = waits[min(int(0.95 * len(waits)), len(waits) - 1)]
        return (
            f"{len(self.starts)} kills, {sum(self.kept.values())} moves acknowledged ({kinds}), {len(self.lost)} lost\n"
            f"texts that were not acknowledged at a kill: {texts}\n"
            f"{', '.join(f'{words}: {count} times' for words, count in self.seen.items())}\n"
            f"both back: median {statistics.median(waits):.1f} s, p95 {p95:.1f} s, worst {waits[-1]:.1f} s after the "
            f"server's first answer (median {statistics.median(self.starts):.1f} s after the kill)"
        )


async def _back(page: Page) -> bool:
    """Whether a page is there again, to be worked on."""
    state = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
    if await page.locator(state).count() == 0 or await page.get_by_text("Reconnecting.").count():
        return False
    if (
        await page.get_by_role("timer").count() == 0
        or await page.get_by_role("slider").or_(page.get_by_role("tab")).count() == 0
    ):
        return False
    name = re.compile("^(Evidence|Claim$)")
    return await page.get_by_role("textbox", name=name).first.is_enabled(timeout=500)


async def _within(seconds: float, holds: Callable[[], Awaitable[bool]]) -> bool:
    end = time.monotonic() + seconds
    while not await is_so(holds):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.05)
    return True


async def one_kill(table: Table, server: Server, start: Callable[[], Server], moment: float, found: Found) -> Server:
    """Play, kill, write on, start again and look; what is wrong goes to ``found``."""
    killed = asyncio.Event()
    sides = [asyncio.create_task(table.play(page, killed, found.kept)) for page in (table.lead, table.candidate)]
    await asyncio.sleep(moment)
    os.killpg(server.process.pid, signal.SIGKILL)
    server.process.wait()
    at = time.monotonic()
    killed.set()
    before = table.room.log

    async def starting() -> tuple[Server, float]:
        return await asyncio.to_thread(start), time.monotonic()

    started = asyncio.create_task(starting())
    pending = [move for move in await asyncio.gather(*sides) if move is not None]
    away = f" away{len(found.starts) + 1}"
    in_area = False
    with contextlib.suppress(Error):  # killed while the page was drawn anew, it may have no pad as long
        await pad_area(table.candidate).press("Control+End")
        await pad_area(table.candidate).press_sequentially(away)
        in_area = (await pad_area(table.candidate).input_value()).endswith(away)
    server, answered = await started
    found.starts.append(answered - at)
    number = len(found.starts)

    since = 0.0  # when both were there at a look; one look may fall between two drawings

    async def back() -> bool:
        nonlocal since
        there = await is_so(lambda: _back(table.lead)) and await is_so(lambda: _back(table.candidate))
        since = (since or time.monotonic()) if there else 0.0
        return there and time.monotonic() - since > STEADY_S

    if not await _within(BACK_S, back):
        found.wrong.append(f"kill {number}: not back after {BACK_S:g} s")
    found.waits.append((since or time.monotonic()) - answered)
    print(f"kill {number}: {sum(found.kept.values())} moves so far, back after {found.waits[-1]:.1f} s", flush=True)
    found.seen["the pad took no letters while the server was away"] += not in_area
    await _look(table, number, pending, before, away if in_area else "", found)
    return server


async def _look(
    table: Table, number: int, pending: list[Move], before: list[StoredEvent], away: str, found: Found
) -> None:
    """What is there once both are back."""
    wrong: list[str] = []
    for page in (table.lead, table.candidate):
        for error in (page.get_by_test_id("stException"), page.get_by_text("Page not found")):
            wrong += [f"on the page: {words}" for words in await error.all_inner_texts()]
    tab = table.lead.get_by_role("tab", name=table.tab, selected=True)
    if table.tab and not await _within(5, lambda: _there(tab)):
        found.seen["the console had its first tab open again"] += 1
        table.tab = ""
    for move in [move for move in pending if move.box is not None]:
        if move.kind == "note":
            await table.open_tab("Notes")
        where = "gone"
        kept = move.is_in(table.room.log)
        # A box that left its text on its way gets it back when no word of it comes.
        in_box = await _within(0 if kept else 6, lambda move=move: _holds(move))  # type: ignore[misc]
        if kept:
            where = "in the log and in the box again" if in_box else "in the log"
        elif in_box:
            where = "in the box again"
        else:
            wrong.append(f"{move.text!r} is gone")
        found.texts[where] += 1
    if not await _within(10, lambda: _saved(table.candidate)):
        wrong.append("the pad is not saved")
    if not table.room.state.pad.endswith(away):
        wrong.append(f"the pad has lost what was typed meanwhile: it ends with {table.room.state.pad[-40:]!r}")
    await table.open_tab("Board")
    seen: dict[str, Any] = {}

    async def same() -> bool:
        seen["candidate"], seen["lead"] = await table.views()
        seen["log"] = table.of_log()
        return bool(seen["candidate"] == seen["lead"] == seen["log"])

    if not await _within(10, same):
        wrong.append(f"the views differ: {seen}")
    log = table.room.log
    lost = [f"{move.kind} after {move.after}" for move in table.acknowledged if not move.is_in(log)]
    table.acknowledged.clear()
    if [line.seq for line in log] != list(range(1, len(log) + 1)):
        wrong.append("the sequence numbers have a gap")
    moved = {key for line in log if line.kind == "sliders" for key in line.payload["values"]}
    if moved - {SLIDER}:
        wrong.append(f"controls have moved by now that nobody touched: {sorted(moved)}")
    if log[: len(before)] != before:
        lost.append("the log of before is not the beginning of the log of after")
    found.lost += [f"kill {number}: lost: {words}" for words in lost]
    found.wrong += [f"kill {number}: {words}" for words in wrong]
    for words in [*lost, *wrong]:
        print(f"kill {number}: {words}", file=sys.stderr, flush=True)


async def _there(part: Locator) -> bool:
    return await part.count() > 0


async def _holds(move: Move) -> bool:
    assert move.box is not None
    return await move.box.input_value(timeout=500) == move.text


async def _saved(page: Page) -> bool:
    return await page.locator(".rp-status").inner_text(timeout=500) == "Saved"


async def measure(room: LiveRoom, kills: int, seed: int, servers: contextlib.ExitStack) -> tuple[Found, bool]:
    """All kills of one room; also whether any server's log holds a traceback."""
    found, stream, failed = Found(), random.Random(seed), False
    server = servers.enter_context(running_server())
    port = urlsplit(server.url).port
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        lead, candidate = [await opened(browser, server, room, role) for role in ("interviewer", "candidate")]
        table = Table(room, lead, candidate, seed)
        for _ in range(kills):
            moment = ROUND_S * stream.random()
            log = server.log
            server = await one_kill(
                table, server, lambda: servers.enter_context(running_server(port=port)), moment, found
            )
            failed = failed or "Traceback" in log()
        await browser.close()
    return found, failed or "Traceback" in server.log()


def main() -> int:
    """Print what was measured; 1 where anything was lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.kills", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", help="URL of an empty database; left out, a SQLite file of its own")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        contextlib.ExitStack() as servers,
    ):
        url = options.database or f"sqlite:///{Path(folder)}/rooms.db"
        patch.setenv(URL_VARIABLE, url)
        store = RoomStore.open(url)
        room = Rooms(store).played(at_phase(3).does("candidate", "pad", text=PAD))
        found, failed = asyncio.run(measure(room, options.kills, options.seed, servers))
        events = store.revision(room.new.room)
        store.engine.dispose()
    print(found.words())
    for words in [*found.lost, *found.wrong]:
        print(words)
    print(f"{events} events in the log, {len(found.wrong)} wrong")
    print(describe())
    if failed:
        print("a server's log holds a traceback")
    return 1 if found.lost or found.wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
