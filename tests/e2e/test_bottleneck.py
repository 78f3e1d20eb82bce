"""Step 1 in a real browser: the walk, points that move with the hand, links, a phone, and what axe finds."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from core.bottleneck import BATCH, place
from core.display import digits
from core.presets import load_presets
from core.scenario import changed
from core.scenario_link import default_scenario, to_address
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle
from tests.e2e.test_home import PHONE, frames_sent, scrolls_sideways

START = default_scenario()
SEEN_BEFORE = {
    "cookies": [
        {"name": "ridgepoint_settings", "value": "unit=GB&predictions=off", "domain": "127.0.0.1", "path": "/"}
        | {"expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax"}
    ]
}
OpenResults = Callable[..., Page]


@pytest.fixture
def results(app: OpenPage) -> OpenResults:
    """Opens the page for a reader who has switched predictions off, and waits until the charts are drawn."""

    def open_page(query: str = "", **options: object) -> Page:
        page = app(f"/bottleneck{query}", storage_state=SEEN_BEFORE, **options)
        for key in ("roofline", "counts"):
            expect(page.locator(f".st-key-bottleneck-{key} .live")).to_have_attribute(
                "aria-busy", "false", timeout=30_000
            )
        return page

    return open_page


def chart(page: Page, key: str = "roofline") -> Locator:
    return page.locator(f".st-key-bottleneck-{key}")


def readout(page: Page, row: int = 0, key: str = "roofline") -> Locator:
    return chart(page, key).locator(".live-value").nth(row)


def slider(page: Page, key: str = "roofline") -> Locator:
    return chart(page, key).locator(".live-range")


def intensity_at(batch: int) -> str:
    placed = place(START, "decode")
    return digits(placed.headline(placed.positions.index(batch)).intensity)


def test_the_walk_from_question_to_what_to_say(app: OpenPage):
    page = app("/bottleneck")
    expect(page.get_by_text("How many FLOP for each byte does it make?")).to_be_visible()
    expect(page.locator(".live")).to_have_count(0)
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("Which limit binds", exact=True)).to_be_visible()
    expect(readout(page)).to_have_text("31.7")
    expect(page.get_by_text("What is its HFU?")).to_be_visible()
    page.get_by_role("button", name="Commit").click()
    expect(readout(page, 0, "counts")).to_have_text("35.0%")
    expect(page.get_by_text("I ask which of four limits binds", exact=False)).to_be_visible()
    expect(page.get_by_role("heading", name="The fix and its price")).to_be_visible()


def test_points_follow_the_hand_and_one_run_follows_at_release(results: OpenResults):
    page = results()
    sent = frames_sent(page)
    page.reload()
    expect(chart(page).locator(".live")).to_have_attribute("aria-busy", "false", timeout=30_000)
    wait_idle(page)
    range_ = slider(page)
    range_.scroll_into_view_if_needed()
    box = range_.bounding_box()
    assert box is not None
    y, last = box["y"] + box["height"] / 2, len(BATCH) - 1
    start = BATCH.index(32) / last
    before = len(sent)
    page.mouse.move(box["x"] + 10 + (box["width"] - 20) * start, y)
    page.mouse.down()
    seen = set()
    for step in range(1, 9):
        page.mouse.move(box["x"] + 10 + (box["width"] - 20) * (start + (1 - start) * step / 8), y)
        page.wait_for_timeout(60)
        seen.add(readout(page).inner_text())
    assert len(seen) >= 5
    assert len(sent) == before
    page.mouse.up()
    wait_idle(page)
    assert len(sent) > before
    expect(readout(page)).to_have_text(intensity_at(BATCH[-1]))
    expect(page).to_have_url(re.compile("4096"))


def test_labels_of_operators_come_back_when_points_lie_together_again(results: OpenResults):
    page = results()
    label = chart(page).locator(".live-point-label:visible", has_text="5 matrix products")
    expect(label).to_have_count(1)
    slider(page).focus()
    for key in ("End", "Home"):
        page.keyboard.press(key)
        wait_idle(page)
    target = BATCH.index(32)
    for _ in range(target):
        page.keyboard.press("ArrowRight")
    wait_idle(page)
    expect(readout(page)).to_have_text("31.7")
    expect(label).to_have_count(1)


def test_each_pass_has_its_picture(results: OpenResults):
    page = results()
    for name, noun in (("prefill", "Sequence"), ("training", "Sequence"), ("decode", "Requests")):
        page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name, exact=True)).first.click()
        wait_idle(page)
        expect(chart(page).locator(".live-label")).to_have_text(noun)
        expect(chart(page).locator(".js-plotly-plot")).to_be_visible()


def test_a_link_reopens_the_scenario(results: OpenResults):
    address = to_address(changed(START, batch=256))
    query = "?" + "&".join(f"{key}={value}" for key, value in address.items())
    page = results(query)
    expect(readout(page)).to_have_text(intensity_at(256))


def test_the_puzzle_opens_from_the_presets_of_home(app: OpenPage):
    page = app("/bottleneck", storage_state=SEEN_BEFORE)
    page.get_by_role("button", name="Presets").click()
    page.get_by_role("button", name=load_presets()["mfu-35-hfu-62"].title).click()
    wait_idle(page)
    expect(readout(page, 2, "counts")).to_have_text("62.0%")
    expect(chart(page, "counts").get_by_text("causal attention, all recomputed comes near").first).to_be_visible()


def test_a_share_that_is_none_is_refused_and_mended(results: OpenResults):
    page = results()
    box = page.get_by_role("spinbutton", name="MFU, %")
    for value, refused in (("140", True), ("1e30", True), ("41", False)):
        box.fill(value)
        box.press("Enter")
        wait_idle(page)
        expect(page.get_by_text("a share of the dense peak lies above 0")).to_have_count(1 if refused else 0)
    expect(readout(page, 0, "counts")).to_have_text("41.0%")


@pytest.mark.parametrize("query", ["", "?gpu=apple-m3-ultra", "?model=deepseek-ai/DeepSeek-V3"])
def test_a_phone_reads_it_without_scrolling_sideways(results: OpenResults, query: str):
    page = results(query, **PHONE)
    assert not scrolls_sideways(page)


def test_axe_finds_nothing(results: OpenResults):
    page = results()
    assert violations(page) == []
