"""Browser tests: one server and one Chromium for the folder, one fresh context (a Streamlit session) per opened page.

Use `app`: it opens a path of the real app, waits until it is idle, and fails the test afterwards for any page error,
console error, exception box, traceback in the server's log, or request to another host.

    def test_two_people(app):
        first = app("/partition?gpus=64")
        second = app("/", color_scheme="dark", viewport={"width": 390, "height": 844})

Need a browser without the app? Use `browser`; never start `sync_playwright` again, one per thread is its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.e2e.server import Server, launch_chromium, running_server, wait_idle

OpenPage = Callable[..., Page]
# A deep link makes Streamlit's own page probe these below the page's path first: two 404 answers without harm.
HARMLESS_404 = ("/_stcore/health", "/_stcore/host-config")

expect.set_options(timeout=10_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = launch_chromium(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def server(browser: Browser) -> Iterator[Server]:
    """The server that all tests share; its home page has been seen once, so no test is the first to come."""
    with running_server() as running:
        page = browser.new_page()
        page.goto(running.url)
        wait_idle(page)
        page.close()
        yield running


@pytest.fixture
def fresh_server() -> Iterator[Server]:
    """A process that has served nobody yet: `app(fresh_server.url + "/partition")` is its first page."""
    with running_server() as running:
        yield running
        assert "Traceback" not in running.log(), running.log()


@pytest.fixture
def app(browser: Browser, server: Server) -> Iterator[OpenPage]:
    faults: list[str] = []
    pages: list[Page] = []
    seen_log = len(server.log())

    def open_page(path: str = "/", **context_options: object) -> Page:
        context = browser.new_context(base_url=server.url, **context_options)  # type: ignore[arg-type]
        page = context.new_page()
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("console", lambda message: faults.extend(_console_fault(message)))
        page.on("request", lambda request: faults.extend(_foreign_host(request)))
        page.goto(path)
        wait_idle(page)
        return page

    yield open_page
    for page in pages:
        if not page.is_closed():
            boxes = page.get_by_test_id("stException").all_inner_texts()
            faults += [f"exception in the page: {text}" for text in boxes]
        page.context.close()
    new_log = server.log()[seen_log:]
    assert not faults, "\n".join(faults)
    assert "Traceback" not in new_log, new_log


def _console_fault(message: ConsoleMessage) -> list[str]:
    address = message.location["url"]
    if message.type != "error" or urlsplit(address).path.endswith(HARMLESS_404):
        return []
    return [f"console error: {message.text} ({address})"]


def _foreign_host(request: Request) -> list[str]:
    address = urlsplit(request.url)
    if address.scheme in ("http", "https") and address.hostname != "127.0.0.1":
        return [f"request to another host: {request.url}"]
    return []
