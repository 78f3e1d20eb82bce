"""What was typed into a room and not sent survives a reload and a dead connection, and goes once the room has it."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

from tests.core.mock.made import at_phase
from tests.e2e.conftest import OpenPage
from tests.e2e.mock_rooms import Rooms, cookie_of, seat
from tests.e2e.room_fixtures import database, rooms, server, stored
from tests.e2e.server import Server, wait_idle


def box(page: Page, name: str) -> Locator:
    return page.get_by_role("textbox", name=re.compile(f"^{name}"))


def wait_kept(page: Page, count: int) -> None:
    """Until the tab keeps so many drafts, those that were typed before its script had come included."""
    page.wait_for_function(
        "count => Object.keys(sessionStorage).filter(key => key.startsWith('ridgepoint.draft.')).length >= count",
        arg=count,
    )


def reload(page: Page) -> None:
    page.reload()
    wait_idle(page)


def test_the_interviewer_s_boxes_keep_their_drafts_over_a_reload_until_the_room_has_them(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(3))
    lead = seat(app, room, "interviewer")
    box(lead, "Evidence").fill("+ derived 4/3 #arithmetic")
    lead.get_by_role("tab", name="Notes").click()
    box(lead, "Private note").fill("slow to start\nthen fast")
    wait_kept(lead, 2)
    reload(lead)
    expect(box(lead, "Evidence")).to_have_value("+ derived 4/3 #arithmetic")
    lead.get_by_role("tab", name="Notes").click()
    expect(box(lead, "Private note")).to_have_value("slow to start\nthen fast")

    box(lead, "Evidence").press("Enter")  # what was put back is what Streamlit sends
    lead.get_by_role("button", name="Keep the note").click()
    room.until(lambda state: len(state.ratings["interviewer"].notes) == 1, lead)
    own = room.state.ratings["interviewer"]
    assert [(line.text, line.item) for line in own.evidence] == [("derived 4/3", "arithmetic")]
    assert own.notes[0].text == "slow to start\nthen fast"
    for name in ("Evidence", "Private note"):
        expect(box(lead, name)).to_have_value("")
    wait_idle(lead)  # the browser has heard that they are kept
    reload(lead)
    lead.get_by_role("tab", name="Notes").click()
    expect(box(lead, "Private note")).to_be_enabled()
    lead.wait_for_timeout(600)  # longer than the page looks for boxes to fill
    for name in ("Evidence", "Private note"):
        expect(box(lead, name)).to_have_value("")


def test_a_line_that_is_too_long_stands_in_its_box_again_beside_the_reason(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(3))
    lead = seat(app, room, "interviewer")
    lead.get_by_role("tab", name="Notes").click()
    for name, send in (("Evidence", "Keep"), ("Private note", "Keep the note")):
        typed = f"{name} " + "x" * 2_100
        box(lead, name).fill(typed)
        lead.get_by_role("button", name=send, exact=True).click()
        expect(lead.get_by_text("at most 2,000").last).to_be_visible()
        expect(box(lead, name)).to_have_value(typed, timeout=1_000)  # sooner than drafts.js misses an answer
        box(lead, name).fill(f"{name} in short")
        lead.get_by_role("button", name=send, exact=True).click()
        expect(box(lead, name)).to_have_value("")
    own = room.state.ratings["interviewer"]
    assert [line.text for line in own.evidence] == ["Evidence in short"]
    assert [line.text for line in own.notes] == ["Private note in short"]
    wait_idle(lead)
    lead.wait_for_timeout(600)
    for name in ("Evidence", "Private note"):
        expect(box(lead, name)).to_have_value("")


def test_two_claims_in_a_row_each_leave_an_empty_form_and_a_draft_survives_a_reload(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(3))
    page = seat(app, room, "candidate")
    for number, claim in enumerate(("HFU ceiling", "MFU ceiling"), start=1):
        box(page, "Claim$").fill(claim)
        box(page, "Number$").fill("47")
        box(page, "Unit$").fill("%")
        wait_kept(page, 3)
        reload(page)
        for name, value in (("Claim$", claim), ("Number$", "47"), ("Unit$", "%")):
            expect(box(page, name)).to_have_value(value)
        page.get_by_role("button", name="Add the claim").click()
        room.until(lambda state, number=number: len(state.claims) == number, page)
        for name in ("Claim$", "Number$", "Unit$"):
            expect(box(page, name)).to_have_value("")
    assert [row.claim for row in room.state.claims.values()] == ["HFU ceiling", "MFU ceiling"]

    box(page, "Number$").fill("48")  # typed, and then another claim is taken up: that one's words stand there
    page.get_by_role("button", name="Change").first.click()
    expect(box(page, "Claim$")).to_have_value("HFU ceiling")
    expect(box(page, "Number$")).to_have_value("47")
    box(page, "Number$").fill("46.67")
    page.get_by_role("button", name="Keep the change").click()
    room.until(lambda state: [row.number for row in state.claims.values()] == ["46.67", "47"], page)
    page.wait_for_timeout(600)
    for name in ("Claim$", "Number$", "Unit$"):
        expect(box(page, name)).to_have_value("")


def test_the_scratchpad_keeps_what_was_typed_right_before_a_reload(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(3).does("candidate", "pad", text="8N over 6N"))
    page = seat(app, room, "candidate")
    area = page.get_by_label("Scratchpad, in Markdown")
    area.press("End")
    area.press_sequentially(" is 4/3")
    page.reload()
    expect(area).to_have_value("8N over 6N is 4/3")
    room.until(lambda state: state.pad == "8N over 6N is 4/3", page)

    # Another tab of the seat has written meanwhile: neither text is lost.
    area.press_sequentially("!")
    page.goto("/mock")
    room.does("candidate", "pad", text="from the other tab")
    page.goto(room.path("candidate"))
    expect(area).to_have_value(re.compile(r"from the other tab\s+8N over 6N is 4/3!|8N over 6N is 4/3!"))


def test_two_tabs_of_a_seat_that_are_written_in_at_once_lose_nothing_and_say_so(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(3).does("candidate", "pad", text="8N over 6N"))
    tabs = [seat(app, room, "candidate") for _ in range(2)]
    areas = [page.get_by_label("Scratchpad, in Markdown") for page in tabs]
    for area in areas:
        area.press("Control+End")
        area.press("Enter")
    areas[0].press_sequentially("the first one's line")
    areas[1].press_sequentially("the second one's")
    at = areas[1].evaluate("area => area.selectionStart")
    room.until(lambda state: "first" in state.pad and "second" in state.pad, tabs[1], seconds=15)
    assert room.state.pad.splitlines()[:2] in (
        ["8N over 6N", "the second one's"],
        ["8N over 6N", "the first one's line"],
    )
    said = [page.get_by_text("Another tab of yours wrote here").is_visible() for page in tabs]
    assert any(said)
    if said[1]:
        assert areas[1].evaluate("area => area.selectionStart") == at
    for area in areas:
        expect(area).to_have_value(room.state.pad, timeout=10_000)


def test_a_room_that_was_left_leaves_nothing_running_in_the_browser(app: OpenPage, server: Server, rooms: Rooms):
    room = rooms.played(at_phase(3))
    page = app("/mock", storage_state=cookie_of("candidate"))
    page.evaluate("""() => {
        const [add, all] = [document.addEventListener, document.querySelector];
        window.listeners = window.looks = 0;
        document.addEventListener = function (kind, ...rest) {
            if (kind === "visibilitychange" && String(rest[0]).includes("flush")) window.listeners += 1;
            return add.call(this, kind, ...rest);
        };
        document.querySelector = function (what) {
            if (what.includes("st-key-mock-claim")) window.looks += 1;
            return all.call(this, what);
        };
    }""")
    page.get_by_label("The link that you were given").fill(server.url + room.path("candidate"))
    page.get_by_role("button", name="Join").click()
    page.wait_for_function("window.looks > 6")
    for _ in range(2):
        page.go_back()
        expect(page.get_by_label("The link that you were given")).to_be_visible()
        wait_idle(page)
        page.go_forward()
        expect(box(page, "Claim$")).to_be_visible()
        wait_idle(page)
    assert page.evaluate("window.listeners") == 1  # for all drawings of the scratchpad
    page.go_back()
    expect(page.get_by_label("The link that you were given")).to_be_visible()
    page.wait_for_timeout(12_000)
    looks = page.evaluate("window.looks")
    page.wait_for_timeout(1_000)
    assert page.evaluate("window.looks") == looks
    page.go_forward()
    expect(box(page, "Claim$")).to_be_visible()
    page.wait_for_function("looks => window.looks > looks", arg=looks)


def test_a_connection_that_stays_away_takes_no_letter_from_the_scratchpad(
    browser: Browser, server: Server, rooms: Rooms
):
    """Streamlit opens a box about the connection after three seconds, which took the keys."""
    room = rooms.played(at_phase(3).does("candidate", "pad", text="8N over 6N"))
    context = browser.new_context(base_url=server.url, storage_state=cookie_of("candidate"))
    page = context.new_page()
    routes: list[WebSocketRoute] = []

    def route(socket: WebSocketRoute) -> None:
        routes.append(socket)
        socket.connect_to_server()

    page.route_web_socket(re.compile("/_stcore/stream"), route)
    page.goto(room.path("candidate"))
    wait_idle(page)
    page.evaluate("""() => new MutationObserver(() => {
        if (document.querySelector("body > .stDialog")) window.opened = true;
    }).observe(document.body, { childList: true })""")
    area = page.get_by_label("Scratchpad, in Markdown")
    area.press("Control+End")
    context.set_offline(True)
    routes[-1].close(code=1012)
    expect(page.get_by_text("Reconnecting.")).to_be_visible()
    page.wait_for_function("window.opened", timeout=15_000)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(area).to_be_focused()
    page.keyboard.type(" is 4/3")
    expect(area).to_have_value("8N over 6N is 4/3")
    context.set_offline(False)
    room.until(lambda state: state.pad == "8N over 6N is 4/3", page, seconds=20)
    context.close()


def test_the_next_line_is_kept_though_word_of_the_last_one_comes_while_it_stands_there(
    browser: Browser, server: Server, rooms: Rooms
):
    room = rooms.played(at_phase(3))
    context = browser.new_context(base_url=server.url, storage_state=cookie_of("interviewer"))
    page = context.new_page()
    held: list[str | bytes] | None = None
    routes: list[WebSocketRoute] = []

    def route(socket: WebSocketRoute) -> None:
        routes.append(socket)
        upstream = socket.connect_to_server()
        upstream.on_message(lambda message: socket.send(message) if held is None else held.append(message))

    page.route_web_socket(re.compile("/_stcore/stream"), route)
    page.goto(room.path("interviewer"))
    wait_idle(page)
    held = []
    box(page, "Evidence").fill("+ derived 4/3 #arithmetic")
    box(page, "Evidence").press("Enter")
    room.until(lambda state: len(state.ratings["interviewer"].evidence) == 1, page)
    box(page, "Evidence").fill("asked about padding")
    page.wait_for_timeout(500)
    late, held = held, None
    for message in late:
        routes[-1].send(message)
    expect(page.get_by_text("derived 4/3")).to_be_visible()
    wait_idle(page)
    expect(box(page, "Evidence")).to_have_value("asked about padding")
    reload(page)
    expect(box(page, "Evidence")).to_have_value("asked about padding")
    context.close()


def test_a_line_that_went_down_a_dead_connection_stands_in_the_box_again(
    browser: Browser, server: Server, rooms: Rooms
):
    """No conftest `app`: a connection that is closed logs an error, as it should."""
    room = rooms.played(at_phase(3))
    context = browser.new_context(base_url=server.url, storage_state=cookie_of("interviewer"))
    page = context.new_page()
    routes: list[WebSocketRoute] = []
    dead = False

    def route(socket: WebSocketRoute) -> None:
        upstream = socket.connect_to_server()
        routes.append(socket)
        socket.on_message(lambda message: None if dead else upstream.send(message))

    page.route_web_socket(re.compile("/_stcore/stream"), route)
    page.goto(room.path("interviewer"))
    wait_idle(page)
    box(page, "Evidence").fill("+ derived 4/3 #arithmetic")
    dead = True
    box(page, "Evidence").press("Enter")
    expect(box(page, "Evidence")).to_have_value("")
    page.wait_for_timeout(500)
    dead = False
    routes[-1].close(code=1012)
    expect(box(page, "Evidence")).to_have_value("+ derived 4/3 #arithmetic", timeout=30_000)
    assert room.state.ratings["interviewer"].evidence == ()
    wait_idle(page)  # the server draws the page anew; what is sent before that is not heard, and comes back later
    box(page, "Evidence").press("Enter")
    room.until(lambda state: len(state.ratings["interviewer"].evidence) == 1, page)
    expect(box(page, "Evidence")).to_have_value("")
    page.wait_for_timeout(600)
    expect(box(page, "Evidence")).to_have_value("")
    context.close()
