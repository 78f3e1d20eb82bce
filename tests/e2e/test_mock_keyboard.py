"""The interviewer's console by keyboard alone: a session is led from its start to the commit without a pointer."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.core.mock.made import CARD, ITEMS, opened
from tests.e2e.conftest import OpenPage
from tests.e2e.mock_rooms import SOON_MS, Rooms, seat
from tests.e2e.room_fixtures import database, rooms, server, stored
from tests.e2e.server import wait_idle
from tests.e2e.test_mock_candidate import tab_to


def press_button(page: Page, name: str) -> None:
    """Tab to a button and press it."""
    wait_idle(page)
    tab_to(page, name, most=200)
    page.keyboard.press("Enter")


def open_tab(page: Page, name: str) -> None:
    """Tab to the tab that is open, and go right to the wanted one."""
    wait_idle(page)
    selected = page.get_by_role("tab", selected=True)
    for _ in range(200):
        page.keyboard.press("Tab")
        if selected.evaluate("tab => tab === document.activeElement"):
            break
    expect(selected).to_be_focused()
    for _ in range(page.get_by_role("tab").count()):
        if under_focus(page) == name:
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
    wait_idle(page)


def test_a_session_is_led_by_keyboard_alone(app: OpenPage, rooms: Rooms):
    room = rooms.played(opened())
    lead = seat(app, room, "interviewer")
    candidate = seat(app, room, "candidate")
    key = lead.keyboard

    def phase(number: int) -> None:
        room.until(lambda state: state.time.phase == number, lead)

    press_button(lead, "Start the clock: Set-up")
    phase(0)
    press_button(lead, "Next: Clarify")
    phase(1)
    press_button(lead, "Asked: release")
    room.until(lambda state: len(state.replies) == 1, lead)
    press_button(lead, "Next: Diagnose")
    phase(2)
    expect(candidate.get_by_role("timer")).to_contain_text("Diagnose", timeout=SOON_MS)

    # A line of evidence is kept by Enter, and the box has the focus for the next one.
    tab_to(lead, "Evidence:", most=200)
    for item in ITEMS:
        key.type(f"+ heard this on {item} #{item}")
        key.press("Enter")
        room.until(
            lambda state, item=item: (
                state.ratings["interviewer"].evidence[-1:] != ()
                and state.ratings["interviewer"].evidence[-1].item == item
            ),
            lead,
        )
        expect(lead.get_by_role("textbox", name="Evidence")).to_have_value("")

    # A hint costs a little of an item: the button opens a menu of them.
    wait_idle(lead)
    tab_to(lead, "silent for 90 s: hint 1", most=200)
    key.press("Enter")
    expect(lead.get_by_role("menu")).to_be_focused()
    for _ in ITEMS:
        if under_focus(lead).startswith("#causes "):
            break
        key.press("ArrowDown")
    assert under_focus(lead) == "#causes Lists causes of added FLOP with a test for each"
    key.press("Enter")
    room.until(lambda state: [(hint.hint, hint.item) for hint in state.hints] == [(1, "causes")], lead)
    expect(candidate.get_by_text("Write down the FLOP of a token")).to_be_visible(timeout=SOON_MS)

    press_button(lead, "Next: Design")
    phase(3)
    press_button(lead, "Next: The facts change")
    phase(4)
    press_button(lead, "Apply: the candidate gets the banner")
    room.until(lambda state: [twist.card for twist in state.twists] == [CARD], lead)
    press_button(lead, "Pause")
    room.until(lambda state: state.time.paused_at is not None, lead)
    press_button(lead, "Resume")
    room.until(lambda state: state.time.paused_at is None, lead)
    for number, name in ((5, "Numeric probe"), (6, "Your questions"), (7, "Wrap")):
        press_button(lead, f"Next: {name}")
        phase(number)

    open_tab(lead, "Rubric")
    for item in ITEMS:
        wait_idle(lead)
        tab_to(lead, f"Level of {item}", most=200)
        key.press("Space")
        room.until(lambda state, item=item: state.ratings["interviewer"].scores.get(item) is not None, lead)
    wait_idle(lead)
    tab_to(lead, "Judgement", most=200)
    key.press("Space")
    tab_to(lead, "Why, in one sentence")
    key.type("as far as it went")
    key.press("Enter")
    room.until(lambda state: state.ratings["interviewer"].overall is not None, lead)
    press_button(lead, "Commit my scores")
    room.until(lambda state: state.ratings["interviewer"].committed is not None, lead)


def under_focus(page: Page) -> str:
    return str(page.evaluate("document.activeElement.textContent"))
