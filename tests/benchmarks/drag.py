"""How long one drawing takes while a hand drags the slider inside a live chart, in Chromium, in milliseconds.

Both charts note the time of each drawing in `window.__frames`. They are dragged by turns in one browser.
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import plotly
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.server import launch_chromium, running_server, wait_idle

MOVES = 60  # in a drag from one end to the other
MOVE_MS = 16


@dataclass(frozen=True, slots=True)
class Drag:
    median_ms: float
    p95_ms: float
    draws: int
    steps: int  # positions that the hand passed
    same_node: bool  # the plot was never replaced


@dataclass(frozen=True, slots=True)
class LiveChart:
    """A page and where on it the slider of the live chart is."""

    address: str
    slider: str
    cookie: str = ""


@contextlib.contextmanager
def baseline() -> Iterator[LiveChart]:
    """The smallest live chart, served from a folder with plotly.js beside it."""
    source = Path(__file__).parent / "apps" / "live_slider.py"
    with tempfile.TemporaryDirectory() as folder:
        static = Path(folder) / "static"
        static.mkdir()
        shutil.copy(Path(plotly.__file__).parent / "package_data" / "plotly.min.js", static)
        with running_server(Path(shutil.copy(source, folder))) as server:
            yield LiveChart(server.url, 'input[type="range"]')


def compare(charts: list[LiveChart], rounds: int) -> list[Drag]:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        pages = [_open(browser, chart) for chart in charts]
        frames: list[list[float]] = [[] for _ in charts]
        steps = [0] * len(charts)
        for number in range(rounds + 1):
            for at, (page, chart) in enumerate(zip(pages, charts, strict=True)):
                drawn, passed = _drag(page, chart.slider)
                if number:  # the first drag warms up
                    frames[at].extend(drawn)
                    steps[at] += passed
        same = [page.evaluate("document.querySelector('.js-plotly-plot').__marked === true") for page in pages]
        browser.close()
    return [_summary(*each) for each in zip(frames, steps, same, strict=True)]


def _open(browser: Browser, chart: LiveChart) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    if chart.cookie:
        name, _, value = chart.cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": chart.address}])
    page = context.new_page()
    page.goto(chart.address)
    wait_idle(page)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.evaluate("document.querySelector('.js-plotly-plot').__marked = true")
    return page


COUNT = """input => {
    input.scrollIntoView({ block: 'center' });
    window.__frames = [];
    window.__steps = 0;
    input.counted ??= input.addEventListener('input', () => window.__steps++) ?? true;
}"""


def _drag(page: Page, slider: str) -> tuple[list[float], int]:
    """Times of the drawings, and the number of positions that the slider reported while it moved."""
    page.bring_to_front()
    thumb = page.locator(slider).first
    thumb.evaluate(COUNT)
    box = thumb.bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 2, height)
    page.mouse.down()
    for step in range(1, MOVES + 1):
        page.mouse.move(box["x"] + box["width"] * step / MOVES, height)
        page.wait_for_timeout(MOVE_MS)
    page.mouse.up()
    frames, steps = page.evaluate("[window.__frames, window.__steps]")
    wait_idle(page, settle_ms=300)
    return frames, steps


def _summary(frames: list[float], steps: int, same_node: bool) -> Drag:
    if len(frames) < 2:
        raise RuntimeError("the chart was not redrawn while its slider was dragged")
    return Drag(statistics.median(frames), statistics.quantiles(frames, n=20)[-1], len(frames), steps, same_node)
