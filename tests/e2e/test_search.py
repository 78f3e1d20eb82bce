"""Search in a real browser: type, press Enter, follow a result with the scenario kept."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def test_a_result_leads_to_its_page_and_the_scenario_stays(app: OpenPage):
    page = app("/search?batch=8")
    box = page.get_by_role("textbox", name="Find a page, a term or a number")
    box.fill("model states")
    box.press("Enter")
    wait_idle(page)
    page.get_by_role("link", name="Model states", exact=True).click()
    expect(page).to_have_url(re.compile(r"/partition\?.*batch=8"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_anybody_s_way(app: OpenPage, scheme: str):
    page = app("/search", color_scheme=scheme)
    assert violations(page) == []
    box = page.get_by_role("textbox", name="Find a page, a term or a number")
    box.fill("ring")
    box.press("Enter")
    wait_idle(page)
    assert violations(page) == []


def test_a_phone_never_scrolls_sideways(app: OpenPage):
    page = app("/search", **PHONE)
    page.get_by_role("textbox").fill("h100")
    page.get_by_role("textbox").press("Enter")
    wait_idle(page)
    expect(page.get_by_text("numbers of the cheat sheet")).to_be_visible()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
