"""The live chart in a real browser: the picture follows the hand, the server hears of it once."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from core.charts.theme import PALETTE, PATTERN
from tests.e2e.server import ROOT, running_server, wait_idle

DEMO = Path(__file__).parent / "apps" / "live_demo"
OpenDemo = Callable[..., Page]


@pytest.fixture(scope="module")
def live_demo_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo app, served from a copy, since it fills its static folder, with the configuration of the real app."""
    folder = tmp_path_factory.mktemp("live") / "demo"
    shutil.copytree(DEMO, folder)
    shutil.copytree(ROOT / ".streamlit", folder / ".streamlit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        with running_server(folder / "app.py") as server:
            yield server.url
            assert "Traceback" not in server.log(), server.log()


@pytest.fixture
def demo(browser: Browser, live_demo_url: str) -> Iterator[OpenDemo]:
    faults: list[str] = []
    pages: list[Page] = []

    def open_demo(
        path: str = "/", *, drawn: bool = True, before: Callable[[Page], object] | None = None, **options: object
    ) -> Page:
        context = browser.new_context(base_url=live_demo_url, **options)  # type: ignore[arg-type]
        page = context.new_page()
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: faults.extend([request.url] if foreign(request.url) else []))
        if before:
            before(page)
        page.goto(path)
        wait_idle(page)
        if drawn:
            expect(page.locator(".live")).to_have_attribute("aria-busy", "false")
            page.locator(".js-plotly-plot").evaluate("plot => { plot.dataset.mark = 'first'; }")
        return page

    yield open_demo
    for page in pages:
        assert page.get_by_test_id("stException").count() == 0
        page.context.close()
    assert not faults, "\n".join(faults)


def foreign(url: str) -> bool:
    return url.startswith("http") and not url.startswith("http://127.0.0.1:")


def slider(page: Page) -> Locator:
    return page.locator(".live-range")


def readout(page: Page, at: int = 0) -> Locator:
    return page.locator(".live-value").nth(at)


def runs(page: Page) -> int:
    wait_idle(page)
    return int(page.get_by_text(re.compile(r"^runs \d+$")).inner_text().split()[1])


def expect_same_node(page: Page) -> None:
    expect(page.locator(".js-plotly-plot")).to_have_attribute("data-mark", "first")


def grip(page: Page, position: int) -> tuple[float, float]:
    """Where the middle of the thumb (20 px wide) is at a position."""
    box = slider(page).bounding_box()
    assert box
    last = int(slider(page).get_attribute("max") or 0)
    return box["x"] + 10 + (box["width"] - 20) * position / last, box["y"] + box["height"] / 2


def drag(page: Page, *positions: int, release: bool = True) -> None:
    page.mouse.move(*grip(page, int(slider(page).input_value())))
    page.mouse.down()
    for position in positions:
        page.mouse.move(*grip(page, position), steps=4)
    if release:
        page.mouse.up()


def drawn_x(page: Page, trace: int, point: int) -> float:
    return float(page.locator(".js-plotly-plot").evaluate(f"plot => plot.data[{trace}].x[{point}]"))


def test_a_drag_redraws_at_once_and_reruns_once_on_release(demo):
    page = demo()
    assert runs(page) == 1
    expect(readout(page)).to_have_text("17.5 GB")
    drag(page, 3, 8, release=False)
    expect(readout(page)).to_have_text("4.4 GB")
    expect(readout(page, 1)).to_have_text("75.6 GB")
    expect(page.locator(".live-position")).to_have_text("256")
    page.wait_for_function("() => Math.abs(document.querySelector('.js-plotly-plot').data[0].x[3] - 140 / 256) < 1e-4")
    assert runs(page) == 1, "nothing is sent while the hand moves"
    page.mouse.up()
    expect(page.get_by_text("committed 8")).to_be_visible()
    assert runs(page) == 2
    expect(page.get_by_text("commits [8]")).to_be_visible()
    expect(readout(page)).to_have_text("4.4 GB")
    expect_same_node(page)


def test_one_drawing_per_animation_frame(demo):
    page = demo("/lines")
    drag(page, 20, release=False)
    page.evaluate("window.__frames = []")
    moved = page.evaluate(
        """async () => {
            const range = document.querySelector('.live-range');
            for (let i = 30; i <= 89; i++) { range.value = i; range.dispatchEvent(new Event('input')); }
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            return [window.__frames.length, document.querySelector('.live-position').textContent];
        }"""
    )
    page.mouse.up()
    assert moved == [1, "90 requests"]


def test_the_keyboard_moves_it(demo):
    page = demo()
    slider(page).focus()
    keys = {"ArrowRight": "128", "Home": "1", "End": "1,024", "PageDown": "512", "ArrowLeft": "256", "ArrowUp": "512"}
    for key, shown in keys.items():
        page.keyboard.press(key)
        expect(slider(page)).to_have_attribute("aria-valuetext", shown)
        expect(page.locator(".live-position")).to_have_text(shown)
    expect(page.get_by_text("committed 9")).to_be_visible()
    expect_same_node(page)


def test_a_held_key_redraws_and_commits_once(demo):
    page = demo()
    slider(page).focus()
    for left in range(5, -1, -1):  # the system repeats the press of a held key, without a release
        page.keyboard.down("ArrowLeft")
        expect(page.locator(".live-position")).to_have_text(str(2**left))
    page.wait_for_timeout(500)
    assert runs(page) == 1
    page.keyboard.up("ArrowLeft")
    expect(page.get_by_text("commits [0]")).to_be_visible()
    assert runs(page) == 2


def test_the_slider_is_known_to_assistive_technology(demo):
    page = demo()
    named = page.get_by_role("slider", name="GPUs")
    expect(named).to_have_attribute("aria-valuetext", "64")
    expect(page.get_by_role("img", name="With 64 GPUs stage 3 leaves 17.5 GB on each.")).to_be_visible()
    named.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("img", name="With 32 GPUs stage 3 leaves 35.0 GB on each.")).to_be_visible()
    expect(page.locator(".live-spoken")).to_have_text(re.compile(r"stage 3 leaves, per GPU: 35\.0 GB\. room"))


def test_focus_can_be_seen(demo):
    page = demo()
    box = page.locator(".live-control").bounding_box()
    before = page.screenshot(clip=box)
    slider(page).focus()
    assert page.screenshot(clip=box) != before
    slider(page).blur()
    assert page.screenshot(clip=box) == before


def test_a_rerun_during_a_drag_leaves_the_thumb_in_the_hand(demo):
    page = demo()
    drag(page, 9, release=False)
    page.get_by_role("button", name="Rerun").evaluate("button => button.click()")
    assert runs(page) == 2
    assert slider(page).input_value() == "9"
    page.get_by_role("button", name="Reset").evaluate("button => button.click()")
    assert runs(page) == 3
    assert slider(page).input_value() == "9", "the hand wins"
    page.mouse.up()
    expect(page.get_by_text("committed 9")).to_be_visible()
    expect_same_node(page)


def test_python_can_move_it(demo):
    page = demo()
    drag(page, 9)
    expect(page.get_by_text("committed 9")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_text("committed 0")).to_be_visible()
    expect(slider(page)).to_have_value("0")
    expect(readout(page)).to_have_text("1,120 GB")
    drag(page, 9)
    expect(page.get_by_text("committed 9")).to_be_visible()  # the same position as before the reset
    expect_same_node(page)


def test_new_data_is_drawn_in_the_same_node_at_the_same_position(demo):
    page = demo()
    drag(page, 2)
    page.get_by_role("slider", name="Parameters in billions").focus()
    page.keyboard.press("Home")
    expect(readout(page)).to_have_text("40.0 GB")
    assert drawn_x(page, 2, 0) == pytest.approx(120)
    expect(slider(page)).to_have_value("2")
    expect_same_node(page)


def test_zoom_is_kept_through_drag_commit_and_rerun(demo):
    page = demo("/lines")
    box = page.locator(".js-plotly-plot .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 200, steps=5)
    page.mouse.up()
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')._fullLayout.yaxis.range[1] < 190")
    zoom = "plot => [...plot._fullLayout.xaxis.range, ...plot._fullLayout.yaxis.range]"
    zoomed = page.locator(".js-plotly-plot").evaluate(zoom)
    drag(page, 60)
    expect(page.get_by_text("committed 60")).to_be_visible()
    assert page.locator(".js-plotly-plot").evaluate(zoom) == pytest.approx(zoomed)
    page.locator(".js-plotly-plot .nsewdrag").dblclick()
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')._fullLayout.yaxis.range[1] === 200")


def test_a_theme_switch_recolours_in_place_without_a_rerun(demo):
    page = demo(color_scheme="light")
    fill = "() => getComputedStyle(document.querySelector('.js-plotly-plot .barlayer .point path')).fill"
    colour = "() => document.querySelector('.js-plotly-plot').data[0].marker.color"
    assert page.evaluate(colour) == PALETTE["light"]["weights"]
    before = page.evaluate(fill)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"({colour})() === '{PALETTE['dark']['weights']}'")
    assert page.evaluate(fill) != before
    text = page.evaluate("() => document.querySelector('.js-plotly-plot').layout.font.color")
    assert text.upper() == "#E8EDF4"
    assert runs(page) == 1
    expect_same_node(page)


def test_parts_carry_a_pattern_too(demo):
    page = demo()
    shapes = page.evaluate(
        "() => document.querySelector('.js-plotly-plot').data.map(t => t.marker?.pattern?.shape ?? '')"
    )
    assert shapes[:3] == ["", "/", "."]
    assert page.locator(".live-key li").all_inner_texts() == ["weights", "gradients", "optimizer"]


def test_a_deep_link_draws(demo):
    page = demo("/lines")
    expect(readout(page)).to_have_text("118.1 GB")


def test_the_position_is_found_again_after_another_page(demo):
    page = demo()
    drag(page, 4)
    expect(page.get_by_text("committed 4")).to_be_visible()
    page.get_by_role("link", name="Lines").click()
    expect(page.get_by_role("heading", name="KV cache")).to_be_visible()
    page.get_by_role("link", name="Bars").click()
    expect(page.get_by_text("committed 4")).to_be_visible()
    expect(slider(page)).to_have_value("4")
    expect(readout(page)).to_have_text("70.0 GB")


def test_nothing_jumps_while_plotly_loads(demo):
    held: list[Route] = []
    page = demo(drawn=False, before=lambda page: page.route("**/plotly-*", lambda route: held.append(route)))
    expect(readout(page)).to_have_text("17.5 GB")
    expect(page.locator(".live-skeleton")).to_be_visible()
    assert page.locator(".live-skeleton").evaluate("node => getComputedStyle(node).animationName") == "live-wait"
    waiting = page.locator(".live").bounding_box()
    held[0].continue_()
    expect(page.locator(".live")).to_have_attribute("aria-busy", "false")
    expect(page.locator(".live-skeleton")).to_be_hidden()
    assert page.locator(".live").bounding_box() == waiting


def test_nothing_moves_by_itself_when_reduced_motion_is_asked_for(demo):
    page = demo(drawn=False, reduced_motion="reduce", before=lambda page: page.route("**/plotly-*", lambda _: None))
    expect(page.locator(".live-skeleton")).to_be_visible()
    moving = "node => getComputedStyle(node).animationName + getComputedStyle(node).transitionDuration"
    assert page.locator(".live-skeleton").evaluate(moving) == "none0s"


def test_without_plotly_the_numbers_stand_in_a_table(demo):
    page = demo(drawn=False, before=lambda page: page.route("**/plotly-*", lambda route: route.abort()))
    expect(page.get_by_text("The picture could not be drawn")).to_be_visible()
    expect(page.get_by_role("row", name="no shard 140 140 840")).to_be_visible()
    slider(page).focus()
    page.keyboard.press("Home")
    expect(readout(page)).to_have_text("1,120 GB")
    expect(page.get_by_role("row", name="stage 3 140 140 840")).to_be_visible()
    page.unroute("**/plotly-*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    expect(page.get_by_text("The picture could not be drawn")).to_be_hidden()


def test_on_a_phone_the_numbers_follow_the_picture(demo):
    page = demo(viewport={"width": 390, "height": 844}, has_touch=True)
    picture, numbers = page.locator(".live-figure").bounding_box(), page.locator(".live-readouts").bounding_box()
    assert numbers["y"] >= picture["y"] + picture["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1200, "height": 844})
    page.wait_for_function(
        """() => { const plot = document.querySelector('.js-plotly-plot');
                   return plot.layout.width === plot.clientWidth && plot.clientWidth > 400; }"""
    )
    expect_same_node(page)


PART_COLOURS = ["weights", "optimizer", "activations"]


def test_one_trace_of_parts_follows_the_hand(demo):
    page = demo("/parts")
    labels = page.locator(".live-row-label")
    assert labels.all_inner_texts() == ["990 GB ✕", "163 GB ✕", "25.3 GB"]
    assert page.locator(".js-plotly-plot .barlayer .point").count() == 9
    drag(page, 8, release=False)
    expect(labels.nth(2)).to_have_text("13.8 GB")
    page.wait_for_function("() => Math.abs(document.querySelector('.js-plotly-plot').data[0].x[2] - 140 / 256) < 1e-4")
    starts = page.locator(".js-plotly-plot").evaluate("plot => [2, 5, 8].map(p => plot.data[0].base[p])")
    assert starts == pytest.approx([0, 140 / 256, 980 / 256])
    page.mouse.up()
    expect(page.get_by_text("committed 8")).to_be_visible()
    expect_same_node(page)


def test_each_part_has_its_colour_its_pattern_and_its_place_in_the_key(demo):
    page = demo("/parts", color_scheme="light")
    assert page.locator(".live-key li").all_inner_texts() == PART_COLOURS
    pattern = "() => document.querySelector('.js-plotly-plot').data[0].marker.pattern"
    worn = page.evaluate(pattern)
    assert worn["bgcolor"][::3] == [PALETTE["light"][role] for role in PART_COLOURS]
    assert worn["shape"][3::3] == [PATTERN[role] for role in PART_COLOURS[1:]]
    assert worn["fgcolor"][0] == worn["bgcolor"][0], "a solid part is a pattern in its own colour"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"({pattern})().bgcolor[0] === '{PALETTE['dark']['weights']}'")
    expect_same_node(page)


def test_pointing_at_a_part_names_it_with_its_whole_value(demo):
    page = demo("/parts")
    bar = page.locator(".js-plotly-plot .barlayer .point").nth(0).bounding_box()
    page.mouse.move(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    expect(page.locator(".hovertext")).to_have_text("weights: 140 GB")  # drawn up to 120


def test_the_limit_stands_at_its_value_with_its_name(demo):
    page = demo("/parts")
    expect(page.locator(".live-limit-name")).to_have_text("80.0 GB of memory")
    line, plot = page.locator(".live-limit").bounding_box(), page.locator(".live-figure").bounding_box()
    at = "plot => { const axis = plot._fullLayout.xaxis; return axis._offset + axis.d2p(80); }"
    assert line["x"] + 1 - plot["x"] == pytest.approx(page.locator(".js-plotly-plot").evaluate(at), abs=1)
    ground = page.locator(".js-plotly-plot .nsewdrag").bounding_box()
    assert (line["y"], line["height"]) == pytest.approx((ground["y"], ground["height"]), abs=1)


def test_a_bar_that_goes_on_past_the_axis_is_broken(demo):
    page = demo("/parts")
    cuts = page.locator(".live-cut")
    assert [cuts.nth(k).is_visible() for k in range(3)] == [True, True, False]
    slider(page).focus()
    page.keyboard.press("Home")
    expect(cuts.nth(2)).to_be_visible()
    expect(cuts.nth(0)).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_names_and_totals_of_rows_are_whole(demo, width):
    page = demo("/parts", viewport={"width": width, "height": 844})
    figure = page.locator(".live-figure").bounding_box()
    names = page.locator(".js-plotly-plot .yaxislayer-above text")
    assert names.count() == 3
    for name in names.all():
        assert name.bounding_box()["x"] >= figure["x"]
    slider(page).focus()
    page.keyboard.press("Home")
    expect(page.locator(".live-row-label").nth(2)).to_have_text("990 GB ✕")  # bold
    for label in page.locator(".live-row-label").all():
        box = label.bounding_box()
        assert box["x"] + box["width"] <= figure["x"] + figure["width"]
    top = page.locator(".js-plotly-plot .yaxislayer-above").get_by_text("nothing is sharded").bounding_box()
    total = page.locator(".live-row-label").first.bounding_box()
    assert total["y"] + total["height"] / 2 == pytest.approx(top["y"] + top["height"] / 2, abs=4)


def test_parts_stand_in_the_table_too(demo):
    page = demo("/parts", drawn=False, before=lambda page: page.route("**/plotly-*", lambda route: route.abort()))
    expect(page.get_by_text("The picture could not be drawn")).to_be_visible()
    assert page.locator(".live-table tr").first.locator("th").all_inner_texts()[1:] == PART_COLOURS
    expect(page.get_by_role("row", name="nothing is sharded 140 840 10")).to_be_visible()


def test_a_limit_follows_the_axis_when_it_is_zoomed(demo):
    page = demo("/lines")
    name, line = page.locator(".live-limit-name"), page.locator(".live-limit")
    before = line.bounding_box()
    expect(name).to_have_text("80 GB of memory")
    box = page.locator(".js-plotly-plot .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 100, before["y"] - 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, before["y"] + 30, steps=5)
    page.mouse.up()
    page.wait_for_function(
        f"() => Math.abs(document.querySelector('.live-limit').getBoundingClientRect().top - {before['y']}) > 20"
    )
    at = "plot => { const axis = plot._fullLayout.yaxis; return axis._offset + axis.d2p(80); }"
    top = page.locator(".live-figure").bounding_box()["y"]
    assert line.bounding_box()["y"] + 1 - top == pytest.approx(page.locator(".js-plotly-plot").evaluate(at), abs=1)


def test_a_dot_follows_the_hand_while_the_picture_stands(demo):
    page = demo("/dots", color_scheme="light")
    plot, dot = page.locator(".js-plotly-plot"), page.locator(".live-mark")
    plot.evaluate("plot => { window.drawn = 0; plot.on('plotly_afterplot', () => window.drawn++); }")
    drag(page, 49, release=False)
    expect(page.locator(".live-point-label")).to_have_text("2,500")
    at = "plot => ['x', 'y'].map((name, k) => { const axis = plot._fullLayout[name + 'axis'];"
    there = plot.evaluate(f"{at} return axis._offset + axis.d2p([50, 2500][k]); }})")
    box, figure = dot.bounding_box(), page.locator(".live-figure").bounding_box()
    middle = box["x"] + box["width"] / 2 - figure["x"], box["y"] + box["height"] / 2 - figure["y"]
    assert middle == pytest.approx(there, abs=1)
    page.mouse.up()
    expect(page.get_by_text("committed 49")).to_be_visible()
    assert page.evaluate("window.drawn") == 0
    colour = "() => getComputedStyle(document.querySelector('.live-mark')).backgroundColor"
    before = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"({colour})() !== '{before}'")
    expect_same_node(page)


@pytest.mark.parametrize("width", [390, 1280])
def test_names_of_limits_stand_apart_and_inside(demo, width):
    page = demo("/dots", viewport={"width": width, "height": 844})
    figure = page.locator(".live-figure").bounding_box()
    first, second = (name.bounding_box() for name in page.locator(".live-limit-name").all())
    assert first["x"] >= figure["x"]
    assert first["x"] + first["width"] < second["x"]
    assert second["x"] + second["width"] <= figure["x"] + figure["width"] + 1  # widths are rounded
    assert first["y"] >= figure["y"]
