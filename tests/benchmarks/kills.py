"""A server that is killed amid a room, by hand: python -m tests.benchmarks.kills [--kills 50] [--database URL]

An interviewer and a candidate in two real browsers go on making moves through their pages: lines of evidence and notes,
phases, the scratchpad, claims, a slider. At a random moment the server gets SIGKILL, the candidate writes on, and it is
started again on the same port and database. Held to, at each kill:

- what a page had said to be kept is in the log, the log of before is the beginning of the one after, and its sequence
  numbers have no gap. A page says so by "Saved" below the pad, by the line or claim in its list, by the phase on its
  own clock, and of a slider by the other browser, which shows what the room has;
- both browsers come back by themselves, without an error on the page, and show what the log says and the same of phase,
  slider, claims and pad;
- what was typed and not acknowledged is in the log or stands in its box.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import re
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Error, Locator, Page, async_playwright

from core.mock.calculator import shown_values
from core.storage.engine import URL_VARIABLE
from core.storage.records import StoredEvent
from core.storage.rooms import RoomStore
from tests.benchmarks.machine import describe
from tests.core.mock.made import at_phase, pack
from tests.e2e.mock_rooms import LiveRoom, Rooms, cookie_of
from tests.e2e.server import CHROMIUM_ARGS, Server, chromium_path, running_server

ACTION_MS = 2_500  # a press that takes longer is not made: the server is away, say
KEPT_S = 5.0  # for the page to say that a move is kept
BACK_S = 40.0  # for both to be back
STEADY_S = 0.5  # so long they have to stay it
ROUND_S = 6.0  # the latest moment of a kill, after both are back
PHASES = [phase.name for phase in pack().model.phases]
PLAYED_PHASES = range(1, 7)  # the candidate reads the prompt, and the session goes on
MOST_CLAIMS = 6
PAD, RATIO = "Pad:", "ratio"  # what the pad and each claim begin with
SLIDER = "data_parallel"
TABS: dict[str, Callable[[Page], Locator]] = {  # by something that is in no other
    "Evidence": lambda page: page.locator(".st-key-console-seen"),
    "Notes": lambda page: page.get_by_label("Private note"),
    "Board": lambda page: page.get_by_role("slider", name="Data-parallel ranks"),
}


@dataclass(slots=True)
class Move:
    """Something done on a page."""

    kind: str  # of its event
    is_it: Callable[[Mapping[str, Any]], bool]  # of an event's payload
    shown: Callable[[], Awaitable[bool]]  # whether a page says that it is kept
    after: int  # the log's seq before it
    box: Locator | None = None  # where its text stands before it is kept
    text: str = ""
    kept: bool = False

    def is_in(self, log: Sequence[StoredEvent]) -> bool:
        """Whether the log has it."""
        return any(line.seq > self.after and line.kind == self.kind and self.is_it(line.payload) for line in log)


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


class Table:
    """The room with both pages, the moves made on them, and what the pages show."""

    def __init__(self, room: LiveRoom, lead: Page, candidate: Page, seed: int) -> None:
        self.room, self.lead, self.candidate = room, lead, candidate
        self.acknowledged: list[Move] = []
        self.tab = "Evidence"
        self.pad = room.state.pad
        self._numbers = itertools.count(1)
        self._streams = {page: random.Random(f"{seed} {name}") for page, name in ((lead, "lead"), (candidate, "other"))}
        self._last: dict[Page, Move | None] = {lead: None, candidate: None}

    # Moves

    async def play(self, page: Page, killed: asyncio.Event, found: Found) -> Move | None:
        """Moves of one side until the server is away; the last one, where it was not acknowledged."""
        stream = self._streams[page]
        moves: dict[Callable[[], Awaitable[None]], int] = {self.write: 4, self.claim: 4, self.candidate_slider: 4}
        if page is self.lead:
            moves = {self.evidence: 5, self.draft: 1, self.note: 2, self.phase: 2, self.lead_slider: 5}
        while not killed.is_set():
            self._last[page] = None
            with contextlib.suppress(Error):  # it did not come to it: the server went, or a part was just drawn anew
                await stream.choices(list(moves), weights=list(moves.values()))[0]()
            move, end = self._last[page], time.monotonic() + KEPT_S
            if move is None:
                continue
            while not move.kept and not killed.is_set() and time.monotonic() < end:
                await asyncio.sleep(0.03)
                move.kept = await _true(move.shown)
            if killed.is_set() and not move.kept:
                await asyncio.sleep(0.3)  # frames that had left the server by then
                move.kept = await _true(move.shown)
            if move.kept:
                found.kept[move.kind] += 1
                self.acknowledged.append(move)
            elif killed.is_set():
                return move
            await asyncio.sleep(0.3 * stream.random())
        return None

    def _begins(self, page: Page, kind: str, is_it: Callable[[Mapping[str, Any]], bool], **fields: Any) -> Move:
        move = self._last[page] = Move(kind, is_it, after=self.room.store.revision(self.room.new.room), **fields)
        return move

    async def open_tab(self, name: str) -> None:
        """A tab of the console."""
        if self.tab == name:
            return
        self.tab = ""  # until the server has drawn what is in it
        await self.lead.get_by_role("tab", name=name).click()
        await TABS[name](self.lead).first.wait_for()
        self.tab = name

    async def evidence(self) -> None:
        """A line, by Enter."""
        await self.open_tab("Evidence")
        text, box = f"gave unit {next(self._numbers)} unasked", self.lead.get_by_role("textbox", name="Evidence")
        await box.fill(f"+ {text} #define")
        self._begins(
            self.lead,
            "evidence",
            lambda payload: payload["text"] == text,
            shown=lambda: _listed(self.lead, text),
            box=box,
            text=f"+ {text} #define",
        )
        await box.press("Enter")

    async def draft(self) -> None:
        """A line that is not sent."""
        text, box = f"asked {next(self._numbers)} things", self.lead.get_by_role("textbox", name="Evidence")
        await box.fill(text)
        self._begins(self.lead, "evidence", lambda payload: False, shown=_never, box=box, text=text)

    async def note(self) -> None:
        """A private note, by its button."""
        await self.open_tab("Notes")
        text, box = f"private {next(self._numbers)} said", self.lead.get_by_label("Private note")
        await box.fill(text)
        self._begins(
            self.lead,
            "note",
            lambda payload: payload["text"] == text,
            shown=lambda: _listed(self.lead, text),
            box=box,
            text=text,
        )
        await self.lead.get_by_role("button", name="Keep the note").click()

    async def phase(self) -> None:
        """Another phase, by the menu."""
        now = self.room.state.time.phase
        number = self._streams[self.lead].choice([each for each in PLAYED_PHASES if each != now])
        await self.lead.get_by_role("button", name="Phases").first.click()
        option = self.lead.get_by_role("menuitem", name=re.compile(f"^{number + 1} "))
        self._begins(
            self.lead,
            "phase_started",
            lambda payload: payload["phase"] == number,
            shown=lambda: _on_clock(self.lead, PHASES[number]),
        )
        try:
            await option.click()
        except Error:
            await self.lead.keyboard.press("Escape")  # an open menu would lie over the page
            raise

    async def write(self) -> None:
        """Words on the scratchpad; it saves itself."""
        area, before = _area(self.candidate), self.pad
        word = f" w{next(self._numbers)}"
        await area.press("Control+End")
        await area.press_sequentially(word)
        self.pad = before + word

        async def shown() -> bool:
            status = await self.candidate.locator(".rp-status").inner_text(timeout=500)
            return status == "Saved" and (await area.input_value(timeout=500)).endswith(word)

        self._begins(self.candidate, "pad", lambda payload: payload["text"].endswith(word), shown=shown)

    async def claim(self) -> None:
        """A claim more, or one less where there are many."""
        claims = self.room.state.claims
        if len(claims) >= MOST_CLAIMS:
            row, gone = next((row, claim.claim) for row, claim in claims.items())

            async def shown() -> bool:
                texts = await _texts(self.candidate, RATIO)
                return bool(texts) and not any(text.startswith(f"{gone}:") for text in texts)

            self._begins(self.candidate, "claim_removed", lambda payload: payload["row"] == row, shown=shown)
            await self.candidate.get_by_role("button", name="Remove").first.click()
            return
        number = next(self._numbers)
        text, box = f"{RATIO} {number}", self.candidate.get_by_role("textbox", name="Claim", exact=True)
        await box.fill(text)
        self._begins(
            self.candidate,
            "claim",
            lambda payload: (payload["claim"], payload["number"]) == (text, f"{number}.5"),
            shown=lambda: _listed(self.candidate, f"{text}: "),
            box=box,
            text=text,
        )
        await self.candidate.get_by_role("textbox", name="Number", exact=True).fill(f"{number}.5")
        await self.candidate.get_by_role("button", name="Add the claim").click()

    async def candidate_slider(self) -> None:
        """The candidate's hand; it is seen to be kept while the console has the board open."""
        await self._slide(self.candidate, self.lead)

    async def lead_slider(self) -> None:
        """The interviewer's; refused while the candidate's hand holds it."""
        await self.open_tab("Board")
        await self._slide(self.lead, self.candidate)

    async def _slide(self, page: Page, other: Page) -> None:
        slider = page.get_by_role("slider", name="Data-parallel ranks")
        before = await slider.get_attribute("aria-valuetext")
        up = before == "1" or (before != "16,384" and self._streams[page].random() < 0.5)
        await slider.focus()
        # Where the other hand has just moved it there, this one may be refused: the room has that value all the same.
        after = self.room.state.sliders_seq - 1
        await slider.press("ArrowRight" if up else "ArrowLeft")
        value = await slider.get_attribute("aria-valuetext") or ""
        if value == before:
            return
        number = int(value.replace(",", ""))

        async def shown() -> bool:
            # Both have it and neither has it for itself: a hand that was refused is put back.
            others = self._last[other]
            if others is not None and others.kind == "sliders" and not others.kept:
                return False
            return await _slid_to(other, value) and await _slid_to(page, value)

        move = self._begins(page, "sliders", lambda payload: payload["values"].get(SLIDER) == number, shown=shown)
        move.after = after

    # What is shown

    async def views(self) -> tuple[dict[str, object], dict[str, object]]:
        """Of the candidate and of the console with its board open."""
        views = []
        for page in (self.candidate, self.lead):
            clock = await page.get_by_role("timer").inner_text(timeout=1_000)
            slider = page.get_by_role("slider", name="Data-parallel ranks")
            pads = await _texts(page, PAD)
            pad = await _area(page).input_value(timeout=1_000) if page is self.candidate else pads[0] if pads else ""
            views.append(
                {
                    "phase": next((name for name in PHASES if name in clock), clock),
                    "slider": await slider.get_attribute("aria-valuetext", timeout=1_000),
                    "claims": await _texts(page, RATIO),
                    "pad": " ".join(pad.split()),
                }
            )
        return views[0], views[1]

    def of_log(self) -> dict[str, object]:
        """The same as the log has it."""
        state = self.room.state
        assert state.time.phase is not None
        return {
            "phase": PHASES[state.time.phase],
            "slider": f"{shown_values(state.sliders)[SLIDER]:,.0f}",
            "claims": [f"{claim.claim}: {claim.number}" for claim in state.claims.values()],
            "pad": " ".join(state.pad.split()),
        }


async def _true(shown: Callable[[], Awaitable[bool]]) -> bool:
    try:
        return await shown()
    except Error:
        return False


async def _never() -> bool:
    return False


async def _texts(page: Page, begin: str) -> list[str]:
    """The lines of text on a page that begin so; the preview of the pad is closed."""
    texts = await page.get_by_test_id("stMarkdownContainer").all_inner_texts()
    return [text.strip() for text in texts if text.strip().startswith(begin)]


async def _listed(page: Page, text: str) -> bool:
    return await page.get_by_test_id("stMarkdownContainer").get_by_text(text).count() > 0


async def _on_clock(page: Page, phase: str) -> bool:
    return phase in await page.get_by_role("timer").inner_text(timeout=500)


async def _slid_to(page: Page, value: str) -> bool:
    slider = page.get_by_role("slider", name="Data-parallel ranks")
    return await slider.count() == 1 and await slider.get_attribute("aria-valuetext", timeout=500) == value


def _area(page: Page) -> Locator:
    return page.get_by_label("Scratchpad, in Markdown")


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
    while not await _true(holds):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.05)
    return True


async def one_kill(table: Table, server: Server, start: Callable[[], Server], moment: float, found: Found) -> Server:
    """Play, kill, write on, start again and look; what is wrong goes to ``found``."""
    killed = asyncio.Event()
    sides = [asyncio.create_task(table.play(page, killed, found)) for page in (table.lead, table.candidate)]
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
        await _area(table.candidate).press("Control+End")
        await _area(table.candidate).press_sequentially(away)
        in_area = (await _area(table.candidate).input_value()).endswith(away)
    server, answered = await started
    found.starts.append(answered - at)
    number = len(found.starts)

    since = 0.0  # when both were there at a look; one look may fall between two drawings

    async def back() -> bool:
        nonlocal since
        there = await _true(lambda: _back(table.lead)) and await _true(lambda: _back(table.candidate))
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
        wrong.append(f"controls moved that nobody had touched: {sorted(moved)}")
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


async def opened(browser: Browser, server: Server, room: LiveRoom, role: str) -> Page:
    """A seat's page."""
    context = await browser.new_context(storage_state=cookie_of(role))  # type: ignore[arg-type]
    context.set_default_timeout(ACTION_MS)
    page = await context.new_page()
    await page.goto(server.url + room.path(role), timeout=60_000)
    await page.get_by_role("timer").wait_for(timeout=60_000)
    return page


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
