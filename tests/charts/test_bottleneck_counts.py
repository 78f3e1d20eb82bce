"""The second picture of step 1 carries the numbers of core: bars, labels, readouts, sentences."""

import json

import numpy as np
import pytest

from core.bottleneck_counts import COUNTS, WAYS, Known, counted
from core.charts.bottleneck_counts import END, ROLE_OF_PART, counted_ways, counts_table
from core.presets import load_presets

PUZZLE = load_presets()["mfu-35-hfu-62"].scenario().training
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}


def figure(known, *, reported=0.62, run=PUZZLE):
    used = counted(run, known, run.accelerator.half_dtype)
    at = used.sweep.seq_len.index(run.seq_len)
    return used, at, counted_ways(used, recompute=run.recompute, reported=reported, num_gpus=run.num_gpus)


def test_bars_are_the_shares():
    used, at, drawn = figure(Known(0.35, None, "6N"))
    tables = {(table.trace, table.attribute): np.asarray(table.values) for table in drawn.frames}
    rows = len(COUNTS) * len(WAYS)
    parts = tables[0, "customdata"].reshape(-1, len(ROLE_OF_PART), rows)
    shares = np.stack([100 * used.share(count, way) for count in COUNTS for way in WAYS], axis=-1)
    assert parts.sum(axis=1) == pytest.approx(shares)
    ends = (tables[0, "base"] + tables[0, "x"]).reshape(parts.shape).max(axis=1)
    assert ends == pytest.approx(np.minimum(shares, END))
    assert (drawn.labels.cut == (shares > END)).all()
    assert drawn.labels.texts[at] == ["35.0%", "46.5%", "45.8%", "60.9%", "56.6%", "75.3%"]


def test_the_puzzle_in_readouts_and_words():
    _, at, drawn = figure(Known(0.35, None, "6N"))
    model, hardware, reported = drawn.payload()["readouts"]
    assert (model["label"], model["values"][at]) == ("MFU, 6N, no attention", "35.0%")
    assert model["notes"][at] == "53,146 tokens/s on 64 GPUs"
    assert (hardware["values"][at], hardware["notes"][at]) == ("46.5%", "recompute explains up to 46.5%, 1.33 x")
    assert reported["values"][at] == "62.0%"
    assert reported["notes"][at] == (
        "1.77 x MFU, more than recompute explains; causal attention, all recomputed comes near"
    )
    assert "causal, recomputed 60.9%" in drawn.payload()["alt"][at]
    assert drawn.payload()["alt"][at].endswith("reported HFU 62.0%.")


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        (0.30, "below MFU: HFU never is"),
        (0.45, "recomputation can explain it"),
        (0.95, "no count here explains it"),
    ],
)
def test_what_is_said_of_a_reported_figure(reported, words):
    _, at, drawn = figure(Known(0.35, None, "6N"), reported=reported)
    assert words in drawn.payload()["readouts"][2]["notes"][at]


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (Known(0.35, None, "6N"), [None, None]),
        (Known(0.90, None, "6N"), ["no run does that: causal attention counted", "no run does that"]),
        (Known(0.98, None, "causal"), [None, "no run does that: causal attention counted, it is 130%"]),
        (Known(1.00, None, "full"), [None, "no run does that"]),
        (Known(0.88, None, "full"), [None, "above 100% only because masked scores are counted"]),
        (Known(None, 1e12, "6N"), ["no run does that", "no run does that"]),
    ],
)
def test_a_share_above_the_peak_says_what_is_wrong_with_it(known, words):
    # 45.8 / 35 = 1.31 causal for each 6N, 60.9 / 35 = 1.74 with recomputation; full 56.6 / 35 = 1.62 and 2.15.
    _, at, drawn = figure(known)
    for readout, expected in zip(drawn.payload()["readouts"], words, strict=False):
        if expected:
            assert expected in readout["notes"][at]
        else:
            assert "no run" not in readout["notes"][at]
            assert "above 100%" not in readout["notes"][at]


def test_without_a_report_no_line_and_no_number_is_drawn():
    _, _, drawn = figure(Known(0.35, None, "6N"), reported=None)
    payload = drawn.payload()
    assert len(payload["readouts"]) == 2
    assert [limit["name"] for limit in payload["limits"]] == ["peak"]


@pytest.mark.parametrize("run", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("known", [Known(0.35, None, "6N"), Known(None, 1e5, "full"), Known(1.0, None, "causal")])
def test_every_figure_is_whole(run, known):
    _, _, drawn = figure(known, run=run)
    payload = drawn.payload()
    json.dumps(payload, allow_nan=False)
    assert "nan" not in str((payload["readouts"], payload["alt"], payload["labels"]["texts"]))


def test_the_table_has_a_row_for_each_count_way_and_length():
    used, at, _ = figure(Known(0.35, None, "6N"))
    table = counts_table(used)
    assert {len(column) for column in table.values()} == {len(COUNTS) * len(WAYS) * len(used.sweep.seq_len)}
    row = len(used.sweep.seq_len) * 3 + at  # causal, full
    assert (table["attention"][row], table["recompute"][row], table["seq_len"][row]) == ("causal", "full", 32_768)
    assert table["share_of_peak"][row] == pytest.approx(0.609, abs=5e-4)
