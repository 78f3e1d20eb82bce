"""A mock interview in two real browsers, from the interviewer's side: mirrored, recomputed, restored after a crash.

Each acceptance test runs on SQLite and on a PostgreSQL server, the others on SQLite.
The numbers are those of the specification's acceptance tests;
those that begin on the candidate's side stand in test_mock_candidate.py.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from core.cards.text import with_unit
from core.storage.engine import URL_VARIABLE
from core.storage.rooms import RoomStore
from core.whiteboard.bottleneck import causal_attention_over_6n
from tests.core.mock.made import CARD, at_phase, whole
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.mock_rooms import SOON_MS, Rooms, cookie_of, seat, served
from tests.e2e.room_fixtures import database, on_both_databases, rooms, server, stored
from tests.e2e.server import running_server, wait_idle
from tests.e2e.test_home import PHONE, scrolls_sideways


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).first.click()
    wait_idle(page)


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    wait_idle(page)


def evidence(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Evidence")


def pad(page: Page) -> Locator:
    return page.get_by_label("Scratchpad, in Markdown")


def claim(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Claim", exact=True)


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Data-parallel ranks")


@on_both_databases
def test_a_room_from_the_lobby_to_a_reply_that_arrives(app: OpenPage):
    lead = app("/mock")
    level = lead.get_by_role("radiogroup", name="Level").get_by_role("radio", checked=True)
    expect(level).to_have_count(1)  # from the first look on
    lead.get_by_role("combobox", name="Pack").click()
    lead.get_by_role("option", name="Train and serve a 70B").click()
    expect(level).to_have_text("staff")
    wait_idle(lead)
    press(lead, "Agree and open the room")
    expect(lead.get_by_test_id("stCode")).to_have_count(4)
    links = lead.get_by_test_id("stCode").all_inner_texts()
    lead.get_by_role("link", name="Open your console").click()
    expect(lead.get_by_text("Before you start")).to_be_visible()

    _, _, host, query = links[0].split("/", 3)
    candidate = app(f"/{query.strip()}")
    assert host in candidate.url
    press(candidate, "Agree and take the seat")
    press(candidate, "I am ready")
    expect(lead.get_by_text("Candidate here, ready")).to_be_visible(timeout=10_000)
    press(lead, "I am ready")
    press(lead, "Start the clock: Set-up")
    press(lead, "Next: Clarify")
    expect(candidate.get_by_text("The dashboard shows MFU 35%")).to_be_visible(timeout=SOON_MS)
    lead.get_by_role("button", name="Asked: release").nth(1).click()
    expect(candidate.get_by_text("Full, in every layer.")).to_be_visible(timeout=SOON_MS)

    lead.reload()  # the lobby's list has the room, with its links
    lead.goto("/mock")
    wait_idle(lead)
    lead.get_by_text(re.compile("Train and serve a 70B model, staff,")).click()
    expect(lead.get_by_text(links[0].strip()[-20:])).to_be_visible()
    lead.get_by_role("textbox", name="The link that you were given").fill(links[1])
    press(lead, "Join")
    expect(lead.get_by_role("timer")).to_contain_text("Clarify")


@on_both_databases
def test_1_sliders_are_mirrored_both_ways_and_a_reload_keeps_everything(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(3))
    lead, candidate = seat(app, room, "interviewer"), seat(app, room, "candidate")
    open_tab(lead, "Board")
    slider(candidate).focus()
    slider(candidate).press("ArrowRight")
    expect(slider(lead)).to_have_attribute("aria-valuetext", "96", timeout=SOON_MS)
    press(candidate, "Let go of the controls")
    lead.wait_for_timeout(1_200)
    slider(lead).focus()
    slider(lead).press("ArrowLeft")
    slider(lead).press("ArrowLeft")
    expect(slider(candidate)).to_have_attribute("aria-valuetext", "48", timeout=SOON_MS)

    evidence(lead).fill("+ derived 8N over 6N unaided #arithmetic")
    evidence(lead).press("Enter")
    room.until(lambda state: len(state.ratings["interviewer"].evidence) == 1, lead)
    expect(evidence(lead)).to_have_value("")
    expect(evidence(lead)).to_be_focused()
    for page in (lead, candidate):
        page.reload()
        wait_idle(page)
    expect(lead.get_by_text("derived 8N over 6N unaided")).to_be_visible()
    open_tab(lead, "Board")
    for page in (lead, candidate):
        expect(slider(page)).to_have_attribute("aria-valuetext", "48")


@on_both_databases
def test_3_a_twist_shows_the_truth_that_core_computes_for_the_new_parameters(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(4))
    lead = seat(app, room, "interviewer")
    open_tab(lead, "Truth")

    def shown(seq_len: int) -> str:
        return with_unit(100 * causal_attention_over_6n(70e9, 80, 8192, seq_len), 2, "%")

    row = lead.get_by_role("row").filter(has_text="share of 6N")
    expect(row.get_by_role("cell").nth(1)).to_have_text(shown(8192))
    press(lead, "Apply: the candidate gets the banner")
    expect(row.get_by_role("cell").nth(1)).to_have_text(shown(8192))
    expect(row.get_by_role("cell").nth(2)).to_have_text(shown(32_768))
    assert shown(8192) != shown(32_768)
    assert [(twist.card, twist.twist) for twist in room.state.twists] == [(CARD, "long-context")]


@on_both_databases
def test_7_a_server_that_is_killed_and_restarted_brings_both_browsers_back(
    browser: Browser, database: str, stored: Rooms
):
    """Three times. Whoever is back first is drawn anew, by a process that has served nobody; the second is not.

    No conftest `app`: while the server is away the browsers log errors, as they should.
    """
    with served(browser, database) as server, contextlib.ExitStack() as restarted:
        port, killed = urlsplit(server.url).port, server
        room = stored.played(at_phase(3).does("candidate", "pad", text="8N over 6N"))
        pages = {}
        for role in ("interviewer", "candidate"):
            context = browser.new_context(base_url=server.url, storage_state=cookie_of(role))
            pages[role] = context.new_page()
            pages[role].goto(room.path(role))
            wait_idle(pages[role])
        lead, candidate = pages["interviewer"], pages["candidate"]
        restarted.enter_context(pytest.MonkeyPatch.context()).setenv(URL_VARIABLE, database)
        written = "8N over 6N"
        for first, second in ((candidate, lead), (lead, candidate), (candidate, lead)):
            written += " is 4/3"
            kept, typed = f"gave unit {len(written)} unasked", f"asked {len(written)} things"
            evidence(lead).fill(f"+ {kept} #define")
            evidence(lead).press("Enter")
            expect(lead.get_by_text(kept)).to_be_visible()
            evidence(lead).fill(typed)
            claim(candidate).fill(typed)
            before = room.log
            os.killpg(killed.process.pid, signal.SIGKILL)
            killed.process.wait()
            for page in pages.values():
                expect(page.get_by_text("Reconnecting.")).to_be_visible()
            pad(candidate).press_sequentially(" is 4/3")
            assert room.log == before

            second.context.set_offline(True)
            killed = restarted.enter_context(running_server(port=port))
            for page in (first, second):
                page.context.set_offline(False)
                expect(page.get_by_text("Reconnecting.")).to_be_hidden(timeout=30_000)
                box = evidence(lead) if page is lead else claim(candidate)
                expect(box).to_be_enabled(timeout=30_000)
                expect(box).to_have_value(typed)
                expect(page.get_by_text("Page not found")).to_have_count(0)
            expect(lead.get_by_text(kept)).to_be_visible()
            expect(pad(candidate)).to_have_value(written)
            room.until(lambda state, written=written: state.pad == written, candidate, seconds=20)
            assert [event for event in room.log if event.seq <= before[-1].seq] == before
        lead.get_by_role("button", name=re.compile("^Next: ")).click()
        expect(candidate.get_by_role("timer")).to_contain_text("The facts change", timeout=10_000)
        for page in pages.values():
            page.context.close()


def test_the_console_reaches_from_desk_to_phone_and_breaks_no_rule_of_access(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(2))
    desk = seat(app, room, "interviewer", viewport={"width": 1280, "height": 720})
    for part in (desk.get_by_role("timer"), desk.get_by_text("Ask:").first, evidence(desk)):
        expect(part).to_be_in_viewport(ratio=1)
    assert not scrolls_sideways(desk)
    for tab in ("Evidence", "Rubric", "Truth", "Release", "Board", "Prompt", "Notes", "Room"):
        open_tab(desk, tab)
        assert violations(desk) == [], tab
    phone = seat(app, room, "interviewer", **PHONE)
    assert not scrolls_sideways(phone)
    assert violations(phone) == []
    for part in (phone.get_by_role("timer"), evidence(phone)):
        expect(part).to_be_in_viewport(ratio=1)


def test_a_link_that_was_replaced_closes_the_page_of_whoever_holds_it(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(2))
    lead, candidate = seat(app, room, "interviewer"), seat(app, room, "candidate")
    open_tab(lead, "Room")
    lead.get_by_text("New links").click()
    press(lead, "New link: candidate")
    expect(candidate.get_by_text("was replaced by a newer one")).to_be_visible(timeout=8_000)
    expect(candidate.get_by_role("timer")).to_have_count(0)
    new = lead.get_by_test_id("stCode").inner_text().strip()
    candidate.goto(new)
    expect(candidate.get_by_role("timer")).to_be_visible()


def test_a_clock_without_its_interviewer_is_paused_by_whoever_is_left(app: OpenPage, rooms: Rooms):
    played = at_phase(2)
    room = rooms.played(played)
    now = rooms.store.now()
    past = RoomStore(rooms.store.engine, clock=lambda: now - 61)
    past.touch(room.new.room, "interviewer", room.state.seats["interviewer"].holder)
    candidate = seat(app, room, "candidate")
    expect(candidate.get_by_text("Paused")).to_be_visible(timeout=10_000)
    assert [event.payload.get("reason") for event in room.log if event.kind == "paused"] == ["away"]


def choose(page: Page, button: str | re.Pattern[str], option: str) -> None:
    """An option of a menu button."""
    page.get_by_role("button", name=button).first.click()
    page.get_by_role("menuitem", name=option).click()
    wait_idle(page)


def test_hints_lines_and_phases_go_by_menus(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(2).does("interviewer", "evidence", text="derived 4/3 unaided", sign="+"))
    lead, candidate = seat(app, room, "interviewer"), seat(app, room, "candidate")
    choose(lead, "stuck silent for 90 s: hint 1", "#arithmetic")
    expect(candidate.get_by_text("Write down the FLOP of a token")).to_be_visible(timeout=SOON_MS)
    assert [(hint.hint, hint.item) for hint in room.state.hints] == [(1, "arithmetic")]
    assert [(visit.node, visit.heard) for visit in room.state.visits] == [("start", "stuck")]
    choose(lead, re.compile("^item"), "#causes")
    assert [line.item for line in room.state.ratings["interviewer"].evidence] == ["causes"]
    choose(lead, "#causes", "Remove this line")
    assert room.state.ratings["interviewer"].evidence == ()
    candidate.get_by_role("button", name="I am stuck").click()
    expect(lead.get_by_text("Candidate is stuck")).to_be_visible(timeout=SOON_MS)
    choose(lead, "Phases", "6 Numeric probe")
    expect(candidate.get_by_text("A number to work out")).to_be_visible(timeout=SOON_MS)
    choose(lead, "Phases", "Finish the session")
    expect(candidate.get_by_role("timer")).to_contain_text("The session is over", timeout=SOON_MS)


def sent_within(page: Page, seconds: float) -> int:
    """How often the page asks the server."""
    frames: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    page.reload()
    wait_idle(page)
    page.wait_for_timeout(1_500)
    frames.clear()
    page.wait_for_timeout(1000 * seconds)
    return len(frames)


def test_a_hidden_tab_beats_slowly_and_a_room_that_ended_long_ago_not_at_all(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(2))
    page = seat(app, room, "candidate")
    assert 6 <= sent_within(page, 8) <= 9
    page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => true })")
    assert 1 <= sent_within(page, 11) <= 3
    other = seat(app, room, "interviewer")
    other.wait_for_timeout(6_000)  # longer than a beat, and the hidden tab still counts as here
    expect(other.get_by_text("Candidate here")).to_be_visible()

    ended = whole()
    ended.at += 1_801
    assert sent_within(seat(app, rooms.played(ended), "interviewer"), 6) == 0
