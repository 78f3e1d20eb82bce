"""The mirrored calculator moves under a hand and at no other time."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.core.mock.made import at_phase
from tests.e2e.conftest import OpenPage
from tests.e2e.mock_rooms import SOON_MS, LiveRoom, Rooms, seat
from tests.e2e.room_fixtures import database, rooms, server, stored
from tests.e2e.server import wait_idle

RANKS = "Data-parallel ranks"


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
    wait_idle(page, settle_ms=500)


def hands(room: LiveRoom) -> list[str]:
    return [event.actor for event in room.log if event.kind == "sliders"]


def test_tabs_of_the_console_that_come_and_go_move_no_control(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(3))
    lead, candidate = seat(app, room, "interviewer"), seat(app, room, "candidate")
    open_tab(lead, "Board")
    slider = candidate.get_by_role("slider", name=RANKS)
    slider.focus()
    slider.press("ArrowRight")
    mirrored = lead.get_by_role("slider", name=RANKS)
    expect(mirrored).to_have_attribute("aria-valuetext", "96", timeout=SOON_MS)
    candidate.get_by_role("button", name="Let go of the controls").click()
    wait_idle(candidate)
    for _ in range(3):
        open_tab(lead, "Evidence")
        open_tab(lead, "Board")
        expect(mirrored).to_have_attribute("aria-valuetext", "96")
    assert hands(room) == ["candidate"]
    slider.press("ArrowRight")  # what is moved meanwhile is there as well
    open_tab(lead, "Truth")
    expect(slider).to_have_attribute("aria-valuetext", "128")
    open_tab(lead, "Board")
    expect(mirrored).to_have_attribute("aria-valuetext", "128", timeout=SOON_MS)
    assert hands(room) == ["candidate", "candidate"]
