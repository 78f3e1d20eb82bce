"""The cheat sheet in a real browser: on paper, on a phone, and for people who do not see it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.charts.theme import PALETTE
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
NUMBERS = ("2 + 2 + 12 = 16", "295 FLOP/B", "327,680 B", "34.4%", "1.969 x", "87.5%", "8.59 GB", "450 GB/s")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_prints_on_two_white_pages_at_most(app: OpenPage, scheme: str):
    page = app("/cheat-sheet", color_scheme=scheme)
    pdf = page.pdf(prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page[^s]", pdf)) <= 2
    page.emulate_media(media="print")
    for number in NUMBERS:
        expect(page.get_by_role("cell", name=number, exact=True).first).to_be_visible()
    ink = page.locator(".rp-sheet td").first.evaluate("cell => getComputedStyle(cell).color")
    paper = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert (ink, paper) == ("rgb(17, 17, 17)", "rgb(255, 255, 255)")


def test_a_phone_never_scrolls_sideways(app: OpenPage):
    page = app("/cheat-sheet", **PHONE)
    expect(page.locator(".rp-sheet")).to_be_visible()
    assert page.evaluate(
        "() => [document.documentElement, document.querySelector('[data-testid=stMain]'),"
        " ...document.querySelectorAll('.rp-sheet, .rp-sheet section')]"
        ".every(box => box.scrollWidth <= box.clientWidth)"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_anybody_s_way(app: OpenPage, scheme: str):
    assert violations(app("/cheat-sheet", color_scheme=scheme)) == []


def test_the_drawings_wear_the_theme_and_speak(app: OpenPage):
    page = app("/cheat-sheet", color_scheme="dark")
    pictures = page.get_by_role("img")
    expect(pictures.filter(has=page.locator("svg"))).to_have_count(3)
    expect(page.get_by_role("img", name=re.compile("Main memory .*holds 85.5 GB, moves 3.35 TB"))).to_have_count(1)
    bar = page.locator(".dia-figure rect[style*='weights']").first
    red, green, blue = (int(n) for n in re.findall(r"\d+", bar.evaluate("bar => getComputedStyle(bar).fill"))[:3])
    assert f"#{red:02X}{green:02X}{blue:02X}" == PALETTE["dark"]["weights"]


def test_a_phone_gets_drawings_of_its_own_with_letters_of_full_size(app: OpenPage):
    page = app("/cheat-sheet", **PHONE)
    expect(page.locator(".dia-figure svg")).to_have_count(3)
    assert {svg.get_attribute("width") for svg in page.locator(".dia-figure svg").all()} == {"344"}
    edges = page.locator(".dia-figure text").evaluate_all(
        "texts => texts.map(text => text.getBoundingClientRect()).map(box => [box.left, box.right, box.height])"
    )
    assert all(0 <= left < right <= 390 and height >= 13 for left, right, height in edges)
