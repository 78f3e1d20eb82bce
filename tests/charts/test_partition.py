"""The pictures of step 2 carry the numbers of core: bars, readouts, sentences and tables."""

import json

import numpy as np
import pytest

from core.charts.partition import (
    STAGE_NAMES,
    activation_table,
    by_pipeline_stage,
    by_recompute,
    by_zero_stage,
    sweep_table,
)
from core.display import show_bytes
from core.partition import by_pipeline_stage as memory_by_stage
from core.partition import headline_of, over_data_parallel, over_seq_len
from core.presets import load_presets
from core.scenario import changed
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)


def zero_figure(scenario, *, baseline=None, zoom=True, unit="GB"):
    return by_zero_stage(
        over_data_parallel(scenario),
        stage=scenario.zero_stage,
        gpus_per_replica=scenario.gpus_per_replica,
        unit=unit,
        zoom=zoom,
        baseline=baseline,
    )


def figures(scenario, unit="GB"):
    sweep = over_seq_len(scenario)
    yield zero_figure(scenario, unit=unit)
    yield zero_figure(scenario, unit=unit, zoom=False)
    yield by_recompute(sweep, recompute=scenario.recompute, unit=unit, baseline=None)
    yield by_pipeline_stage(memory_by_stage(scenario), sweep.hbm_bytes, unit=unit)


@EVERY_PRESET
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_figure_is_whole(scenario, unit):
    for figure in figures(scenario, unit):
        payload = figure.payload()
        json.dumps(payload, allow_nan=False)
        assert len(payload["alt"]) == payload["frames"]
        assert all("nan" not in sentence for sentence in payload["alt"])


def test_offloaded_states_can_be_drawn():
    for figure in figures(changed(START, offload="optimizer+parameters").training):
        json.dumps(figure.payload(), allow_nan=False)


def at_own_position(scenario):
    payload = zero_figure(scenario).payload()
    return payload, over_data_parallel(scenario).data_parallel.index(scenario.data_parallel)


@EVERY_PRESET
def test_labels_readouts_and_sentence_agree_with_the_headline(scenario):
    payload, at = at_own_position(scenario)
    here = headline_of(scenario)
    shown = payload["labels"]["texts"][at][scenario.zero_stage]
    assert shown.removesuffix(" ✕") == show_bytes(here.peak_bytes)
    assert shown.endswith("✕") != here.fits
    states, room, price = payload["readouts"]
    assert states["values"][at] == show_bytes(here.state_bytes)
    assert room["values"][at] == (show_bytes(here.room_bytes) if here.fits else f"{show_bytes(here.over_bytes)} over")
    assert price["values"][at] == show_bytes(here.traffic_bytes)
    assert f"{STAGE_NAMES[scenario.zero_stage]} {show_bytes(here.peak_bytes)}" in payload["alt"][at]


# States of 1,128.9, 295.4, 156.5 and 17.6 GB. Unsharded, the peak is the optimizer step, 20 bytes a parameter; after
# that activations of 9.7 GB come on top, at stage 2 a bucket of 1 GB, at stage 3 embeddings of 6.3 GB passing through.
def test_the_start_scenario_in_words():
    payload, at = at_own_position(START.training)
    assert payload["slider"]["positions"][at] == "64 GPUs"
    assert payload["alt"][at] == (
        "64 GPUs: memory per GPU by row, against 85.5 GB: no sharding 1,411 GB, which does not fit,"
        " ZeRO-1 305 GB, which does not fit, ZeRO-2 167 GB, which does not fit, ZeRO-3 33.6 GB."
    )
    states, room, price = payload["readouts"]
    assert states["label"] == "ZeRO-3: model states per GPU"
    assert (states["values"][at], states["notes"][at]) == ("17.6 GB", "")
    assert (room["values"][at], room["notes"][at]) == ("51.9 GB", "it fits")
    assert (price["values"][at], price["notes"][at]) == ("417 GB", "1.5 x plain data parallel")
    assert room["values"][0].endswith(" over")
    assert room["notes"][0] == "it does not fit; the optimizer step is the peak"
    assert price["notes"][0] == "nothing to exchange"


def test_positions_count_gpus_and_say_what_they_are_made_of():
    positions = zero_figure(PRESETS["megatron-1t-3072"]).payload()["slider"]["positions"]
    assert positions[0] == "512 GPUs (1 x 512)"
    assert "3,072 GPUs (6 x 512)" in positions


def test_pinned_numbers_stand_beside_the_new_ones():
    pinned = headline_of(changed(START, zero_stage=1).training)
    payload = zero_figure(START.training, baseline=pinned).payload()
    at = over_data_parallel(START.training).data_parallel.index(64)
    states, room, price = (readout["notes"][at] for readout in payload["readouts"])
    assert states == "-278 GB against pinned"  # 295.44 to 17.64
    assert room.endswith("against pinned (did not fit)")
    assert room.startswith("it fits; +")
    assert (
        price == "1.5 x plain data parallel; +139 GB against pinned"
    )  # P elements of two bytes more, 63 of 64 of them
    same = zero_figure(START.training, baseline=headline_of(START.training)).payload()["readouts"]
    assert {readout["notes"][at].split("; ")[-1] for readout in same} == {"no change against pinned"}


def test_ways_to_recompute_over_the_length():
    scenario = START.training
    sweep = over_seq_len(scenario)
    payload = by_recompute(sweep, recompute="none", unit="GB", baseline=headline_of(scenario)).payload()
    at = sweep.seq_len.index(32_768)
    assert payload["slider"]["positions"][at] == "32,768 tokens"
    activations, largest = payload["readouts"]
    assert activations["values"][at] == "755 GB"
    assert activations["notes"][at] == "+745 GB against pinned"  # 755 less 9.71
    assert largest["values"][at] == "activations"
    plain = by_recompute(sweep, recompute="full", unit="GB", baseline=None).payload()["readouts"][0]
    assert plain["notes"] is None


def test_the_sweeps_table_has_a_row_for_each_position_and_stage():
    scenario = PRESETS["deepseek-v3-h800"]
    sweep = over_data_parallel(scenario)
    table = sweep_table(sweep, scenario.gpus_per_replica)
    rows = len(sweep.data_parallel) * 4
    assert {len(column) for column in table.values()} == {rows}
    parts = np.sum(
        [
            column
            for name, column in table.items()
            if name.endswith("_bytes") and name not in ("peak_bytes", "traffic_bytes")
        ],
        axis=0,
    )
    assert parts == pytest.approx(table["peak_bytes"])
    own = [at for at in range(rows) if table["gpus"][at] == 2048 and table["zero_stage"][at] == 1]
    assert [table["peak_bytes"][at] for at in own] == [headline_of(scenario).peak_bytes]
    assert [table["traffic_bytes"][at] for at in own] == [headline_of(scenario).traffic_bytes]
    assert type(table["gpus"][0]) is int


def test_the_lengths_table_has_a_row_for_each_length_and_way():
    scenario = START.training
    sweep = over_seq_len(scenario)
    table = activation_table(sweep)
    assert {len(column) for column in table.values()} == {3 * len(sweep.seq_len)}
    at = [row for row, name in enumerate(table["recompute"]) if name == "full" and table["seq_len"][row] == 4096]
    assert [table["activation_bytes"][row] for row in at] == [headline_of(scenario).activation_bytes]
