"""The mock pages as people see them: on a phone, by axe, on paper; a solo session and a calibration from end to end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.core.mock.made import CARD, DRILL, Played, at_phase, opened, whole
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.mock_rooms import Rooms, seat
from tests.e2e.room_fixtures import database, rooms, server, stored
from tests.e2e.server import wait_idle
from tests.e2e.test_home import PHONE, scrolls_sideways


def busy() -> Played:
    """A session with something of everything on the candidate's page."""
    room = at_phase(4)
    room.does("interviewer", "reply_released", card=CARD, reply=1)
    room.does("interviewer", "hint_released", card=CARD, hint=1)
    room.does("interviewer", "twist_applied", twist="long-context", card=CARD)
    room.does("interviewer", "drill_released", drill=DRILL)
    room.does("candidate", "pad", text="# Plan\n\n" + "averyverylongwordwithoutanyspace" * 5)
    room.does(
        "candidate", "claim", row="c1", claim="a claim of some length that wraps on a phone", number="47", unit="%"
    )
    return room


SEATS = {
    "set-up": (lambda: opened().does("candidate", "ready", on=False), "candidate"),
    "session": (busy, "candidate"),
    "watching": (busy, "observer"),
    "rating": (lambda: at_phase(7), "candidate"),
    "scorecard": (lambda: whole(2), "candidate"),
    "interviewer's scorecard": (lambda: whole(2), "interviewer"),
}


@pytest.mark.parametrize("name", SEATS)
def test_a_seat_is_clean_by_axe_and_fits_a_phone(app: OpenPage, rooms: Rooms, name: str):
    play, role = SEATS[name]
    room = rooms.played(play())
    page = seat(app, room, role)
    assert violations(page) == []
    phone = seat(app, room, role, **PHONE)
    expect(phone.get_by_role("timer").or_(phone.get_by_text("has not begun")).first).to_be_visible()
    assert not scrolls_sideways(phone)


def test_every_share_of_how_sure_is_in_view_on_a_phone(app: OpenPage, rooms: Rooms):
    room = rooms.played(at_phase(4).does("interviewer", "drill_released", drill=DRILL))
    page = seat(app, room, "candidate", **PHONE)
    shares = page.get_by_text("99%", exact=True)
    expect(shares).to_have_count(2)  # of a claim, and of the drill
    for share in shares.all():
        beyond = share.evaluate("""share => {
            const group = share.closest("[class*=-confidence]").getBoundingClientRect();
            return share.closest("button").getBoundingClientRect().right - group.right;
        }""")
        assert beyond <= 0.5


@pytest.mark.parametrize("path", ["/solo", "/calibrate"])
def test_solo_and_calibration_are_clean_by_axe_and_fit_a_phone(app: OpenPage, path: str):
    page = app(path)
    assert violations(page) == []
    assert not scrolls_sideways(app(path, **PHONE))


def test_the_printed_scorecard_is_two_sheets_of_paper(app: OpenPage, rooms: Rooms, browser: Browser, tmp_path: Path):
    page = seat(app, rooms.played(whole(2)), "interviewer")
    for audience in ("interviewer", "candidate"):
        button = page.locator(f".st-key-mock-copies-{audience}-html").get_by_role("button")
        with page.expect_download() as started:
            button.click()
        target = tmp_path / f"{audience}.html"
        started.value.save_as(target)
        paper = browser.new_page()
        asked: list[str] = []
        paper.on("request", lambda request, asked=asked: asked.append(request.url))
        paper.goto(target.as_uri())
        pdf = paper.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 2
        assert asked == [target.as_uri()]  # it needs nothing else
        assert ("nervous" in paper.locator("main").inner_text()) == (audience == "interviewer")
        # Everything down to the next drills stands on the first sheet: A4 less its margins, at 96 pixels an inch.
        paper.emulate_media(media="print")
        paper.set_viewport_size({"width": 680, "height": 1017})
        bottom = paper.get_by_role("heading", name="Timeline").bounding_box()
        assert bottom is not None
        assert bottom["y"] < 1_100
        paper.close()


def solo_until_wrap(page: Page) -> None:
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Start the clock").click()
    for _ in range(12):
        following = page.get_by_role("button", name="Next:")
        expect(following.or_(page.get_by_text("Rate yourself first")).first).to_be_visible()
        wait_idle(page)
        if following.count() == 0:
            return
        following.click()
        wait_idle(page)


def test_a_solo_session_from_the_start_to_the_scorecard(app: OpenPage):
    page = app("/solo")
    solo_until_wrap(page)
    page.reload()
    wait_idle(page)
    expect(page.get_by_text("Rate yourself first")).to_be_visible()
    page.get_by_text("lean hire", exact=True).click()
    page.get_by_role("button", name="Commit my rating").click()
    expect(page.get_by_role("heading", name="Score it")).to_be_visible()
    items = page.locator("[class*=st-key-console-score-]")
    for number in range(items.count()):
        items.nth(number).get_by_text("not observed").click()
        wait_idle(page)
    page.get_by_role("radio", name="lean hire").or_(page.get_by_text("lean hire", exact=True)).last.click(force=True)
    page.get_by_label("Why, in one sentence").fill("Nothing was said aloud.")
    page.get_by_role("button", name="Keep the judgement").click()
    wait_idle(page)
    page.get_by_role("button", name="Commit my scores").click()
    expect(page.get_by_role("heading", name="A strong answer").first).to_be_visible()
    expect(page.get_by_role("heading", name="Scorecard:")).to_be_visible()
    assert violations(page) == []


def test_three_answers_are_scored_then_compared(app: OpenPage):
    page = app("/calibrate")
    for number in (1, 2, 3):
        expect(page.get_by_role("heading", name=f"Answer {number} of 3")).to_be_visible()
        wait_idle(page)
        expect(page.get_by_role("radiogroup")).to_have_count(5)  # four items and the whole
        for group in page.get_by_role("radiogroup").all():
            group.locator("label").nth(1).click()
        page.get_by_role("button", name="Commit these scores").click()
        wait_idle(page)
    expect(page.get_by_role("heading", name="How you score")).to_be_visible()
    expect(page.get_by_text("of a level").or_(page.get_by_text("as the authors")).first).to_be_visible()
    assert violations(page) == []
    assert not scrolls_sideways(page)
