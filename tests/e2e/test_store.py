"""The browser store in a real browser: the text outlives reloads and servers, and two tabs lose nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.e2e.server import Server, free_port, running_server, wait_idle

DEMO = Path(__file__).parent / "apps" / "store_demo" / "app.py"
# Reads the database as a stranger would: every name with its value, or the value of one name.
READ = """name => new Promise((resolve, reject) => {
  const opening = indexedDB.open("ridgepoint", 1);
  opening.onerror = () => reject(opening.error);
  opening.onupgradeneeded = () => opening.result.createObjectStore("texts");
  opening.onsuccess = () => {
    const database = opening.result;
    const table = database.transaction("texts").objectStore("texts");
    const request = name ? table.get(name) : table.getAllKeys();
    request.onsuccess = () => { database.close(); resolve(request.result ?? null); };
  };
})"""
WRITE = """([name, value]) => new Promise((resolve) => {
  const opening = indexedDB.open("ridgepoint", 1);
  opening.onsuccess = () => {
    const transaction = opening.result.transaction("texts", "readwrite");
    transaction.objectStore("texts").put(value, name);
    transaction.oncomplete = () => { opening.result.close(); resolve(); };
  };
})"""
REFUSE_DATABASE = (
    "Object.defineProperty(window, 'indexedDB', { get() { throw new DOMException('', 'SecurityError'); } });"
)
REFUSE_LOCAL = (
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } });"
)
REFUSE_LARGE = """const put = IDBObjectStore.prototype.put;
IDBObjectStore.prototype.put = function (value, name) {
  if (value.bytes > 1_000_000) throw new DOMException('', 'QuotaExceededError');
  return put.call(this, value, name);
};"""
OpenDemo = Callable[..., Page]


@pytest.fixture(scope="module", autouse=True)
def own_modules_for_the_demo() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        root = str(Path(__file__).resolve().parents[2])
        patch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
        yield


@pytest.fixture(scope="module")
def demo_server() -> Iterator[Server]:
    with running_server(DEMO) as server:
        yield server
        assert "Traceback" not in server.log(), server.log()
        assert "callback that displays" not in server.log(), server.log()


@pytest.fixture
def demo(browser: Browser, demo_server: Server) -> Iterator[OpenDemo]:
    """Opens the demo in a new browser profile, or in the profile of the page `beside`."""
    faults: list[str] = []
    pages: list[Page] = []

    def open_demo(
        path: str = "/", *, beside: Page | None = None, scripts: tuple[str, ...] = (), quota_bytes: int = 0
    ) -> Page:
        context = beside.context if beside else browser.new_context(base_url=demo_server.url)
        page = context.new_page()
        for script in scripts:
            page.add_init_script(script)
        if quota_bytes:  # before the first use: Chromium remembers for a while how much room there was
            devtools = context.new_cdp_session(page)
            devtools.send("Storage.overrideQuotaForOrigin", {"origin": demo_server.url, "quotaSize": quota_bytes})
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(path)
        if path == "/":
            wait_ready(page)
        return page

    yield open_demo
    for page in pages:
        assert page.get_by_test_id("stException").count() == 0
    for context in {page.context for page in pages}:
        context.close()
    assert not faults, "\n".join(faults)


def wait_ready(page: Page) -> None:
    expect(page.get_by_text("ready True")).to_be_visible()
    wait_idle(page)


def press(page: Page, button: str, line: str | None = None) -> None:
    if line is not None:
        page.get_by_role("textbox").fill(line)
        page.get_by_role("textbox").press("Enter")
        wait_idle(page)
    page.get_by_role("button", name=button, exact=True).click()
    wait_idle(page)


def stored(page: Page, name: str = "lines") -> str | None:
    value = page.evaluate(READ, name)
    return value and value["text"]


def expect_stored(page: Page, text: str | Callable[[str], bool], name: str = "lines") -> None:
    """A write takes a moment after the run that ordered it. (Playwright's wait_for_function awaits no promise.)"""
    deadline = perf_counter() + 10
    while not (matches := (now := stored(page, name)) is not None and (text(now) if callable(text) else now == text)):
        if perf_counter() > deadline:
            break
        page.wait_for_timeout(50)
    assert matches, f"{name} holds {now and now[:200]!r}"


def shown(page: Page) -> str:
    return page.get_by_test_id("stCode").inner_text()


def runs(page: Page) -> int:
    wait_idle(page)
    return int(page.get_by_text(re.compile(r"^runs \d+$")).inner_text().split()[1])


def test_a_first_visit_stores_nothing_and_costs_one_run(demo):
    page = demo()
    assert shown(page) == "(none)"
    assert page.evaluate(READ, None) == []
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('ridgepoint'))") == []
    assert runs(page) == 2  # one before the browser has answered, one after


def test_the_text_survives_a_reload(demo):
    page = demo()
    press(page, "Add", "first")
    expect_stored(page, "first")
    page.reload()
    wait_ready(page)
    assert shown(page) == "first"
    assert runs(page) == 2


@pytest.mark.parametrize("button", ["Add", "Add by callback"])
def test_a_save_costs_no_run_of_its_own_and_redraws_nothing(demo, button):
    page = demo()
    press(page, button, "first")
    before = runs(page)
    page.get_by_role("heading", name="Lines").evaluate("heading => { heading.dataset.mark = 'kept'; }")
    press(page, button)
    expect_stored(page, "first\nfirst")
    page.wait_for_timeout(500)
    assert runs(page) == before + 1
    assert page.get_by_role("heading", name="Lines").get_attribute("data-mark") == "kept"


@pytest.mark.parametrize(
    ("button", "line"),
    [
        ("Add in fragment", r"fragment \d+\.\d+"),
        ("Add in fragment's callback", "fragment's callback"),
        ("Add without in_fragment", "without in_fragment"),
    ],
)
def test_a_fragment_saves_without_a_run_of_the_page(demo, button, line):
    page = demo()
    press(page, "Add", "first")
    before = runs(page)
    press(page, button)
    expect_stored(page, lambda text: re.fullmatch(rf"first\n{line}", text) is not None)
    assert runs(page) == before
    press(page, button)
    expect_stored(page, lambda text: len(text.splitlines()) == 3)
    page.reload()
    wait_ready(page)
    assert shown(page).startswith("first\n")


def test_a_save_just_before_a_rerun_or_another_page_arrives(demo):
    page = demo()
    press(page, "Add and rerun", "first")
    expect_stored(page, "first")
    press(page, "Add and leave", "second")
    expect(page.get_by_role("heading", name="Other")).to_be_visible()
    expect_stored(page, "first\nsecond")
    page.get_by_role("link", name="Lines").first.click()
    expect(page.get_by_test_id("stCode")).to_have_text("first\nsecond")


def test_the_store_leaves_no_gap_in_the_page(demo):
    page = demo()
    press(page, "Add", "first")
    with_store = page.get_by_role("heading", name="Lines").bounding_box()
    page.get_by_role("link", name="Other").first.click()
    expect(page.get_by_role("heading", name="Other")).to_be_visible()
    without = page.get_by_role("heading", name="Other").bounding_box()
    assert with_store
    assert without
    assert with_store["y"] == pytest.approx(without["y"], abs=0.5)


def test_a_large_text_travels_once_each_way(demo):
    """5 MB: sent down when saved and up after a reload, and with no other run."""
    page = demo("/other")
    traffic = {"up": 0, "down": 0}

    def count(socket: WebSocket) -> None:
        socket.on("framesent", lambda payload: traffic.update(up=traffic["up"] + len(payload)))
        socket.on("framereceived", lambda payload: traffic.update(down=traffic["down"] + len(payload)))

    page.on("websocket", count)
    page.goto("/")
    wait_ready(page)
    traffic.update(up=0, down=0)
    start = perf_counter()
    press(page, "Large")
    expect_stored(page, lambda text: len(text) == 5_000_000)
    saving_s = perf_counter() - start
    page.wait_for_timeout(500)
    assert 5e6 < traffic["down"] < 6e6
    assert traffic["up"] < 1e5

    traffic.update(up=0, down=0)
    press(page, "Reset")  # orders a copy in the browser: no text but the new one travels
    expect_stored(page, "reset")
    press(page, "Restore")
    expect(page.get_by_text("5000000 bytes, backup True")).to_be_visible()
    assert traffic["up"] > 5e6
    traffic.update(up=0, down=0)
    page.get_by_role("textbox").fill("x")
    page.get_by_role("textbox").press("Enter")
    wait_idle(page)
    assert traffic["up"] < 1e5
    assert traffic["down"] < 1e5

    traffic.update(up=0, down=0)
    start = perf_counter()
    page.reload()
    wait_ready(page)
    reading_s = perf_counter() - start
    assert 5e6 < traffic["up"] < 6e6
    assert traffic["down"] < 1e6
    print(f"5 MB saved in {saving_s:.2f} s, read after a reload in {reading_s:.2f} s")
    assert saving_s < 10
    assert reading_s < 15


def test_a_reload_in_the_middle_of_a_write_leaves_a_whole_text(demo):
    page = demo()
    press(page, "Add", "first")
    expect_stored(page, "first")
    for delay_ms in (0, 30, 100, 300):
        page.get_by_role("button", name="Large", exact=True).click()
        page.wait_for_timeout(delay_ms)
        page.reload()
        wait_ready(page)
        assert len(stored(page) or "") in (len("first"), 5_000_000)
        press(page, "Add", f"after {delay_ms}")
        expect_stored(page, lambda text, line=f"after {delay_ms}": text.endswith(line))
        page.evaluate(WRITE, ["lines", {"rev": f"again {delay_ms}", "text": "first", "savedAt": 1, "bytes": 5}])
        page.reload()
        wait_ready(page)


def test_the_text_survives_a_restart_of_the_server(browser):
    port = free_port()
    page = browser.new_context().new_page()
    with running_server(DEMO, port=port) as first:
        page.goto(first.url)
        wait_ready(page)
        press(page, "Add", "before the restart")
        expect_stored(page, "before the restart")
    with running_server(DEMO, port=port):
        wait_idle(page, timeout_ms=60_000)  # the page is still open, and connects to a session that knows nothing
        expect(page.get_by_text("runs 2", exact=True)).to_be_visible()
        wait_ready(page)
        assert shown(page) == "before the restart"
        press(page, "Add", "after the restart")
        expect_stored(page, "before the restart\nafter the restart")
    page.context.close()


def test_two_tabs_that_both_add_lose_nothing(demo):
    first = demo()
    press(first, "Add", "one")
    expect_stored(first, "one")
    second = demo(beside=first)
    # Deaf tabs: neither hears of the other's writes, so each writes on what it knew.
    for page in (first, second):
        page.evaluate("BroadcastChannel.prototype.postMessage = () => {}")
    press(first, "Add", "from the first")
    expect_stored(first, "one\nfrom the first")
    press(second, "Add", "from the second")
    expect_stored(second, "one\nfrom the first\nfrom the second")
    expect(second.get_by_test_id("stCode")).to_have_text("one\nfrom the first\nfrom the second")
    press(first, "Add", "again")
    expect_stored(first, "one\nfrom the first\nfrom the second\nagain")


def test_another_tab_hears_of_a_write_and_runs_once(demo):
    first = demo()
    second = demo(beside=first)
    before = [runs(first), runs(second)]
    press(first, "Add", "news")  # two runs: the line, and the button
    expect(second.get_by_test_id("stCode")).to_have_text("news")
    for page in (first, second):
        page.wait_for_timeout(1_000)
    assert [runs(first), runs(second)] == [before[0] + 2, before[1] + 1]


def test_an_unreadable_text_is_handed_over_and_kept(demo):
    page = demo()
    press(page, "Add", "first")
    expect_stored(page, "first")
    page.evaluate(WRITE, ["lines", {"rev": "r", "text": "{broken", "savedAt": 1, "bytes": 7}])
    page.reload()
    wait_ready(page)
    expect(page.get_by_text("unreadable '{broken': its lines are broken")).to_be_visible()
    assert stored(page) == "{broken"
    press(page, "Add", "new")
    expect_stored(page, "new")
    assert stored(page, "lines/unreadable/r") == "{broken"


@pytest.mark.parametrize("value", ["a bare text", {"text": 5}, [1, 2], 7])
def test_a_record_of_another_form_is_handed_over_and_kept(demo, value):
    page = demo()
    page.evaluate(WRITE, ["lines", value])
    page.reload()
    wait_ready(page)
    expect(page.get_by_text("not in the form in which this app keeps it")).to_be_visible()
    press(page, "Add", "new")
    expect_stored(page, "new")
    names = page.evaluate(READ, None)
    (kept,) = [name for name in names if name.startswith("lines/unreadable/damaged-")]
    assert page.evaluate(READ, kept) == value


def test_a_full_disk_is_said_in_words_and_the_old_copy_stays(demo):
    page = demo(quota_bytes=1_000_000)
    press(page, "Add", "first")
    expect_stored(page, "first")
    press(page, "Large")
    expect(page.get_by_text("This browser has no room left")).to_be_visible()
    expect(page.get_by_text("saving True")).to_be_visible()
    assert stored(page) == "first"
    assert len(shown(page)) == 1_000  # the session has it still
    page.reload()
    wait_ready(page)
    assert shown(page) == "first"


def test_after_a_refused_write_the_next_one_is_tried_again(demo):
    """Chromium's own quota stays shut for a while, so here the refusal is ours."""
    page = demo(scripts=(REFUSE_LARGE,))
    press(page, "Add", "first")
    press(page, "Large")
    expect(page.get_by_text("This browser has no room left")).to_be_visible()
    press(page, "Reset")  # a text that finds room: the backup is of what is stored, not of what was refused
    expect_stored(page, "reset")
    expect(page.get_by_text("This browser has no room left")).to_be_hidden()
    expect(page.get_by_text("saving False")).to_be_visible()
    assert stored(page, "lines/backup") == "first"


def test_a_browser_that_keeps_nothing_is_said_in_words(demo):
    page = demo(scripts=(REFUSE_DATABASE, REFUSE_LOCAL))
    expect(page.get_by_text("This browser lets pages keep nothing")).to_be_visible()
    press(page, "Add", "first")
    press(page, "Add", "second")
    assert shown(page) == "first\nsecond"  # for this session


def test_local_storage_serves_where_the_database_is_refused(demo):
    page = demo(scripts=(REFUSE_DATABASE,))
    expect(page.get_by_text("backend localstorage")).to_be_visible()
    press(page, "Add", "first")
    page.wait_for_function("() => localStorage.getItem('ridgepoint/lines')?.includes('first')")
    page.reload()
    wait_ready(page)
    assert shown(page) == "first"
    other = demo(beside=page, scripts=(REFUSE_DATABASE,))
    press(other, "Add", "second")
    expect(page.get_by_test_id("stCode")).to_have_text("first\nsecond")

    # The database answers again: what lay in the other place is joined to it, and lies there no longer.
    again = demo(beside=page)
    expect_stored(again, "first\nsecond")
    expect(again.get_by_text("backend indexeddb")).to_be_visible()
    again.wait_for_function("() => localStorage.getItem('ridgepoint/lines') === null")


def test_a_reset_has_a_way_back(demo):
    page = demo()
    press(page, "Add", "first")
    press(page, "Reset")
    expect_stored(page, "reset")
    page.reload()
    wait_ready(page)
    expect(page.get_by_text("backup True")).to_be_visible()
    press(page, "Restore")
    expect(page.get_by_test_id("stCode")).to_have_text("first")
    assert stored(page) == "first"
    assert stored(page, "lines/backup") == "reset"


def test_site_data_cleared_under_an_open_page_costs_nothing_that_the_session_knows(demo, demo_server):
    page = demo()
    press(page, "Add", "first")
    expect_stored(page, "first")
    devtools = page.context.new_cdp_session(page)
    devtools.send("Storage.clearDataForOrigin", {"origin": demo_server.url, "storageTypes": "indexeddb"})
    press(page, "Add", "second")
    expect_stored(page, "first\nsecond")
