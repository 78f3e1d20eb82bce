"""Step 4 in a real browser: the walk to the results, the drag, the tile that moves, the link, the phone."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from core.attention import headline_of, over_seq_len
from core.charts.attention import length_table
from core.display import show_bytes
from core.scenario import changed
from core.scenario_link import default_scenario
from core.tile_walk import EXAMPLE, read_scores, walk
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import wait_idle
from tests.e2e.test_home import PHONE, frames_sent, scrolls_sideways
from tests.e2e.test_partition import SEEN_BEFORE

START = default_scenario()
OpenResults = Callable[..., Page]


@pytest.fixture
def results(app: OpenPage) -> OpenResults:
    """Opens the page for a reader who has switched predictions off, and waits until the charts are drawn."""

    def open_page(query: str = "", **options: object) -> Page:
        page = app(f"/attention{query}", storage_state=SEEN_BEFORE, **options)
        for key in ("io", "tiles"):
            expect(page.locator(f".st-key-attention-{key} .live")).to_have_attribute("aria-busy", "false")
        return page

    return open_page


def readout(page: Page, row: int = 0, chart: str = "io") -> Locator:
    return page.locator(f".st-key-attention-{chart} .live-value").nth(row)


def slider(page: Page, chart: str = "io") -> Locator:
    return page.locator(f".st-key-attention-{chart} .live-range")


def tile(page: Page, name: str) -> Locator:
    return page.locator(f".st-key-attention-walk .walk-{name}")


def moved(**values: object) -> str:
    return show_bytes(headline_of(changed(START, **values).training).unfused_bytes)


def test_from_the_first_question_to_what_to_say(app: OpenPage):
    page = app("/attention")
    expect(page.locator(".live")).to_have_count(0)
    page.get_by_role("button", name="I do not know").click()
    wait_idle(page)
    expect(page.get_by_text("8.59 GB", exact=True)).to_be_visible()
    expect(readout(page)).to_have_text("24.1 GB")
    expect(page.get_by_text("time floor")).to_have_count(0)
    page.get_by_text("less time", exact=True).click()
    page.get_by_role("button", name="Commit").click()
    wait_idle(page)
    expect(page.get_by_text("70% sure: right.")).to_be_visible()
    expect(page.get_by_text("I would confirm it with the kernel's counters")).to_be_visible()
    expect(readout(page, 0, "tiles")).to_have_text("192 KiB")


def test_the_scenario_comes_along_from_another_step(app: OpenPage):
    page = app("/partition?seq=32768&mbs=2", storage_state=SEEN_BEFORE)
    page.get_by_role("link", name="4 Attention").click()
    wait_idle(page)
    expect(page.get_by_role("heading", name="Tile attention")).to_be_visible()
    expect(readout(page)).to_have_text(moved(seq_len=32_768, micro_batch_size=2))


def test_the_numbers_follow_the_hand_and_one_rerun_comes_at_release(results: OpenResults):
    page = results()
    sent = frames_sent(page)
    page.reload()
    wait_idle(page)
    expect(page.locator(".st-key-attention-io .live")).to_have_attribute("aria-busy", "false")
    sweep = over_seq_len(START.training)
    slider(page).scroll_into_view_if_needed()
    box = slider(page).bounding_box()
    assert box is not None
    share = sweep.seq_len.index(4096) / (len(sweep.seq_len) - 1)
    x, y = box["x"] + 10 + share * (box["width"] - 20), box["y"] + box["height"] / 2
    before = len(sent)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, y, steps=8)
    expect(readout(page)).to_have_text(moved(seq_len=1_048_576))
    assert len(sent) == before
    page.mouse.up()
    wait_idle(page)
    assert len(sent) == before + 1
    expect(page.get_by_text("exceed an empty GPU by")).to_be_visible()
    assert "seq=1048576" in page.url


def test_a_link_opens_its_scenario(results: OpenResults):
    page = results("?seq=32768&mbs=2&tp=8")
    expect(readout(page)).to_have_text(moved(seq_len=32_768, micro_batch_size=2, tensor_parallel=8))
    expect(slider(page)).to_have_attribute("aria-valuetext", "32,768 tokens")


def test_tiles_can_be_sized_with_the_keyboard(results: OpenResults):
    page = results()
    slider(page, "tiles").focus()
    page.keyboard.press("ArrowRight")
    expect(readout(page, 0, "tiles")).to_have_text("256 KiB")
    expect(page.get_by_text("does not fit: 29.0 KiB over")).to_be_visible()
    wait_idle(page)
    expect(readout(page, 0, "tiles")).to_have_text("256 KiB")


def test_the_tile_is_stepped_forward_and_back_with_the_keyboard(results: OpenResults):
    page = results()
    frames = walk(read_scores(EXAMPLE), 2).frames
    expect(tile(page, "place")).to_have_text(f"1 of {len(frames)}")
    expect(tile(page, "back")).to_be_disabled()
    tile(page, "step").focus()
    for frame in frames[1:]:
        page.keyboard.press("Enter")
        expect(tile(page, "words")).to_have_text(frame.words)
    expect(tile(page, "step")).to_be_disabled()
    expect(tile(page, "table").get_by_role("cell", name="59.24")).to_be_visible()
    tile(page, "back").click()
    expect(tile(page, "title")).to_have_text(f"{frames[-2].title}.")
    assert frames[-2].words in (tile(page, "figure").get_attribute("aria-label") or "")


def test_the_tile_moves_from_memory_to_the_chip(results: OpenResults):
    page = results()
    tile(page, "step").click()
    mover = tile(page, "mover")
    expect(mover).to_have_css("y", "142px")
    assert mover.evaluate("node => node.getAnimations().length") == 0


def test_it_plays_and_pauses(results: OpenResults):
    page = results()
    tile(page, "play").click()
    expect(tile(page, "play")).to_have_text("Pause")
    expect(tile(page, "place")).to_have_text("3 of 10")
    tile(page, "play").click()
    expect(tile(page, "play")).to_have_text("Play")
    page.wait_for_timeout(2500)
    expect(tile(page, "place")).to_have_text("3 of 10")


def test_with_reduced_motion_it_stands_still_and_is_stepped(results: OpenResults):
    page = results(reduced_motion="reduce")
    expect(tile(page, "play")).to_be_hidden()
    tile(page, "step").click()
    assert tile(page, "mover").evaluate("node => node.getAnimations().length") == 0
    expect(tile(page, "mover")).to_have_css("y", "142px")


def test_own_scores_start_the_walk_over(results: OpenResults):
    page = results()
    tile(page, "step").click()
    field = page.get_by_role("textbox", name="Scores of one query")
    field.fill("2, 9, 4")
    field.press("Enter")
    wait_idle(page)
    expect(tile(page, "place")).to_have_text("1 of 6")
    field.fill("<b>x</b>")
    field.press("Enter")
    wait_idle(page)
    expect(page.get_by_text("'<b>x</b>' is no number from -100 to 100.")).to_be_visible()


def test_the_csv_holds_what_the_chart_shows(results: OpenResults, tmp_path: Path):
    page = results()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").first.click()
    file = tmp_path / "io.csv"
    download.value.save_as(file)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    table = length_table(over_seq_len(START.training))
    assert [float(row["unfused_bytes"]) for row in rows] == table["unfused_bytes"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_scrolls_sideways_on_a_phone(results: OpenResults, scheme: str):
    page = results(**PHONE, color_scheme=scheme)
    assert not scrolls_sideways(page)
    page.get_by_role("textbox", name="Scores of one query").fill("1,2,3,4,5,6,7,8,9,10,11,12")
    page.get_by_role("textbox", name="Scores of one query").press("Enter")
    page.locator(".st-key-attention-tile").get_by_text("1", exact=True).click()
    wait_idle(page)
    assert not scrolls_sideways(page)


def test_axe_finds_nothing(results: OpenResults):
    page = results(color_scheme="light")
    tile(page, "step").click()
    assert violations(page) == []
