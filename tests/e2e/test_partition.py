"""Step 2 in a real browser: the walk, the drag, links and Back, the dialogs, and bad input of every kind."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from core.charts.partition import sweep_table
from core.charts.theme import PALETTE
from core.display import show_bytes
from core.partition import headline_of, over_data_parallel
from core.presets import load_presets
from core.scenario import Scenario, changed
from core.scenario_link import default_scenario, from_file, pack
from tests.configs import CONFIGS, llama, model_of
from tests.e2e.axe import violations
from tests.e2e.conftest import OpenPage
from tests.e2e.server import Server, wait_idle
from tests.e2e.test_home import PHONE, commit, frames_sent, scrolls_sideways
from tests.hand_counts import KV_BYTES, LONG, PARAMS

START = default_scenario()
QWEN = CONFIGS["Qwen--Qwen3-8B"].read_text(encoding="utf-8")
SEEN_BEFORE = {
    "cookies": [
        {"name": "ridgepoint_settings", "value": "unit=GB&predictions=off", "domain": "127.0.0.1", "path": "/"}
        | {"expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax"}
    ]
}

# The outlines of the bars as they are drawn.
BARS = (
    "[...document.querySelectorAll('.st-key-partition-memory .barlayer path')]"
    ".map(path => path.getAttribute('d')).join()"
)

OpenResults = Callable[..., Page]


@pytest.fixture
def results(app: OpenPage) -> OpenResults:
    """Opens the page for a reader who has switched predictions off, and waits until the charts are drawn."""

    def open_page(query: str = "", *, origin: str = "", **options: object) -> Page:
        page = app(f"{origin}/partition{query}", storage_state=SEEN_BEFORE, **options)
        wait_drawn(page)
        return page

    return open_page


def wait_drawn(page: Page) -> None:
    for key in ("memory", "activations"):
        expect(page.locator(f".st-key-partition-{key} .live")).to_have_attribute("aria-busy", "false", timeout=30_000)


def readout(page: Page, row: int = 0, chart: str = "memory") -> Locator:
    return page.locator(f".st-key-partition-{chart} .live-value").nth(row)


def slider(page: Page, chart: str = "memory") -> Locator:
    return page.locator(f".st-key-partition-{chart} .live-range")


def numbers(page: Page) -> list[str]:
    """Every number beside the charts."""
    return page.locator(".live-value").all_inner_texts()


def states_of(scenario: Scenario) -> str:
    return show_bytes(headline_of(scenario.training).state_bytes)


def box(page: Page, label: str) -> Locator:
    return page.get_by_role("spinbutton", name=label, exact=True)


def enter(page: Page, label: str, value: str) -> None:
    box(page, label).fill(value)
    box(page, label).press("Enter")
    wait_idle(page)


def refusals(scope: Page | Locator) -> Locator:
    return scope.locator('.stMarkdownColoredText:has([aria-label="error icon"])')


def dialog(page: Page, button: str) -> Locator:
    """Opens a dialog of the scenario bar with the keyboard."""
    opener = page.locator(".st-key-scenario_bar").get_by_role("button", name=button)
    opener.focus()
    opener.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    wait_idle(page)
    return page.get_by_role("dialog")


def close(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    wait_idle(page)


def paste(opened: Locator, text: str) -> None:
    """Puts a text into the box for a config and sends it."""
    typed = opened.get_by_role("textbox", name="config.json")
    typed.fill(text)
    typed.press("Control+Enter")
    wait_idle(opened.page)


def row(opened: Locator, name: str) -> Locator:
    """A value of what a config was read as."""
    first_cell = opened.page.get_by_role("cell", name=name, exact=True)
    return opened.locator("tr").filter(has=first_cell).locator("td").nth(1)


def attach(opened: Locator, name: str, content: bytes) -> None:
    opened.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": content}
    )
    wait_idle(opened.page)


# The walk and the drag.
def test_the_walk_from_home_to_the_charts(app: OpenPage):
    page = app("/")
    page.get_by_role("slider", name="Your guess").press("ArrowRight")
    commit(page)
    page.get_by_role("link", name="Next, the opposite case").click()
    expect(page.get_by_role("heading", name="Partition until it fits")).to_be_visible()
    expect(page.get_by_role("button", name="Commit")).to_be_visible()
    expect(page.locator(".live")).to_have_count(0)
    page.get_by_role("slider", name="Your guess").press("Home")
    page.get_by_role("button", name="Commit").click()
    expect(readout(page)).to_have_text("17.6 GB")
    expect(page.get_by_text("34%")).to_be_visible()
    expect(page.locator(".st-key-partition-activations")).to_have_count(0)
    page.get_by_role("radiogroup", name="Your guess").get_by_text("activations").click()
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("You said activations, 70% sure: right.")).to_be_visible()
    wait_drawn(page)
    expect(page.get_by_role("button", name="Commit")).to_have_count(0)


def test_a_drag_is_followed_at_once_and_reruns_once_at_its_end(results: OpenResults):
    page = results()
    sent = frames_sent(page)
    page.reload()
    wait_drawn(page)
    wait_idle(page)
    plot = page.locator(".st-key-partition-memory .js-plotly-plot")
    plot.evaluate("plot => { plot.dataset.mark = 'first'; }")
    frames = len(sent)
    assert frames, "the counter of frames works"
    sweep = over_data_parallel(START.training)
    thumb, target = sweep.data_parallel.index(64), sweep.data_parallel.index(512)
    bounds = slider(page).bounding_box()
    assert bounds is not None

    def grip(position: int) -> tuple[float, float]:
        travel = (bounds["width"] - 20) / (len(sweep.data_parallel) - 1)  # the thumb is 20 px wide
        return bounds["x"] + 10 + travel * position, bounds["y"] + bounds["height"] / 2

    before = page.evaluate(BARS)
    page.mouse.move(*grip(thumb))
    page.mouse.down()
    page.mouse.move(*grip(target), steps=8)
    expect(readout(page)).to_have_text(show_bytes(sweep.headline(target, 3).state_bytes))
    expect(slider(page)).to_have_attribute("aria-valuetext", "512 GPUs")
    page.wait_for_function(f"before => ({BARS}) !== before", arg=before)
    assert len(sent) == frames, "nothing is sent while the hand moves"
    assert "dp=" not in page.url
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"\?dp=512$"))
    wait_idle(page)
    assert len(sent) == frames + 1
    expect(page.get_by_text("on 512 x")).to_be_visible()
    expect(page.get_by_text("Over 512 data-parallel ranks")).to_be_visible()
    expect(plot).to_have_attribute("data-mark", "first")
    expect(readout(page)).to_have_text(states_of(changed(START, data_parallel=512)))


def test_both_sliders_answer_to_the_keyboard(results: OpenResults):
    page = results()
    slider(page).press("ArrowRight")
    expect(page).to_have_url(re.compile(r"\?dp=96$"))
    slider(page, "activations").press("End")
    expect(page).to_have_url(re.compile(r"\?dp=96&seq=1048576$"))
    end = changed(START, data_parallel=96, seq_len=1_048_576)
    expect(readout(page)).to_have_text(states_of(end))
    kept = show_bytes(headline_of(end.training).activation_bytes)
    expect(readout(page, chart="activations")).to_have_text(kept)
    expect(readout(page, 1)).to_contain_text("over")
    slider(page).press("Home")
    expect(page.get_by_text("on 1 x")).to_be_visible()


def test_the_stages_of_a_pipeline_have_a_bar_each(results: OpenResults):
    page = results("?pp=16&mb=16")
    stages = page.locator(".st-key-partition-stages")
    expect(stages.locator(".live")).to_have_attribute("aria-busy", "false")
    expect(stages.locator(".ytick")).to_have_count(16)
    expect(page.get_by_role("heading", name="Pipeline stages are not equal")).to_be_visible()
    enter(page, "Pipeline stages", "1")
    expect(stages).to_have_count(0)


def test_the_chart_can_be_taken_along_as_csv(results: OpenResults):
    page = results("?tp=8&dp=16")
    slider(page).press("ArrowRight")
    expect(page).to_have_url(re.compile("dp=24"))
    wait_idle(page)
    with page.expect_download() as download:
        page.locator(".st-key-partition-csv").get_by_role("button").click()
    with Path(download.value.path()).open(newline="") as file:
        read = list(csv.DictReader(file))
    training = changed(START, tensor_parallel=8, data_parallel=24).training
    table = sweep_table(over_data_parallel(training), training.gpus_per_replica)
    assert {name: [float(line[name]) for line in read] for name in read[0]} == table


# Links, reload, Back.
def test_a_copied_address_shows_the_same_numbers_elsewhere(results: OpenResults, app: OpenPage):
    page = results()
    enter(page, "Tensor parallel", "8")
    slider(page).press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"\?dp=48&tp=8$"))
    wait_idle(page)
    other = results(page.url.partition("/partition")[2])
    assert other.url == page.url
    assert numbers(other) == numbers(page)
    expect(box(other, "Tensor parallel")).to_have_value("8")
    page.reload()
    wait_drawn(page)
    assert numbers(page) == numbers(other)


def test_a_deep_link_as_the_first_request_of_a_process(results: OpenResults, fresh_server: Server):
    page = results("?dp=8&tp=8&zero=1", origin=fresh_server.url)
    expect(readout(page)).to_have_text(states_of(changed(START, data_parallel=8, tensor_parallel=8, zero_stage=1)))
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.endswith("/partition?dp=8&tp=8&zero=1")


def test_back_undoes_changes_one_by_one_and_leads_out(app: OpenPage):
    page = app("/", storage_state=SEEN_BEFORE)
    page.get_by_role("link", name="2 Partition").click()
    wait_drawn(page)
    start = numbers(page)
    enter(page, "Tensor parallel", "8")
    with_tensor = numbers(page)
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Settings").click()
    expect(page.get_by_role("heading", name="Unit of memory")).to_be_visible()
    wait_idle(page)
    page.get_by_role("link", name="2 Partition").click()
    wait_drawn(page)
    enter(page, "Pipeline stages", "2")
    for address, shown in (("/partition?tp=8", with_tensor), ("/settings?tp=8", []), ("/partition?tp=8", with_tensor)):
        page.go_back()
        expect(page).to_have_url(re.compile(re.escape(address) + "$"))
        wait_idle(page)
        expect(page.locator(".live-value")).to_have_text(shown)
    page.go_back()
    expect(page.locator(".live-value")).to_have_text(start)
    expect(box(page, "Tensor parallel")).to_have_value("1")
    page.go_back()
    expect(page.get_by_role("heading", name="Five steps, one limit each")).to_be_visible()
    page.go_back()
    expect(page).to_have_url("about:blank")


def test_a_preset_of_home_is_undone_by_back(app: OpenPage):
    page = app("/", storage_state=SEEN_BEFORE)
    page.get_by_role("button", name="An 8B on one 24 GB consumer card").click()
    expect(readout(page)).to_have_text(states_of(load_presets()["8b-on-24gb"].scenario()))
    wait_idle(page)
    page.go_back()
    expect(page.get_by_text("Carry on with yours")).to_be_visible()
    expect(page.get_by_text("Llama 3.1 8B on 1 x GeForce RTX 4090")).to_be_visible()
    page.go_forward()
    expect(readout(page)).to_have_text(states_of(load_presets()["8b-on-24gb"].scenario()))


@pytest.mark.parametrize("query", ["?tp=3", "?dp=64", "?model=1.broken&dp=x"])
def test_an_address_edited_by_hand_stays_and_back_leaves_it(results: OpenResults, query: str):
    page = results(query)
    expect(refusals(page)).to_have_count(0 if query == "?dp=64" else 1)
    expect(readout(page)).to_have_text("17.6 GB")
    assert page.url.endswith(query)
    page.go_back()
    expect(page).to_have_url("about:blank")


def test_two_tabs_are_two_scenarios(results: OpenResults):
    first = results()
    second = first.context.new_page()
    second.goto("/partition?tp=8")
    wait_drawn(second)
    enter(second, "Tensor parallel", "4")
    expect(second).to_have_url(re.compile(r"\?tp=4$"))
    enter(first, "Pipeline stages", "2")
    expect(first).to_have_url(re.compile(r"\?pp=2$"))
    expect(box(first, "Tensor parallel")).to_have_value("1")
    expect(box(second, "Pipeline stages")).to_have_value("1")


def test_a_preset_closes_its_list(results: OpenResults):
    page = results()
    page.get_by_role("button", name="Presets").click()
    page.get_by_role("button", name="Llama 3.1 405B on 16,384 H100").click()
    expect(page.get_by_text("on 16,384 x")).to_be_visible()
    expect(page.get_by_role("button", name="70B on 64 GPUs with ZeRO")).to_have_count(0)
    expect(readout(page)).to_have_text(states_of(load_presets()["llama31-405b-16384"].scenario()))


# Bad input.
def test_bad_numbers_are_refused_beside_their_box(results: OpenResults):
    page = results()
    typed = {
        "3": ("3", "it must divide the 64 heads"),
        "0": ("0", "it must be a whole number from 1 to 1,024. Try 1."),
        "-1": ("-1", "it must be a whole number from 1 to 1,024. Try 1."),
        "1.5": ("1.5", "Tensor parallel is 1.5: it must be a whole number"),
        "1e30": ("1e+30", "Try 1,024."),
        "99999999999999999999": ("100000000000000000000", "Try 1,024."),
    }
    for value, (left, words) in typed.items():
        enter(page, "Tensor parallel", value)
        expect(refusals(page)).to_have_count(1)
        expect(refusals(page)).to_contain_text(words)
        expect(box(page, "Tensor parallel")).to_have_value(left)
        expect(readout(page)).to_have_text("17.6 GB")
    field, sentence = box(page, "Tensor parallel").bounding_box(), refusals(page).bounding_box()
    assert field is not None
    assert sentence is not None
    assert 0 < sentence["y"] - field["y"] < 60, "under the box"
    assert page.url.endswith("/partition")
    enter(page, "Tensor parallel", "8")
    expect(refusals(page)).to_have_count(0)
    expect(readout(page)).to_have_text(states_of(changed(START, tensor_parallel=8)))


def test_texts_that_are_no_config_are_refused_in_words(results: OpenResults):
    page = results("?dp=8")
    opened = dialog(page, "Llama 3.1 70B")
    deep = 100_000
    wrong = {
        "no JSON at all": "The text is not JSON: Expecting value at line 1, column 1",
        '{"hidden_size": 4096,\n "vocab_size": }': "line 2, column 16",
        "[" * deep: "nested too deeply",
        '{"a":' * deep + "1" + "}" * deep: "nested too deeply",
        "[1, 2]": "is not an object",
        '{"pad": "' + "x" * 5_000_000 + '"}': "The text has 5,000 kB",
        '{"n": ' + "9" * 5000 + "}": "a number of more than 4,300 digits",
        "{}": "is missing",
        json.dumps(llama(hidden_size=...)): "hidden_size is missing",
        json.dumps(llama(num_key_value_heads=7)): "num_key_value_heads=7 does not divide num_attention_heads=32",
        json.dumps(llama(num_hidden_layers=0)): "num_hidden_layers=0 is out of range",
        json.dumps(llama(hidden_size=1e30)): "hidden_size=1e+30 is out of range",
        json.dumps(llama(vocab_size=float("nan"))): "vocab_size=NaN is not a whole number",
    }
    for text, words in wrong.items():
        paste(opened, text)
        expect(refusals(opened)).to_have_count(1)
        expect(refusals(opened)).to_contain_text(words)
        expect(opened.get_by_role("button", name="Use this config")).to_have_count(0)
    paste(opened, "  ")
    expect(refusals(opened)).to_have_count(0)
    close(page)
    expect(readout(page)).to_have_text(states_of(changed(START, data_parallel=8)))
    assert page.url.endswith("?dp=8")


def test_files_that_are_no_scenario_are_refused_in_words(results: OpenResults):
    page = results()
    opened = dialog(page, "Share")
    wrong = {
        b"no JSON": "it must be JSON that this app wrote",
        b"[" * 100_000: "it must be JSON that this app wrote",
        b"\xff\xfe\x00": "it must be JSON that this app wrote",
        b"x" * 2_000_000: "a scenario file holds at most 1,000,000",
        b'{"format": "ridgepoint-scenario/1"}': "'model': it must be a JSON object",
        QWEN.encode(): "its format must be ridgepoint-scenario/1",
    }
    for content, words in wrong.items():
        attach(opened, "scenario.json", content)
        expect(refusals(opened)).to_contain_text(words)
        expect(opened.get_by_role("button", name="Use this scenario")).to_have_count(0)
    close(page)
    expect(readout(page)).to_have_text("17.6 GB")


def test_a_name_shows_as_it_was_typed(results: OpenResults):
    name = "**b** _i_ <b>x</b> $x$ $y$ `c` :red[r] :material/home: [l](https://a.org) -> -- & &lt; \N{GRINNING FACE}"
    page = results(f"?model={pack(model_of('Qwen--Qwen3-8B').model_copy(update={'name': name}))}")
    page.get_by_role("button", name="Pin as baseline").click()
    expect(page.get_by_text("Pinned:")).to_be_visible()
    shown = page.get_by_text("Pinned:").inner_text().replace("\u2060", "")
    assert shown.startswith(f"Pinned: {name} on 64 x H100 SXM")
    assert page.get_by_test_id("stMain").locator("a[href*='a.org'], b, .katex").count() == 0


# Dialogs.
def test_all_25_real_configs_give_the_known_counts(results: OpenResults):
    opened = dialog(results(), "Llama 3.1 70B")
    assert set(CONFIGS) == set(PARAMS) == set(KV_BYTES)
    for name, path in CONFIGS.items():
        paste(opened, path.read_text(encoding="utf-8"))
        expect(row(opened, "parameters"), name).to_contain_text(re.compile(rf"^{PARAMS[name]:,} \("))
        for tokens, label in ((1, "1 token"), (LONG, f"{LONG:,} tokens")):
            counted = KV_BYTES[name][tokens == LONG]
            expect(row(opened, f"KV cache, {label}"), name).to_contain_text(re.compile(rf"^{counted:,} B \("))
        expect(opened.get_by_role("button", name="Use this config")).to_be_visible()


def test_a_pasted_config_becomes_the_model_and_travels(results: OpenResults):
    page = results()
    opened = dialog(page, "Llama 3.1 70B")
    paste(opened, CONFIGS["moonshotai--Kimi-K3"].read_text(encoding="utf-8"))
    opened.get_by_role("button", name="Use this config").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(readout(page)).to_have_text(show_bytes(PARAMS["moonshotai--Kimi-K3"] * 16 / 64))
    wait_idle(page)
    assert "model=1." in page.url
    assert len(page.url) < 2100
    assert numbers(results(page.url.partition("/partition")[2])) == numbers(page)


def test_the_last_of_upload_paste_and_edit_counts(results: OpenResults):
    page = results()
    opened = dialog(page, "Llama 3.1 70B")
    attach(opened, "config.json", QWEN.encode())
    expect(row(opened, "parameters")).to_contain_text("8,190,735,360")
    expect(opened.get_by_role("textbox", name="config.json")).to_have_value(QWEN)
    paste(opened, CONFIGS["openai--gpt-oss-20b"].read_text(encoding="utf-8"))
    expect(row(opened, "parameters")).to_contain_text("20,914,757,184")
    attach(opened, "big.json", b'{"pad": "' + b"x" * 2_000_000 + b'"}')
    expect(refusals(opened)).to_contain_text("The text has 2,000 kB")
    opened.get_by_role("button", name="Edit its config by hand").click()
    wait_idle(page)
    config = json.loads(opened.get_by_role("textbox", name="config.json").input_value())
    paste(opened, json.dumps(config | {"num_hidden_layers": 40}))
    # Half of the layers, and everything around them once: embedding, head and final norm of width 8,192.
    around = 2 * 128_256 * 8192 + 8192
    half = (70_553_706_496 - around) // 2 + around
    expect(row(opened, "parameters")).to_contain_text(f"{half:,}")
    opened.get_by_role("button", name="Use this config").click()
    expect(readout(page)).to_have_text(show_bytes(half * 16 / 64))
    wait_idle(page)
    opened = dialog(page, "pasted llama")
    expect(opened.get_by_role("textbox", name="config.json")).to_have_value("")


def test_a_model_of_the_catalog_is_found_by_typing(results: OpenResults):
    page = results()
    opened = dialog(page, "Llama 3.1 70B")
    opened.get_by_role("combobox").fill("Qwen3-8B")
    page.keyboard.press("Enter")
    wait_idle(page)
    opened.get_by_role("button", name="Use this model").click()
    expect(page).to_have_url(re.compile(r"\?model=Qwen%2FQwen3-8B$"))
    expect(readout(page)).to_have_text(show_bytes(8_190_735_360 * 16 / 64))


def test_an_accelerator_edited_by_hand(results: OpenResults):
    page = results("?dp=8")
    opened = dialog(page, "H100 SXM")
    opened.get_by_text("Edit the numbers by hand").first.click()
    memory = opened.get_by_role("textbox", name="Memory, GB")
    use = opened.get_by_role("button", name="Use this hardware")
    for wrong, words in {
        "0": "above zero",
        "": "above zero",
        "nan": "above zero",
        "1e30": "at most 1,000,000,000",
    }.items():
        memory.fill(wrong)
        memory.press("Enter")
        expect(refusals(opened)).to_contain_text(words)
        expect(use).to_be_disabled()
    memory.fill("1,000")
    memory.press("Enter")
    rate = opened.get_by_role("textbox", name="Memory bandwidth")
    for wrong, words in {"1e300": "too large", "1e20": "at most 1,000,000,000,000,000.", "1e-12": "at least"}.items():
        rate.fill(wrong)
        rate.press("Enter")
        expect(refusals(opened)).to_contain_text(words)
        expect(use).to_be_disabled()
    rate.fill("3350")
    rate.press("Enter")
    expect(refusals(opened)).to_have_count(0)
    expect(use).to_be_enabled()
    use.click()
    expect(page.get_by_role("button", name="H100 SXM (edited)")).to_be_visible()
    here = headline_of(changed(START, data_parallel=8).training)
    expect(readout(page, 1)).to_have_text(show_bytes(1e12 - here.peak_bytes))
    expect(page.get_by_text("1,000 GB of memory stop at about 62.5B parameters")).to_be_visible()
    wait_idle(page)
    assert numbers(results(page.url.partition("/partition")[2])) == numbers(page)


def test_another_accelerator_brings_the_link_between_its_neighbours(results: OpenResults):
    page = results()
    opened = dialog(page, "H100 SXM")
    link = opened.get_by_role("combobox", name="Link inside a node")
    expect(link).to_have_value("NVLink 4")
    box = opened.get_by_role("combobox", name="Accelerator")
    box.click()
    box.fill("MI300X")
    page.get_by_role("option", name="MI300X").click()
    expect(link).to_have_value("Infinity Fabric (MI300X/MI325X)")
    opened.get_by_role("button", name="Use this hardware").click()
    page.wait_for_url("**up=infinity-fabric-mi300x**")


def test_a_saved_scenario_opens_elsewhere(results: OpenResults):
    page = results("?dp=16&tp=8&zero=1")
    opened = dialog(page, "Share")
    expect(opened.get_by_test_id("stCode")).to_have_text(page.url)
    with page.expect_download() as download:
        opened.get_by_role("button", name="Save scenario").click()
    saved = Path(download.value.path()).read_bytes()
    assert from_file(saved.decode()) == changed(START, tensor_parallel=8, data_parallel=16, zero_stage=1)
    other = results()
    opened = dialog(other, "Share")
    attach(opened, "scenario.json", saved)
    opened.get_by_role("button", name="Use this scenario").click()
    expect(other).to_have_url(page.url)
    wait_idle(other)
    assert numbers(other) == numbers(page)
    dialog(other, "Share").get_by_role("button", name="Reset to the start scenario").click()
    expect(other).to_have_url(re.compile("/partition$"))
    expect(readout(other)).to_have_text("17.6 GB")


def test_dialogs_open_and_close_with_the_keyboard(results: OpenResults):
    page = results()
    for name in ("Llama 3.1 70B", "H100 SXM", "Share"):
        opened = dialog(page, name)
        page.keyboard.press("Tab")
        assert opened.evaluate("dialog => dialog.contains(document.activeElement)")
        assert violations(page) == []
        close(page)
        expect(page.locator(".st-key-scenario_bar").get_by_role("button", name=name)).to_be_focused()


# Looks.
def test_nobody_stumbles_over_the_page(app: OpenPage, results: OpenResults):
    asked = app("/partition")
    expect(asked.get_by_role("button", name="Commit")).to_be_visible()
    assert violations(asked) == []
    page = results("?pp=16")
    enter(page, "Tensor parallel", "3")
    page.get_by_text("How are these computed?").first.click()
    expect(page.get_by_test_id("stCode").first).to_be_visible()
    assert violations(page) == []


def test_in_the_dark_the_parts_wear_the_colours_of_the_dark(results: OpenResults):
    page = results(color_scheme="dark")
    colours = page.locator(".st-key-partition-memory .js-plotly-plot").evaluate("plot => JSON.stringify(plot.data)")
    assert PALETTE["dark"]["weights"].lower() in colours.lower()
    assert violations(page) == []


def test_a_phone_never_scrolls_sideways(app: OpenPage, results: OpenResults):
    assert not scrolls_sideways(app("/partition", **PHONE))
    name = "a-model-whose-name-has-no-space-and-is-as-long-as-a-config-may-have-it-which-is-80"[:80]
    model = pack(model_of("Qwen--Qwen3-8B").model_copy(update={"name": name}))
    page = results(f"?pp=16&model={model}", **PHONE)
    enter(page, "Tensor parallel", "3")
    page.get_by_role("button", name="Pin as baseline").click()
    page.get_by_text("How are these computed?").first.click()
    expect(page.get_by_test_id("stCode").first).to_be_visible()
    assert not scrolls_sideways(page)
