"""Where the page is scrolled to: an own press shows its top, what others do moves nothing, and the bar leads on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.core.mock.made import at_phase, whole
from tests.e2e.conftest import OpenPage
from tests.e2e.mock_rooms import SOON_MS, Rooms, seat
from tests.e2e.room_fixtures import database, rooms, server, stored
from tests.e2e.server import wait_idle
from tests.e2e.test_home import PHONE, scrolls_sideways

MAIN = "document.querySelector('[data-testid=stMain]')"


def scroll_down(page: Page) -> int:
    # After a reload the page is short at first.
    page.wait_for_function(f"() => {MAIN}.scrollHeight - {MAIN}.clientHeight > 300")
    page.evaluate(f"{MAIN}.scrollTo({{ top: 10_000 }})")
    assert scrolled(page) > 300
    return scrolled(page)


def scrolled(page: Page) -> int:
    return int(page.evaluate(f"Math.round({MAIN}.scrollTop)"))


def test_an_own_press_shows_the_top_and_what_others_do_moves_nothing(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(5))
    lead = seat(app, room, "interviewer", viewport={"width": 1280, "height": 800})
    lead.get_by_role("tab", name="Release").click()
    wait_idle(lead)
    down = scroll_down(lead)
    room.does("candidate", "stuck")
    expect(lead.get_by_text("Candidate is stuck")).to_be_visible(timeout=SOON_MS)
    room.does("interviewer", "phase_started", phase=6)  # from another tab that has the lead
    following = lead.get_by_role("button", name="Next: Wrap")
    expect(following).to_be_visible(timeout=SOON_MS)
    assert scrolled(lead) == pytest.approx(down, abs=200)  # the script beside it may be shorter
    scroll_down(lead)
    following.focus()
    lead.keyboard.press("Enter")
    expect(lead.get_by_role("heading", name="Wrap")).to_be_in_viewport(ratio=1)
    assert scrolled(lead) == 0
    scroll_down(lead)
    lead.get_by_role("button", name="Finish the session").click()
    expect(lead.get_by_role("heading", name="The session is over")).to_be_in_viewport(ratio=1)
    assert scrolled(lead) == 0
    lead.reload()
    wait_idle(lead)
    scroll_down(lead)
    lead.wait_for_timeout(1_500)
    assert scrolled(lead) > 300


def test_the_focus_stays_on_the_button_that_goes_on(app: OpenPage, rooms: Rooms):
    lead = seat(app, rooms.played(at_phase(2)), "interviewer")
    lead.get_by_role("button", name="Next: Design").focus()
    lead.keyboard.press("Enter")
    expect(lead.get_by_role("button", name="Next: The facts change")).to_be_focused()


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_a_candidate_who_is_scrolled_down_is_told_what_waits_and_led_there(app: OpenPage, rooms: Rooms, options: dict):
    room = rooms.played(at_phase(6))
    page = seat(app, room, "candidate", **options)
    spoken = page.locator(".rp-waiting")
    expect(spoken).to_have_attribute("role", "status")  # there before it has words, so that they are read out
    expect(spoken).to_have_text("")
    scroll_down(page)
    room.does("interviewer", "phase_started", phase=7)
    link = page.get_by_role("link", name="Rate yourself", exact=True)
    expect(link).to_be_in_viewport(timeout=SOON_MS)
    heading = page.get_by_role("heading", name="Rate yourself first")
    expect(heading).not_to_be_in_viewport()
    link.click()
    expect(heading).to_be_in_viewport(ratio=1)
    bar = page.locator(".st-key-mock-bar").bounding_box()
    box = heading.bounding_box()
    assert bar is not None
    assert box is not None
    assert box["y"] >= bar["y"] + bar["height"]
    assert not scrolls_sideways(page)


def test_the_scorecard_is_a_press_away_once_it_is_open(app: OpenPage, rooms: Rooms):
    page = seat(app, rooms.played(whole()), "candidate")
    scroll_down(page)
    page.get_by_role("link", name="Your scorecard").click()
    expect(page.get_by_role("heading", name="Scorecard:")).to_be_in_viewport(ratio=1)


def test_the_header_fits_one_line_and_stands_still_when_the_candidate_is_stuck(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(2))
    lead = seat(app, room, "interviewer", viewport={"width": 1280, "height": 800})
    names = ("Next: Design and numbers", "Phases", "Pause", "+1 min", "\u22121 min")

    def places() -> list[tuple[float, float]]:
        boxes = [lead.get_by_role("button", name=name).bounding_box() for name in names]
        return [(box["x"], box["y"]) for box in boxes if box]

    before = places()
    assert len({y for _, y in before}) == 1
    room.does("candidate", "stuck")
    expect(lead.get_by_text("Candidate is stuck")).to_be_visible(timeout=SOON_MS)
    assert places() == before
