"""Two real browsers at play in one room, with what their pages say is kept: for ``kills``.

A page says so by "Saved" below the pad, by the line or claim in its list, by the phase on its own clock, and of a
slider by the other browser, which shows what the room has.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Browser, Error, Locator, Page

from core.mock.calculator import shown_values
from core.storage.records import StoredEvent
from tests.core.mock.made import pack
from tests.e2e.mock_rooms import LiveRoom, cookie_of
from tests.e2e.server import Server

ACTION_MS = 2_500  # a press that takes longer is not made: the server is away, say
KEPT_S = 5.0  # for the page to say that a move is kept
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

    async def play(self, page: Page, killed: asyncio.Event, kept: Counter[str]) -> Move | None:
        """Moves of one side until the server is away, ``kept`` by kind; the last one, where it was not acknowledged."""
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
                move.kept = await is_so(move.shown)
            if killed.is_set() and not move.kept:
                await asyncio.sleep(0.3)  # frames that had left the server by then
                move.kept = await is_so(move.shown)
            if move.kept:
                kept[move.kind] += 1
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
        area, before = pad_area(self.candidate), self.pad
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
            pad = await pad_area(page).input_value(timeout=1_000) if page is self.candidate else pads[0] if pads else ""
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


async def is_so(shown: Callable[[], Awaitable[bool]]) -> bool:
    """Whether it holds, on a page that may be just gone or drawn anew."""
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


def pad_area(page: Page) -> Locator:
    """The scratchpad's box."""
    return page.get_by_label("Scratchpad, in Markdown")


async def opened(browser: Browser, server: Server, room: LiveRoom, role: str) -> Page:
    """A seat's page."""
    context = await browser.new_context(storage_state=cookie_of(role))  # type: ignore[arg-type]
    context.set_default_timeout(ACTION_MS)
    page = await context.new_page()
    await page.goto(server.url + room.path(role), timeout=60_000)
    await page.get_by_role("timer").wait_for(timeout=60_000)
    return page
