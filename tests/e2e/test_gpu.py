"""The menu My GPU in a real browser: a run with its progress, cancelled, crashed and finished; results; traces.

Where the Python at hand has torch, or RIDGEPOINT_GPU_PYTHON names one that has, the run that is finished is a real one
of this machine's CPU, cut short. Elsewhere, and for what must go wrong on time, a stand-in speaks the same protocol.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import fake_python
from tests.core.own_run import RESULT
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import Server, running_server, wait_idle
from tests.e2e.test_home import scrolls_sideways
from tests.trace.build import as_bytes, packed, recording

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
PYTHON, SECONDS = "RIDGEPOINT_GPU_PYTHON", "RIDGEPOINT_GPU_SECONDS"
REAL = os.environ.get(PYTHON) or (sys.executable if find_spec("torch") else None)
CUT_SHORT = "20"  # seconds of a real run
TABS = ("Roofline", "Memory", "Attention", "Launches", "Collectives", "Predict against measure", "All numbers")
SEEN_TABS = ("Products", "Attention", "Collectives", "Where tables end")
Switch = Callable[[str], None]


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory) -> Path:
    """The folder with the program that the server runs as its Python with torch."""
    folder = tmp_path_factory.mktemp("interpreter")
    fake_python.install(folder)
    return folder


@pytest.fixture(scope="module")
def gpu_server(browser: Browser, interpreter: Path) -> Iterator[Server]:
    """A server of this folder's own, since one run at a time is for the whole of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PYTHON, str(interpreter / "python"))
        patch.setenv(SECONDS, CUT_SHORT)
        with running_server() as running:
            page = browser.new_page()
            page.goto(running.url)
            wait_idle(page)
            page.close()
            yield running


@pytest.fixture
def switch(interpreter: Path) -> Switch:
    """Put a stand-in of another mode, or a real Python, in the interpreter's place."""

    def put(mode: str) -> None:
        if mode == "real" and REAL:
            path = interpreter / "python"
            path.write_text(f'#!/bin/sh\nexec "{REAL}" "$@"\n')
        else:
            fake_python.install(interpreter, "good" if mode == "real" else mode)

    return put


@pytest.fixture
def measure(app: OpenPage, gpu_server: Server) -> Callable[..., Page]:
    def run(path: str = "/measure", **options: object) -> Page:
        page = app(f"{gpu_server.url}{path}", **options)
        wait_idle(page)
        return page

    return run


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("traces")
    for rank in range(2):
        (folder / f"rank{rank}.json.gz").write_bytes(packed(as_bytes(recording(rank), rank, 2)))
    return sorted(folder.iterdir())


@pytest.fixture
def result_file(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_text(RESULT.model_dump_json())
    return path


def button(page: Page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def as_a_table(page: Page) -> None:
    """Open the first picture's table."""
    page.locator("summary:visible", has_text="As a table").first.click()
    wait_idle(page)


def chosen(page: Page):
    """The box that says which result is shown."""
    return page.get_by_role("combobox", name="Result")


def drawn(page: Page, key: str) -> None:
    live = page.locator(f".st-key-{key} .live").first
    live.scroll_into_view_if_needed()
    expect(live).to_have_attribute("aria-busy", "false")


def upload(page: Page, *paths: Path) -> None:
    page.locator("input[type=file]").set_input_files(list(paths))
    wait_idle(page)


def test_a_run_shows_its_progress_and_can_be_cancelled(measure, switch: Switch):
    switch("slow")
    page = measure()
    button(page, "Measure").click()
    expect(page.get_by_text(re.compile(r"2 of 5: product · (about .* left|longer than planned)"))).to_be_visible()
    expect(page.get_by_text("1 point could not be measured")).to_be_visible()
    expect(chosen(page)).to_have_value("Run on this server: Fake CPU: full set, 2026-11-30, partial")  # as it comes
    button(page, "Cancel").click()
    expect(page.get_by_text("The run ended early: cancelled. What it had measured until then is kept")).to_be_visible()
    expect(page.get_by_text("A partial result: cancelled.")).to_be_visible()
    expect(button(page, "Measure")).to_be_enabled()


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("crash", "an illegal memory access was encountered"),
        ("killed", "SIGKILL, as the system does when memory runs out"),
    ],
)
def test_a_crash_there_leaves_the_app_as_it_was(measure, switch: Switch, mode: str, words: str):
    switch(mode)
    page = measure()
    button(page, "Measure").click()
    expect(page.get_by_text(words)).to_be_visible()
    expect(page.get_by_text("What it had measured until then is kept, and marked partial.")).to_be_visible()
    drawn(page, "measure-roofline")
    expect(button(page, "Measure")).to_be_enabled()


def test_a_second_visitor_sees_the_run_and_does_not_start_another(measure, switch: Switch):
    switch("slow")
    first, second = measure(), measure()
    button(first, "Measure").click()
    expect(button(first, "Cancel")).to_be_visible()
    second.reload()
    expect(button(second, "Cancel")).to_be_visible()
    expect(button(second, "Measure")).to_have_count(0)
    button(second, "Cancel").click()
    expect(first.get_by_text("The run ended early: cancelled.")).to_be_visible()


def test_a_run_to_its_end_fills_every_tab(measure, switch: Switch):
    switch("real")
    page = measure()
    button(page, "Measure").click()
    expect(button(page, "Cancel")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Measured in|The run ended early: the time bound"))).to_be_visible(
        timeout=150_000
    )
    wait_idle(page)
    expect(chosen(page)).to_have_value(re.compile(r"^Run on this server: "))
    drawn(page, "measure-roofline")
    for name in TABS:
        page.get_by_role("tab", name=name).click()
        wait_idle(page)
        expect(page.get_by_role("tabpanel", name=name)).not_to_be_empty()
    if REAL:
        expect(page.get_by_text(re.compile(r"python .*--out result.json --set quick --device cpu"))).to_be_visible()


def test_a_result_is_brought_along_and_estimated_on(measure, result_file: Path):
    page = measure()
    page.get_by_text("Measure on another machine, and bring the result").click()
    upload(page, result_file)
    expect(page.get_by_text("Opened: NVIDIA H200: full set, 2026-11-30.")).to_be_visible()
    drawn(page, "measure-roofline")
    as_a_table(page)
    expect(page.get_by_role("cell", name="6,144 x 4,096").first).to_be_visible()
    page.get_by_role("tab", name="Predict against measure").click()
    drawn(page, "measure-predictions")
    button(page, "Use as my accelerator").click()
    expect(page.get_by_text("estimates from measured kernels of H200 SXM, own run")).to_be_visible()
    page.get_by_role("link", name="5 Batch").first.click()
    expect(page.get_by_text("estimates from measured kernels of H200 SXM, own run")).to_be_visible()


def test_a_result_edited_by_hand_is_refused_in_words(measure, tmp_path: Path):
    page = measure()
    page.get_by_text("Measure on another machine, and bring the result").click()
    path = tmp_path / "edited.json"
    document = json.loads(RESULT.model_dump_json())
    document["measurements"][0]["time"]["median_s"] = 1e300
    path.write_text(json.dumps(document))
    upload(page, path)
    expect(page.get_by_text(re.compile("must be at most 100,000"))).to_be_visible()


def test_the_script_is_one_file_that_python_understands(measure):
    page = measure()
    page.get_by_text("Measure on another machine, and bring the result").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the script").click()
    text = Path(download.value.path()).read_text()
    assert download.value.suggested_filename == "microbench.py"
    compile(text, "microbench.py", "exec")
    assert "core.microbench.run" in text


def test_two_systems_lie_over_each_other_and_a_link_brings_one_along(measure):
    page = measure("/silicon")
    drawn(page, "profiles-roofline")
    second = page.get_by_role("combobox", name="Laid over it")
    second.fill("H200 SXM, open")  # the list shows a few of its entries
    second.press("Enter")
    expect(page.get_by_text(re.compile("H200 SXM, open data takes [0-9.]+ times as long"))).to_be_visible()
    button(page, "Use as my accelerator").click()
    expect(page).to_have_url(re.compile(r"/silicon\?profile=h100-sxm"))
    other = measure("/batch?profile=h100-sxm")
    expect(other.get_by_text("estimates from measured kernels of H100 SXM, open data")).to_be_visible()
    button(other, "Back to stated efficiencies").click()
    expect(other).not_to_have_url(re.compile("profile"))


def test_a_trace_is_read_and_leads_to_its_step(measure, traces: list[Path]):
    page = measure("/trace")
    upload(page, *traces)
    expect(page.get_by_role("heading", name="Where the time went")).to_be_visible()
    drawn(page, "trace-gpus")
    drawn(page, "trace-steps")
    picture = page.locator(".st-key-trace-gpus .live-figure")
    expect(picture).to_have_attribute("aria-label", re.compile(r"Rank 0, .*compute .*Rank 1, "))
    as_a_table(page)
    expect(page.get_by_role("columnheader", name="exposed communication").first).to_be_visible()
    page.get_by_role("link", name=re.compile("Read step 1")).click()
    expect(page).to_have_url(re.compile("/bottleneck"))


def test_what_is_no_trace_is_refused_in_words(measure, tmp_path: Path):
    path = tmp_path / "notes.json"
    path.write_text("hello")
    page = measure("/trace")
    upload(page, path)
    expect(page.get_by_text("is not a PyTorch profiler trace")).to_be_visible()


@pytest.mark.parametrize("tab", TABS)
def test_a_phone_never_scrolls_a_result_sideways(measure, result_file: Path, tab: str):
    page = measure(**PHONE)
    page.get_by_text("Measure on another machine, and bring the result").click()
    upload(page, result_file)
    page.get_by_role("tab", name=tab).click()
    wait_idle(page)
    assert not scrolls_sideways(page)


@pytest.mark.parametrize("tab", SEEN_TABS)
def test_a_phone_never_scrolls_a_system_sideways(measure, tab: str):
    page = measure("/silicon", **PHONE)
    page.get_by_role("tab", name=tab).click()
    wait_idle(page)
    assert not scrolls_sideways(page)


def test_a_phone_never_scrolls_a_trace_sideways(measure, traces: list[Path]):
    page = measure("/trace", **PHONE)
    upload(page, *traces)
    expect(page.get_by_role("heading", name="Where the time went")).to_be_visible()
    assert not scrolls_sideways(page)


def test_axe_finds_nothing_in_a_result(measure, result_file: Path):
    page = measure()
    page.get_by_text("Measure on another machine, and bring the result").click()
    upload(page, result_file)
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        wait_idle(page)
        assert violations(page) == [], tab


def test_axe_finds_nothing_in_a_system(measure):
    page = measure("/silicon")
    for tab in SEEN_TABS:
        page.get_by_role("tab", name=tab).click()
        wait_idle(page)
        assert violations(page) == [], tab


def test_axe_finds_nothing_in_a_trace(measure, traces: list[Path]):
    page = measure("/trace")
    upload(page, *traces)
    drawn(page, "trace-gpus")
    drawn(page, "trace-steps")
    assert violations(page) == []
