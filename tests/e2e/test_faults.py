"""Spot the bug and Critique a claim in a real browser: the walk by keyboard, what axe finds, a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle

BUG = "/faults?card=b-reliability-data-save&seed=4"
CLAIM = "/claims?card=c-training-memory-zero1&seed=4"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def give_up(page: Page) -> None:
    page.get_by_role("button", name="I do not know").click()
    expect(page.get_by_text("Sources", exact=True)).to_be_visible()
    wait_idle(page)


def test_a_line_is_chosen_with_the_keyboard_and_both_runs_are_shown(app: OpenPage):
    page = app(BUG)
    expect(page.get_by_text("os.replace")).to_have_count(0)
    box = page.get_by_role("combobox", name="The line at fault")
    page.wait_for_timeout(500)  # the store's answer draws the page once more
    wait_idle(page)
    box.press_sequentially("checkpoint")
    expect(page.get_by_role("option").first).to_contain_text("checkpoint")
    box.press("Enter")
    expect(box).to_have_value(re.compile("checkpoint"))
    page.get_by_role("button", name="Commit").press("Enter")
    expect(page.get_by_text("You chose line 8.")).to_be_visible()
    expect(page.get_by_text("rank 0 reads back the weights of rank 1")).to_be_visible()
    expect(page.get_by_text("rank 0 reads back the weights of rank 0")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", [BUG, "/faults?card=b-attention-kernels-tiles&seed=4", CLAIM])
def test_axe_finds_nothing(app: OpenPage, path: str, scheme: str):
    page = app(path, color_scheme=scheme)
    assert violations(page) == []
    give_up(page)
    assert violations(page) == []


@pytest.mark.parametrize("path", [BUG, CLAIM])
def test_a_phone_never_scrolls_sideways(app: OpenPage, path: str):
    page = app(path, **PHONE)
    give_up(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
