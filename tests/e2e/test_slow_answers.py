"""A server that answers late takes nothing from a reader: no typed text, no chosen page, no chosen file."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from core.cards.draw import draw
from tests.e2e.conftest import OpenPage
from tests.e2e.server import running_server, wait_idle
from tests.e2e.slow import slow_from_now_on, slow_from_the_start
from tests.e2e.test_practice import CARDS, DRILL

DELAY_MS = 400
APPS = Path(__file__).parent / "apps"
LEAVING, UPLOAD, LATE, POLLS = (APPS / f"{name}_demo" / "app.py" for name in ("leaving", "upload", "late", "polls"))


def press(page: Page) -> None:
    page.get_by_role("button", name="Press").click()


def test_a_press_just_after_the_click_that_leaves_a_page_does_not_bring_it_back(browser: Browser):
    with running_server(LEAVING) as server:
        page = browser.new_page()
        slow_from_the_start(page, 0)
        page.goto(server.url)
        wait_idle(page)
        press(page)
        expect(page.get_by_text("Pressed 1 times")).to_be_visible()
        slow_from_now_on(page, DELAY_MS)
        page.get_by_role("link", name="Second").click()
        press(page)  # the first page still stands, and the second is being drawn
        expect(page.get_by_text("All of it")).to_be_visible()
        page.wait_for_timeout(3 * DELAY_MS)
        wait_idle(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Second")
        expect(page.get_by_text("All of it")).to_be_visible()

        slow_from_now_on(page, 0)  # a page that one has come back to obeys again
        press(page)
        expect(page.get_by_text("Pressed 2 times")).to_be_visible()
        page.get_by_role("link", name="First").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("First")
        wait_idle(page)
        press(page)
        expect(page.get_by_text("Pressed 3 times")).to_be_visible()
        page.close()


def test_what_was_typed_before_the_browser_store_answered_stays_in_its_box(app: OpenPage):
    page = app("/settings")
    slow_from_the_start(page, 3 * DELAY_MS)
    page.goto(f"/drills?card={DRILL}&seed=3")
    typed = page.get_by_label("Your answer")
    answer = f"{draw(CARDS[DRILL], 3).answer:.1f}"
    typed.fill(answer)
    expect(page.get_by_text("1. Bytes of a step")).to_have_count(0)  # the first steps wait for the browser's answer
    expect(page.get_by_text("1. Bytes of a step")).to_be_visible()
    expect(typed).to_have_value(answer)
    typed.press("Enter")
    expect(page.get_by_text("Right").first).to_be_visible()


def test_a_file_chosen_just_as_the_page_is_drawn_again_arrives(browser: Browser):
    with running_server(UPLOAD) as server:
        page = browser.new_page()
        page.goto(server.url)
        wait_idle(page)
        page.locator("input[type=file]").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"all"})
        expect(page.get_by_text("Read all")).to_be_visible()
        page.close()


def test_the_end_of_a_page_run_arrives_though_a_fragment_asks_for_more(browser: Browser):
    with running_server(LATE) as server:
        page = browser.new_page()
        page.goto(server.url)
        for presses in range(1, 6):
            press(page)
            expect(page.get_by_text(f"Pressed {presses} times")).to_be_visible()
        page.close()


def test_a_poll_that_is_still_being_looked_at_does_not_put_a_control_back(browser: Browser):
    """A request carries the values of all controls as they stood when it was sent."""
    levels = [str(1 + place % 4) for place in range(1, 13)]
    with running_server(POLLS) as server:
        page = browser.new_page()
        page.goto(server.url)
        wait_idle(page)
        for place, level in enumerate(levels):
            page.get_by_text(level, exact=True).click()
            expect(page.get_by_text(f"Moves: {' '.join(levels[: place + 1])}.")).to_be_visible()
            page.wait_for_timeout(40 * place)  # not in step with the polls
        page.close()


def test_quick_presses_on_a_number_all_count_however_late_the_answers(app: OpenPage):
    """An answer sets no control, and the address that a press brings along from a browser behind is no wish."""
    page = app("/settings")
    page.get_by_text("Ask me before a result is shown").click()
    wait_idle(page)
    slow_from_the_start(page, 0)
    for late_ms, gap_ms in ((120, 300), (250, 150), (250, 260), (0, 60)):
        page.goto("/communication")
        wait_idle(page)
        box = page.get_by_label("Micro-batch size")
        expect(box).to_have_value("1")
        slow_from_now_on(page, late_ms)
        more = page.get_by_test_id("stNumberInput").filter(has=box).get_by_test_id("stNumberInputStepUp")
        for _ in range(6):
            more.click()
            page.wait_for_timeout(gap_ms)
        page.wait_for_timeout(3 * DELAY_MS)
        wait_idle(page)
        expect(page).to_have_url(re.compile(r"\bmbs=7\b"))
        expect(box).to_have_value("7")
