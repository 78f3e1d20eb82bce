"""Step 5 in a real browser: the walk, the slider under the hand, the address, the diagram, a phone, axe."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle
from tests.e2e.test_home import frames_sent, scrolls_sideways

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def with_results(app: OpenPage, path: str = "/batch", **options: object) -> Page:
    """The page with its answers shown and its charts drawn."""
    page = app(path, **options)
    page.get_by_role("button", name="Skip all from now on").click()
    wait_idle(page)
    drawn(page, "throughput")
    drawn(page, "cache")
    return page


def drawn(page: Page, chart: str) -> None:
    live = page.locator(f".st-key-batch-{chart} .live")
    live.scroll_into_view_if_needed()
    expect(live).to_have_attribute("aria-busy", "false")


def slider(page: Page, chart: str):
    return page.locator(f'.st-key-batch-{chart} input[type="range"]')


def test_the_walk_through_both_questions(app: OpenPage):
    page = app("/batch")
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
    page.get_by_role("button", name="I do not know").click()
    expect(page.get_by_text("24.7 x", exact=True)).to_be_visible()
    drawn(page, "throughput")
    expect(page.locator(".st-key-batch-cache")).to_have_count(0)
    page.get_by_role("button", name="I do not know").click()
    expect(page.get_by_text("246 requests", exact=True)).to_be_visible()
    drawn(page, "cache")
    expect(page.get_by_role("heading", name="Say it")).to_be_visible()


def test_the_chart_follows_the_hand_and_one_rerun_follows_the_release(app: OpenPage):
    page = app("/batch")
    sent = frames_sent(page)
    page.reload()
    page.get_by_role("button", name="Skip all from now on").click()
    wait_idle(page)
    drawn(page, "throughput")
    control = slider(page, "throughput")
    box = control.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    before, texts = len(sent), []
    page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    page.mouse.down()
    for share in (0.4, 0.6, 0.8):
        page.mouse.move(box["x"] + share * box["width"], middle, steps=3)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        texts.append(page.locator(".st-key-batch-throughput .live-value").nth(1).inner_text())
    assert len(set(texts)) == 3, "the readout moved with the hand"
    assert len(sent) == before, "and the server heard nothing"
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"batch=\d{3,4}"))
    wait_idle(page)
    assert len(sent) == before + 1


def test_a_link_reopens_the_deployment(app: OpenPage):
    page = with_results(app, "/batch?model=openai/gpt-3-175b&gpu=a100-sxm-80gb&ctx=2048&batch=16")
    expect(slider(page, "throughput")).to_have_attribute("aria-valuetext", "16 requests")
    expect(slider(page, "cache")).to_have_attribute("aria-valuetext", "2,048 tokens")
    slider(page, "cache").press("ArrowRight")
    expect(page).to_have_url(re.compile("ctx=2176"))


def test_the_diagram_stands_still_steps_and_can_be_paused(app: OpenPage):
    page = with_results(app)
    step = page.locator(".paged-step")
    page.locator(".paged").scroll_into_view_if_needed()
    expect(step).to_have_text("step 1 of 18")
    page.wait_for_timeout(1500)
    expect(step).to_have_text("step 1 of 18")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(step).to_have_text("step 2 of 18")
    expect(page.get_by_role("img", name=re.compile("Step 2: .*B comes with 3 tokens"))).to_be_visible()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(step).to_have_text("step 3 of 18")
    page.get_by_role("button", name="Pause", exact=True).press("Enter")
    at = step.inner_text()
    page.wait_for_timeout(1500)
    expect(step).to_have_text(at)
    page.get_by_role("button", name="Start over", exact=True).click()
    expect(step).to_have_text("step 1 of 18")


def test_a_lever_opens_by_its_tab(app: OpenPage):
    page = with_results(app)
    page.get_by_role("tab", name="Speculation").click()
    wait_idle(page)
    drawn(page, "speculation")
    slider(page, "speculation").press("End")
    expect(slider(page, "speculation")).to_have_attribute("aria-valuetext", "12 tokens")


@pytest.mark.parametrize("tab", ["Paging", "Speculation"])
def test_a_phone_never_scrolls_sideways(app: OpenPage, tab: str):
    page = with_results(app, **PHONE)
    page.get_by_role("tab", name=tab).click()
    wait_idle(page)
    assert not scrolls_sideways(page)


def test_axe_finds_nothing(app: OpenPage):
    page = app("/batch")
    assert violations(page) == []
    page.get_by_role("button", name="Skip all from now on").click()
    wait_idle(page)
    drawn(page, "throughput")
    drawn(page, "cache")
    assert violations(page) == []


@pytest.mark.parametrize("path", ["/batch", "/bottleneck"])
def test_the_longest_position_of_a_slider_has_room_on_a_phone(app: OpenPage, path: str):
    page = app(f"{path}?batch=1000000&ctx=131072", **PHONE)
    page.get_by_role("button", name="Skip all from now on").click()
    wait_idle(page)
    live = page.locator(".live").first
    expect(live).to_have_attribute("aria-busy", "false")
    expect(live.locator(".live-position")).to_have_text("1,000,000 requests")
    assert not scrolls_sideways(page)
    reach = "e => [e.scrollWidth - e.clientWidth, e.getBoundingClientRect().right - window.innerWidth]"
    assert max(live.locator(".live-control").evaluate(reach)) <= 0
