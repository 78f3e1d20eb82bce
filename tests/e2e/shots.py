"""Screenshots to look at: each path in light, in dark and on a phone of 390 px, whole page.

python tests/e2e/shots.py --out /tmp/shots / "/partition?gpus=64"
python tests/e2e/shots.py --out /tmp/shots --predictions off --wait-for .js-plotly-plot /partition
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.e2e.server import launch_chromium, running_server, wait_idle

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
LOOKS = {
    "light": {"viewport": DESKTOP, "color_scheme": "light"},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},  # Streamlit follows the system's wish
    "390px": {"viewport": PHONE, "color_scheme": "light", "has_touch": True},
    "390px-dark": {"viewport": PHONE, "color_scheme": "dark", "has_touch": True},
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("paths", nargs="+", help="paths of the app, query included")
    options.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    options.add_argument("--url", help="a running server; left out, the app is started")
    options.add_argument("--looks", nargs="+", choices=LOOKS, default=["light", "dark", "390px"])
    options.add_argument("--predictions", choices=["on", "off"], default="on", help="off: pages show results at once")
    options.add_argument("--wait-for", default="", help="a CSS selector that must be visible before the picture")
    chosen = options.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    if chosen.url:
        shoot(chosen.url, chosen)
    else:
        with running_server() as server:
            shoot(server.url, chosen)


def shoot(url: str, chosen: argparse.Namespace) -> None:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        for look in chosen.looks:
            for path in chosen.paths:
                page = opened(browser, url, path, look, chosen.predictions)
                if chosen.wait_for:
                    page.locator(chosen.wait_for).first.wait_for()
                page.wait_for_timeout(500)  # fonts and the first drawing
                target = chosen.out / f"{file_name(path)}-{look}.png"
                grow_to_content(page)
                page.screenshot(path=target, full_page=True)
                print(target)
                page.context.close()
        browser.close()


def opened(browser: Browser, url: str, path: str, look: str, predictions: str) -> Page:
    context = browser.new_context(base_url=url, **LOOKS[look])
    cookie = f"unit=GB&predictions={predictions}"
    context.add_cookies([{"name": "ridgepoint_settings", "value": cookie, "url": url}])
    page = context.new_page()
    page.goto(path)
    wait_idle(page)
    return page


def grow_to_content(page: Page) -> None:
    """Streamlit scrolls inside the page, so the window is made as tall as the content."""
    size = page.viewport_size
    assert size is not None
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": max(size["height"], min(int(tall) + 80, 12_000))})
    page.wait_for_timeout(300)


def file_name(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "home"


if __name__ == "__main__":
    main()
