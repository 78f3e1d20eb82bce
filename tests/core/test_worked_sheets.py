"""The sheets in docs/worked, which were worked on paper from the papers' own formulas, against the core."""

import re
from pathlib import Path

import pytest

from core.bottleneck_counts import Known
from core.partition import headline_of
from core.presets import load_presets
from core.scenario import changed
from tests.worked_lines import bottleneck_lines, communication_lines

# states, activations, peak, traffic a step [bytes]; the sheet of the same number derives each.
SHEETS = {
    1: ("zero-70b-64", {}, 17_638_426_624, 9_705_619_456, 33_648_084_992, 416_707_828_992),
    2: ("megatron-1t-3072", {}, 34_184_908_800, 13_421_772_800, 48_246_312_960, 7_121_856_000),
    3: ("llama31-405b-16384", {}, 7_332_040_704, 68_249_714_688, 77_581_755_392, 225_945_460_224),
    4: ("deepseek-v3-h800", {}, 19_847_510_016, 3_758_096_384, 25_885_210_624, 17_852_826_624),
    5: ("8b-on-24gb", {}, 128_484_179_968, 2_671_771_648, 160_605_224_960, 0),
    "5, LoRA": ("8b-on-24gb", {"recipe": "lora"}, 16_731_611_136, 2_671_771_648, 19_403_382_784, 0),
    "5, QLoRA": ("8b-on-24gb", {"recipe": "qlora"}, 6_372_995_136, 2_671_771_648, 9_044_766_784, 0),
}


@pytest.mark.parametrize(("preset", "changes", "states", "activations", "peak", "traffic"), SHEETS.values(), ids=SHEETS)
def test_the_headline_is_the_one_worked_on_paper(preset, changes, states, activations, peak, traffic):
    here = headline_of(changed(load_presets()[preset].scenario(), **changes).training)
    assert here.state_bytes == pytest.approx(states, rel=1e-9)
    assert here.activation_bytes == pytest.approx(activations, rel=1e-9)
    assert here.peak_bytes == pytest.approx(peak, rel=1e-9)
    assert here.traffic_bytes == pytest.approx(traffic, rel=1e-9)


DOCS = Path(__file__).parents[2] / "docs" / "worked"
SCALES = {"": 1, "x": 1, "B": 1, "GB": 1e9, "us": 1e-6, "ms": 1e-3, "s": 1, "%": 0.01}
RESULT = re.compile(r"(~?)(-?[\d,]+)(\.\d+)?(e\d+)? ?(B|GB|us|ms|s|%|x)?$")  # what a cell by hand ends with
ROUGHLY = 1e-3  # of a result marked ~, whose sheet says what the core leaves out

# What is known of each run, of which the page counts MFU and HFU; the sheets say where it is from.
STEP_1 = {
    1: ("zero-70b-64", Known(None, 62_043.4, "causal")),
    2: ("mfu-35-hfu-62", Known(0.35, None, "6N")),
    3: ("llama31-405b-16384", Known(0.41, None, "causal")),
    4: ("deepseek-v3-h800", Known(None, 15_360 * 4096 / 19.926, "causal")),
    5: ("gpt3-175b-serving", Known(None, 6_828.457, "full")),
}
# A sheet has one table for each entry.
STEP_3 = {
    1: [("zero-70b-64", {})],
    2: [("mfu-35-hfu-62", {})],
    3: [
        ("llama31-405b-16384", {}),
        ("llama31-405b-16384", {"seq_len": 131_072, "context_parallel": 16, "data_parallel": 8}),
    ],
    4: [("deepseek-v3-h800", {})],
    5: [("megatron-1t-3072", {})],
}


def tables(name):
    """The tables of a sheet as rows of line, by hand and page."""
    found, text = [], (DOCS / name).read_text()
    for row in re.findall(r"^\| (.+) \| (.+) \| (.*)\|$", text, re.MULTILINE):
        line, hand, page = (cell.strip() for cell in row)
        if line == "line":
            found.append([])
        else:
            found[-1].append((line, hand, page))
    return found


def by_hand(cell):
    """What a cell by hand ends with, and as exactly as it is written."""
    rough, whole, decimals, power, unit = RESULT.search(cell).groups(default="")
    scale = SCALES[unit] * 10 ** int(power[1:] or 0)
    value = float((whole + decimals).replace(",", "")) * scale
    half_digit = 0.505 * 10.0 ** -max(len(decimals) - 1, 0) * scale
    return pytest.approx(value, rel=ROUGHLY, abs=0) if rough else pytest.approx(value, rel=0, abs=half_digit)


def holds(rows, shown):
    """Every line that the page has: the core's number by hand, and its words on the page; returns how many."""
    held = [(line, hand, page) for line, hand, page in rows if page]
    for line, hand, page in held:
        value, words = shown[line]
        assert value == by_hand(hand), line
        assert page == words, line
    assert not [line for line, _, page in rows if not page and line in shown], "a line that the page has is not held"
    return len(held)


@pytest.mark.parametrize(("preset", "known"), STEP_1.values(), ids=STEP_1)
def test_step_1_shows_what_was_worked_on_paper(preset, known, request):
    (rows,) = tables(f"bottleneck-{request.node.callspec.id}.md")
    assert holds(rows, bottleneck_lines(load_presets()[preset].scenario(), known)) >= 10


@pytest.mark.parametrize("scenarios", STEP_3.values(), ids=STEP_3)
def test_step_3_shows_what_was_worked_on_paper(scenarios, request):
    held = [
        holds(rows, communication_lines(changed(load_presets()[preset].scenario(), **changes)))
        for rows, (preset, changes) in zip(
            tables(f"communication-{request.node.callspec.id}.md"), scenarios, strict=True
        )
    ]
    assert sum(held) >= 10


def test_a_number_worked_on_paper_is_held_to_its_last_digit():
    assert by_hand("8 x 5.3687e9 / 3 = 12.910 ms") == 0.0129104
    assert by_hand("35% x 1.32948 = 46.532%") == 0.465324
    assert by_hand("6 N = 219.748e9") == 219.7484e9
    assert by_hand("8 x 5.3687e9 / 3 = 12.910 ms") != 0.012912
    assert by_hand("a sum: ~63.164 GB") == 63.134e9
    assert by_hand("a sum: ~63.164 GB") != 63.05e9
