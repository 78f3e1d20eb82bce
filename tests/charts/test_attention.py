"""The pictures of step 4 carry the numbers of core: lines, marks, readouts, sentences and tables."""

import json

import numpy as np
import pytest

from core.attention import headline_of, over_seq_len, over_tile_rows
from core.charts.attention import MEMORY, TRAFFIC, length_table, over_length, over_tiles, tile_table
from core.display import show_bytes
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}
MODELS = {model_id: with_model(START, load_models()[model_id])[0].training for model_id in load_models()}


def length_figure(scenario, *, view=TRAFFIC, unit="GB", baseline=None):
    return over_length(
        over_seq_len(scenario),
        view=view,
        fused=scenario.fused_attention,
        unit=unit,
        gpu=scenario.accelerator.name,
        baseline=baseline,
    )


def tile_figure(scenario, unit="GB"):
    return over_tiles(over_tile_rows(scenario), unit=unit, chip="a block")


@pytest.mark.parametrize("scenario", [*PRESETS.values(), *MODELS.values()], ids=[*PRESETS, *MODELS])
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_figure_is_whole(scenario, unit):
    for figure in (
        length_figure(scenario, unit=unit),
        length_figure(scenario, view=MEMORY, unit=unit),
        tile_figure(scenario, unit),
    ):
        payload = figure.payload()
        json.dumps(payload, allow_nan=False)
        assert len(payload["alt"]) == payload["frames"]
        assert all("nan" not in sentence for sentence in payload["alt"])


@pytest.mark.parametrize("card", [*load_accelerators().values()], ids=[*load_accelerators()])
def test_every_accelerator_can_be_drawn(card):
    scenario = START.training.model_copy(update={"accelerator": card})
    for figure in (length_figure(scenario, view=MEMORY), tile_figure(scenario)):
        json.dumps(figure.payload(), allow_nan=False)


@pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)
def test_readouts_and_sentence_agree_with_the_headline(scenario):
    payload, here = length_figure(scenario).payload(), headline_of(scenario)
    at = over_seq_len(scenario).seq_len.index(scenario.seq_len)
    unfused, tiled, held = payload["readouts"]
    assert unfused["values"][at] == show_bytes(here.unfused_bytes)
    assert tiled["values"][at] == show_bytes(here.tiled_bytes)
    assert held["values"][at] == show_bytes(here.unfused_extra_bytes)
    assert (tiled["emphasis"], unfused["emphasis"]) == (scenario.fused_attention, not scenario.fused_attention)
    assert show_bytes(here.unfused_bytes) in payload["alt"][at]


def test_the_start_scenario_in_words():
    payload = length_figure(START.training).payload()
    at = over_seq_len(START.training).seq_len.index(4096)
    assert payload["slider"]["positions"][at] == "4,096 tokens"
    assert [(r["values"][at], r["notes"][at]) for r in payload["readouts"]] == [
        ("24.1 GB", "forward and backward"),
        ("5.48 GB", "4.39 x less than unfused; 0.455 GB if rereads are cached"),
        ("4.36 GB", "tiled 68.2 MB"),
    ]


def test_no_time_stands_in_the_first_picture():
    text = json.dumps(length_figure(START.training).payload())
    assert " ms" not in text
    assert "less time" not in text


def test_scores_beyond_the_gpu_say_so():
    payload = length_figure(changed(START, seq_len=131_072).training).payload()
    at = over_seq_len(START.training).seq_len.index(131_072)
    assert payload["readouts"][2]["notes"][at].endswith("more than the GPU has")


def test_pinned_numbers_stand_beside_the_new_ones():
    pinned = headline_of(changed(START, seq_len=8192).training)
    notes = [readout["notes"] for readout in length_figure(START.training, baseline=pinned).payload()["readouts"]]
    at = over_seq_len(START.training).seq_len.index(4096)
    # 11 passes over 64 x (8192^2 - 4096^2) x 2 bytes, and three times Q, K, V and O of 4,096 tokens: 71.3 GB.
    assert notes[0][at] == "-71.3 GB against pinned"
    assert all(note[at].endswith("against pinned") for note in notes)
    assert "no change against pinned" in notes[0]


def test_marks_move_along_their_lines():
    figure = length_figure(START.training)
    sweep = over_seq_len(START.training)
    assert not figure.frames
    assert np.array_equal(figure.dots.y[:, 0], sweep.both("unfused").moved_bytes)
    assert np.array_equal(figure.dots.y[:, 2], sweep.both("tiled").least_bytes)


def test_what_a_gpu_has_is_a_line_where_bytes_are_held():
    (held,) = length_figure(START.training, view=MEMORY).limits
    assert (held.at, held.axis, held.name) == (START.accelerator.hbm_bytes, "y", "85.5 GB of H100 SXM")
    assert not length_figure(START.training).limits
    (block,) = tile_figure(START.training).limits
    assert (block.at, block.axis, block.name) == (227, "x", "227 KiB: a block")


def test_tiles_say_whether_they_fit():
    payload = tile_figure(START.training).payload()
    chip, moved, tiles = payload["readouts"]
    at = over_tile_rows(START.training).rows.index(192)
    assert over_tile_rows(START.training).largest == at
    assert (chip["values"][at], chip["notes"][at]) == ("192 KiB", "it fits")
    assert chip["notes"][at + 1] == "does not fit: 29.0 KiB over"  # 256 KiB against 227
    assert (moved["values"][at], moved["notes"][at]) == ("6.30 GB", "3.82 x less than unfused")
    assert moved["notes"][0].endswith("x unfused")
    assert tiles["values"][at] == "22"


def test_tables_have_a_row_for_each_position():
    sweep, tiles = over_seq_len(START.training), over_tile_rows(START.training)
    for table, rows in ((length_table(sweep), sweep.seq_len), (tile_table(tiles), tiles.rows)):
        assert {len(column) for column in table.values()} == {len(rows)}
    at = sweep.seq_len.index(4096)
    assert length_table(sweep)["unfused_bytes"][at] == headline_of(START.training).unfused_bytes
    assert tile_table(tiles)["fits"][:2] == [True, True]
