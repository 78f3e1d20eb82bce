"""Home and Settings in a real browser: two clicks to the first surprise, a picture that follows the hand."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from core.charts.theme import PALETTE
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle
from views._ui.registry import STEPS

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def commit(page: Page) -> None:
    page.get_by_role("button", name="Commit").click()
    expect(page.locator(".kv-size")).to_have_text("42.95 GB")
    wait_idle(page)


def cache_width(page: Page) -> float:
    """Pixels of KV cache drawn, over all GPUs."""
    return page.locator(".kv-figure").evaluate(
        "figure => [...figure.querySelectorAll('rect.kv-cache')].reduce((sum, r) => sum + r.width.baseVal.value, 0)"
    )


def frames_sent(page: Page) -> list[object]:
    """Fills with what this page sends to the server from its next load on."""
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    return sent


def scrolls_sideways(page: Page) -> bool:
    return page.evaluate(
        "() => [document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".some(box => box.scrollWidth > box.clientWidth)"
    )


def test_two_clicks_lead_to_the_truth(app: OpenPage):
    page = app("/")
    expect(page.locator(".kv")).to_have_count(0)
    page.get_by_role("slider", name="Your guess").locator("visible=true").first.click(force=True)
    commit(page)
    expect(page.get_by_text("327,680 bytes a token")).to_be_visible()
    expect(page.locator(".kv-guess")).to_have_count(1)


def test_the_guess_can_be_made_with_the_keyboard_alone(app: OpenPage):
    page = app("/")
    page.get_by_role("slider", name="Your guess").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Commit").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("110 GB", exact=True)).to_be_visible()


def test_the_picture_follows_the_hand_and_the_server_hears_nothing(app: OpenPage):
    page = app("/")
    sent = frames_sent(page)
    page.reload()
    wait_idle(page)
    commit(page)
    before, frames = cache_width(page), len(sent)
    assert frames, "the counter of frames works"
    slider = page.locator(".kv-range")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.06 * box["width"], middle)
    page.mouse.down()
    widths = [before]
    for share in (0.2, 0.35, 0.5):
        page.mouse.move(box["x"] + share * box["width"], middle, steps=4)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        widths.append(cache_width(page))
    assert widths == sorted(widths)
    assert len(set(widths)) == len(widths), "it grew while the button was down"
    page.mouse.up()
    page.wait_for_timeout(300)
    assert len(sent) == frames


def test_the_end_of_the_slider_says_that_requests_wait(app: OpenPage):
    page = app("/")
    commit(page)
    slider = page.get_by_role("slider", name="Context of each request")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "65,536 tokens")
    expect(page.locator(".kv-note")).to_have_text("7 of the 32 wait")
    expect(page.locator(".kv-beyond")).to_have_count(2)
    expect(page.get_by_role("img", name=re.compile("65,536 tokens a request: 687.2 GB"))).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="7 of the 32 wait")).to_have_count(1)
    slider.press("Home")
    expect(page.locator(".kv-beyond")).to_have_count(0)


def test_home_asks_for_no_plotly_file(app: OpenPage):
    page = app("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    wait_idle(page)
    commit(page)
    assert asked
    assert [url for url in asked if "plotly" in url.lower()] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_parts_wear_the_colours_of_the_theme(app: OpenPage, scheme: str):
    page = app("/", color_scheme=scheme)
    commit(page)
    for part, role in (("weights", "weights"), ("cache", "kv")):
        fill = page.locator(f"rect.kv-{part}").first.evaluate("rect => getComputedStyle(rect).fill")
        red, green, blue = (int(number) for number in re.findall(r"\d+", fill)[:3])
        assert f"#{red:02X}{green:02X}{blue:02X}" == PALETTE[scheme][role]


def test_a_change_of_theme_leaves_the_slider_where_it_is(app: OpenPage):
    page = app("/")
    commit(page)
    page.locator(".kv-range").press("End")
    page.emulate_media(color_scheme="dark")
    wait_idle(page)
    expect(page.locator(".kv-position")).to_have_text("65,536 tokens")


def test_nothing_moves_by_itself(app: OpenPage):
    page = app("/", reduced_motion="reduce")
    commit(page)
    assert page.locator(".kv").evaluate("root => root.getAnimations({ subtree: true }).length") == 0


def test_a_phone_never_scrolls_sideways(app: OpenPage):
    page = app("/", **PHONE)
    assert not scrolls_sideways(page)
    commit(page)
    assert not scrolls_sideways(page)
    page.locator(".kv-range").press("End")
    assert not scrolls_sideways(page)
    expect(page.locator(".kv-beyond")).to_have_count(2)
    edges = page.locator(".kv-figure").evaluate(
        "figure => [...figure.querySelectorAll('text')].map(text => text.getBoundingClientRect())"
        ".map(box => [box.left, box.right])"
    )
    assert len(edges) == 4, "weights, cache, full, guess"
    assert all(0 <= left < right <= 390 for left, right in edges)


def test_a_scenario_opens_its_page(app: OpenPage):
    page = app("/")
    page.get_by_role("button", name="An 8B on one 24 GB consumer card").click()
    expect(page).to_have_url(re.compile(r"/partition\?.*model=meta-llama"))


def test_the_strip_leads_to_every_step_that_exists(app: OpenPage):
    page = app("/")
    paths = [step.url_path for step in STEPS if step.url_path]
    links = page.get_by_role("link", name="Open")
    expect(links).to_have_count(len(paths))
    for number, path in enumerate(paths):
        links.nth(number).click()
        expect(page).to_have_url(re.compile(f"/{path}"))
        page.go_back()
        wait_idle(page)


def test_a_fix_is_applied_and_measured_again(app: OpenPage):
    page = app("/")
    expect(page.get_by_text("Serving: memory bandwidth binds")).to_have_count(0)
    commit(page)
    expect(page.get_by_text("Serving: memory bandwidth binds")).to_be_visible()
    page.get_by_role("button", name="Apply it, and measure again").last.click()
    expect(page.get_by_text("concurrent requests 128")).to_be_visible()
    expect(page).to_have_url(re.compile("batch=64"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_anybody_s_way(app: OpenPage, scheme: str):
    page = app("/", color_scheme=scheme)
    commit(page)
    assert violations(page) == []


def test_settings_survive_a_reload(app: OpenPage):
    page = app("/settings")
    page.get_by_role("radio", name="GiB").or_(page.get_by_role("button", name="GiB")).first.click()
    wait_idle(page)
    page.get_by_text("Ask me before a result is shown").click()
    wait_idle(page)
    page.goto("/")
    wait_idle(page)
    expect(page.locator(".kv-size")).to_have_text("40 GiB")
    expect(page.get_by_role("button", name="Commit")).to_have_count(0)


def test_a_long_name_of_ones_own_scenario_is_not_cut_on_a_phone(app: OpenPage):
    page = app("/?model=nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16&gpu=rtx-pro-6000-workstation&stp=2", **PHONE)
    cut = "link => [...link.querySelectorAll('*')].some(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)"
    for link in page.get_by_test_id("stPageLink").all():
        assert not link.evaluate(cut), link.inner_text()
    expect(page.get_by_text("on 64 x RTX PRO 6000 Blackwell Workstation")).to_be_visible()
    assert not scrolls_sideways(page)
