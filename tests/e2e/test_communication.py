"""Step 3 in a real browser: the walk, both sliders, the link, a phone, and rules of accessibility."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from core.communication import headline_of, over_gpus
from core.display import show_bytes, show_seconds
from core.scenario import changed
from core.scenario_link import default_scenario
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle
from tests.e2e.test_home import PHONE, frames_sent, scrolls_sideways
from tests.e2e.test_partition import SEEN_BEFORE

START = default_scenario()
SPLIT = "?dp=4&tp=8&pp=8&zero=1&mb=32"
SPLIT_RUN = changed(START, tensor_parallel=8, pipeline_parallel=8, data_parallel=4, num_micro_batches=32, zero_stage=1)

OpenResults = Callable[..., Page]


@pytest.fixture
def results(app: OpenPage) -> OpenResults:
    """Opens the page for a reader who has switched predictions off, and waits until all is drawn."""

    def open_page(query: str = "", **options: object) -> Page:
        page = app(f"/communication{query}", storage_state=SEEN_BEFORE, **options)
        wait_drawn(page)
        return page

    return open_page


def wait_drawn(page: Page) -> None:
    for key in ("axes", "scaling"):
        expect(page.locator(f".st-key-communication-{key} .live")).to_have_attribute(
            "aria-busy", "false", timeout=30_000
        )
    expect(page.locator(".pipe-figure svg")).to_be_visible()
    wait_idle(page)


def readout(page: Page, row: int = 0) -> Locator:
    return page.locator(".st-key-communication-axes .live-value").nth(row)


def idle(page: Page) -> Locator:
    return page.locator(".pipe-value").first


def drag(page: Page, slider: Locator, start: int, end: int, count: int) -> None:
    """Take the thumb from one position to another, and hold it there."""
    slider.scroll_into_view_if_needed()
    bounds = slider.bounding_box()
    assert bounds is not None
    travel = (bounds["width"] - 20) / (count - 1)  # the thumb is 20 px wide
    middle = bounds["y"] + bounds["height"] / 2
    page.mouse.move(bounds["x"] + 10 + travel * start, middle)
    page.mouse.down()
    page.mouse.move(bounds["x"] + 10 + travel * end, middle, steps=8)


def test_the_walk_through_both_questions(app: OpenPage):
    page = app("/communication")
    expect(page.get_by_role("heading", name="Cut communication")).to_be_visible()
    expect(page.locator(".live")).to_have_count(0)
    expect(page.locator(".pipe")).to_have_count(0)
    page.get_by_role("slider", name="Your guess").press("ArrowRight")
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("1.14 x")).to_be_visible()
    expect(readout(page, 2)).to_have_text(show_bytes(headline_of(START).sent_bytes))
    expect(page.locator(".pipe")).to_have_count(0)
    page.get_by_role("button", name="I do not know").click()
    wait_drawn(page)
    expect(idle(page)).to_have_text("17.9%")
    expect(page.get_by_text("There is no pipeline, so no bubble.")).to_be_visible()


def test_a_drag_over_gpus_is_followed_at_once_and_reruns_once_at_its_end(results: OpenResults):
    page = results(SPLIT)
    sent = frames_sent(page)
    page.reload()
    wait_drawn(page)
    frames = len(sent)
    sweep = over_gpus(SPLIT_RUN)
    start, end = sweep.data_parallel.index(4), sweep.data_parallel.index(32)
    slider = page.locator(".st-key-communication-axes .live-range")
    drag(page, slider, start, end, len(sweep.data_parallel))
    wanted = headline_of(changed(SPLIT_RUN, data_parallel=32))
    expect(readout(page)).to_have_text(show_seconds(wanted.exposed_s or 0.0))
    assert len(sent) == frames, "nothing is sent while the hand moves"
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"\?dp=32&"))
    wait_idle(page)
    assert len(sent) == frames + 1
    expect(page.get_by_text("on 2,048 x")).to_be_visible()
    expect(page.locator(".st-key-communication-ranks .dia-figure")).to_have_attribute(
        "aria-label", re.compile("^2,048 GPUs on 256 nodes")
    )


def test_a_drag_over_micro_batches_is_followed_at_once_and_changes_the_scenario(results: OpenResults):
    page = results(SPLIT)
    sent = frames_sent(page)
    page.reload()
    wait_drawn(page)
    frames = len(sent)
    slider = page.locator(".pipe-range")
    positions = int(slider.get_attribute("max") or 0) + 1
    drag(page, slider, 9, 11, positions)  # 32 to 64 micro-batches
    expect(slider).to_have_attribute("aria-valuetext", "64 micro-batches")
    expect(idle(page)).to_have_text("9.86%")  # 7 / 71
    assert len(sent) == frames, "nothing is sent while the hand moves"
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"mb=64"))
    wait_idle(page)
    assert len(sent) == frames + 1
    expect(page.get_by_text("8 stages with 64 micro-batches idle for 9.86%")).to_be_visible()
    slider.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"mb=48"))
    expect(slider).to_be_focused()


def test_the_example_of_a_pipeline_leaves_the_address_alone(results: OpenResults):
    page = results()
    page.locator(".pipe-range").press("ArrowRight")
    expect(idle(page)).to_have_text("12.7%")  # 7 / 55
    page.wait_for_timeout(500)
    wait_idle(page)
    assert page.url.endswith("/communication")
    expect(idle(page)).to_have_text("12.7%")
    expect(page.locator(".pipe-range")).to_have_attribute("aria-valuetext", "48 micro-batches")


def test_schedules_and_their_drawings(results: OpenResults):
    page = results(SPLIT)
    for name, share, passes in (("GPipe", "17.9%", 2), ("interleaved", "9.86%", 2), ("zero-bubble", "6.80%", 3)):
        page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name)).first.click()
        expect(idle(page)).to_have_text(share)
        expect(page.locator(".pipe-figure .pipe-pass")).to_have_count(passes)


def test_a_copied_address_shows_the_same_numbers(results: OpenResults):
    first, second = results(SPLIT), results(SPLIT)
    assert first.locator(".live-value").all_inner_texts() == second.locator(".live-value").all_inner_texts()
    expect(readout(first)).to_have_text(show_seconds(headline_of(SPLIT_RUN).exposed_s or 0.0))
    expect(idle(first)).to_have_text("17.9%")


def test_a_phone_shows_everything_without_scrolling_sideways(results: OpenResults):
    page = results(SPLIT, **PHONE)
    assert not scrolls_sideways(page)
    svg = page.locator(".st-key-communication-who .dia-figure svg")
    size = svg.bounding_box()
    assert size is not None
    assert size["width"] <= 390
    assert size["height"] > 600, "one panel below the other"


def test_the_page_keeps_the_rules_of_accessibility(results: OpenResults):
    page = results(SPLIT)
    assert violations(page) == []
    for key in ("who", "ranks"):
        expect(page.locator(f".st-key-communication-{key} [role=img]")).to_have_attribute(
            "aria-label", re.compile(r"\.$")
        )
    expect(page.locator(".pipe-figure")).to_have_attribute("aria-label", re.compile("17.9% of the step"))


def test_a_slider_that_first_meets_a_refusal_says_it_and_the_charts_stay(results: OpenResults):
    page = results()
    expect(page.get_by_text("It would not run")).to_have_count(0)
    page.locator(".st-key-communication-axes .live-range").press("Home")
    expect(page.get_by_text("It would not run").locator("visible=true").first).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
