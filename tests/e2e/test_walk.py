"""The walk that the product is named after: Home, the five steps and back, with one scenario, in every look."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle
from tests.e2e.test_home import PHONE, scrolls_sideways
from tests.e2e.test_partition import SEEN_BEFORE
from views._ui.registry import ENTRIES, STEPS

PRESET, MODEL = "DeepSeek-V3 on 2,048 H800", "DeepSeek-V3"
TITLES = {entry.url_path: entry.title for entry in ENTRIES}
LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "390px": PHONE}


def scenario_of(page: Page) -> dict[str, list[str]]:
    """What the address says of the scenario."""
    return parse_qs(urlsplit(page.url).query)


def follow(page: Page, title: str) -> None:
    """Follow a link of the navigation: on the bar, or on a phone in the panel behind its button."""
    menu = page.get_by_test_id("stExpandSidebarButton")
    in_panel = menu.is_visible()
    if in_panel:
        menu.click()
    link = page.get_by_test_id("stSidebarNavLink" if in_panel else "stTopNavLink")
    link.filter(has_text=title).first.click()
    wait_idle(page)
    if in_panel:
        page.get_by_role("button", name="Collapse sidebar").click()
        expect(menu).to_be_visible()


def go(page: Page, url_path: str) -> None:
    follow(page, TITLES[url_path])
    page.wait_for_url(f"**/{url_path}?**")
    wait_idle(page)


def shows_the_scenario(page: Page, url_path: str) -> None:
    """The step's head, the model in the bar above it, and its first chart, drawn."""
    number = next(step.number for step in STEPS if step.url_path == url_path)
    expect(page.get_by_text(f"Step {number} of {len(STEPS)}").first).to_be_visible()
    expect(page.get_by_text(MODEL).locator("visible=true").first).to_be_visible()
    expect(page.locator(".live").first).to_have_attribute("aria-busy", "false", timeout=30_000)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert not scrolls_sideways(page)


@pytest.mark.parametrize("look", LOOKS)
def test_home_five_steps_and_back_keep_one_scenario(app: OpenPage, look: str):
    page = app("/", storage_state=SEEN_BEFORE, **LOOKS[look])
    page.get_by_role("button", name=PRESET).click()
    page.wait_for_url("**/partition?**")
    wait_idle(page)
    scenario = scenario_of(page)
    assert scenario["model"]
    for step in STEPS:
        go(page, step.url_path or "")
        assert scenario_of(page) == scenario
        shows_the_scenario(page, step.url_path or "")
    for step in reversed(STEPS[:-1]):
        page.go_back()
        page.wait_for_url(f"**/{step.url_path}?**")
        wait_idle(page)
        assert scenario_of(page) == scenario
    shows_the_scenario(page, STEPS[0].url_path or "")
    follow(page, "Home")
    expect(page.get_by_role("heading", level=1)).to_contain_text("How would you optimize")
    expect(page.get_by_text("Carry on with yours")).to_be_visible()
    expect(page.get_by_text(f"{MODEL} on 2,048 x")).to_be_visible()
    expect(page.get_by_text("What binds").first).to_be_visible()
