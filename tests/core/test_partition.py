"""What step 2 shows: sweeps that are their scalars, positions that can exist, and published largest models."""

import numpy as np
import pytest

from core.collectives import zero_traffic
from core.constraints import feasible
from core.hardware import load_accelerators, load_links
from core.memory import stage_params, training_memory
from core.model_spec import load_models
from core.params import count_params
from core.partition import (
    DATA_PARALLEL,
    SEQ_LEN,
    by_pipeline_stage,
    headline_of,
    over_data_parallel,
    over_seq_len,
    positions,
    traffic_by_stage,
)
from core.presets import load_presets
from core.scenario import build
from core.zero import STAGES, largest_model

LINKS = load_links()
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)


def training(model="meta-llama/Llama-3.1-70B", hbm_bytes=None, **values):
    accelerator = load_accelerators()["h100-sxm"]
    if hbm_bytes:
        accelerator = accelerator.edited(hbm_bytes=hbm_bytes)
    links = LINKS["nvlink-4"], LINKS["infiniband-ndr"]
    return build(load_models()[model], accelerator, *links, values).training


# Rajbhandari et al. 2020, arXiv:1910.02054, table 2: 64 GPUs of 32 GB hold 2B, 7.6B, 14.4B and 128B parameters.
def test_the_largest_models_of_the_zero_paper():
    sweep = over_data_parallel(training(hbm_bytes=32 * 10**9, data_parallel=64))
    largest = sweep.largest_params[sweep.data_parallel.index(64)] / 1e9
    assert largest == pytest.approx([2, 7.6, 14.4, 128], abs=0.05)


@pytest.mark.parametrize("recipe", ["adam", "adam-fp32-grads", "adam-8bit", "sgd-momentum"])
def test_on_whole_copies_the_largest_model_is_zeros_own(recipe):
    sweep = over_data_parallel(training(recipe=recipe))
    ranks = np.array(sweep.data_parallel)[:, None]
    assert sweep.largest_params == pytest.approx(largest_model(sweep.hbm_bytes, ranks, stage=STAGES, optimizer=recipe))


# Whatever splits the model: the states fit as long as the model is not larger than the largest.
@EVERY_PRESET
def test_the_states_fit_exactly_as_long_as_the_model_is_not_larger_than_the_largest(scenario):
    sweep = over_data_parallel(scenario)
    layout = scenario.layout | {"data_parallel": np.array(sweep.data_parallel)[:, None], "zero_stage": np.array(STAGES)}
    states = training_memory(scenario.model, **layout).state_bytes.max(axis=-1)
    fits = states <= sweep.hbm_bytes
    assert np.array_equal(fits, count_params(scenario.model).total <= sweep.largest_params)


def test_offloaded_states_set_no_limit():
    sweep = over_data_parallel(training(offload="optimizer+parameters"))
    assert np.isinf(sweep.largest_params[:, 3]).all()
    assert np.isfinite(sweep.largest_params[:, :3]).all()


@EVERY_PRESET
def test_the_sweep_holds_the_scenarios_own_numbers(scenario):
    here, memory = headline_of(scenario), training_memory(scenario.model, **scenario.layout)
    stage = int(memory.peak_bytes.argmax())
    assert here.peak_bytes == pytest.approx(memory.peak_bytes.max())
    assert here.state_bytes == pytest.approx(memory.state_bytes[stage])
    assert here.activation_bytes == pytest.approx(memory.activation_bytes[stage])
    assert here.room_bytes == pytest.approx(scenario.accelerator.hbm_bytes - memory.peak_bytes.max())
    assert here.fits == (memory.peak_bytes.max() <= scenario.accelerator.hbm_bytes)
    assert here.over_bytes == max(-here.room_bytes, 0)


@EVERY_PRESET
def test_every_position_of_the_gpu_slider_can_run_and_the_own_one_is_there(scenario):
    sweep = over_data_parallel(scenario)
    assert scenario.data_parallel in sweep.data_parallel
    assert list(sweep.data_parallel) == sorted(set(sweep.data_parallel))
    ranks = np.array(sweep.data_parallel)
    assert np.all(feasible(scenario.model, scenario.layout | {"data_parallel": ranks}))
    assert sweep.memory.peak_bytes.shape == sweep.largest_params.shape == sweep.traffic_bytes.shape == (len(ranks), 4)


def test_any_number_of_ranks_becomes_a_position():
    assert over_data_parallel(training(data_parallel=100)).data_parallel == positions(DATA_PARALLEL, 100)
    assert positions((1, 2, 4), 3) == (1, 2, 3, 4)
    assert positions((1, 2, 4), 4) == (1, 2, 4)


# 64 expert-parallel ranks need 64 ranks with tokens of their own, and 96 cannot share them evenly.
def test_positions_that_cannot_spread_the_experts_are_left_out():
    sweep = over_data_parallel(PRESETS["deepseek-v3-h800"])
    assert sweep.data_parallel == (64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)


def test_moving_the_slider_computes_nothing_anew():
    assert over_data_parallel(training(data_parallel=8)) is over_data_parallel(training(data_parallel=64, zero_stage=1))


# Narrower gradients, more micro-batches: the paper's 2 P and 3 P, m times where each micro-batch pays.
@pytest.mark.parametrize(
    ("values", "ratios"),
    [
        ({}, [1, 1, 1, 1.5]),
        ({"num_micro_batches": 8}, [1, 1, 4.5, 12]),
        # fp32 gradients: an all-reduce of 4 + 4 bytes, or a reduce-scatter of 4 and an all-gather of 2.
        ({"recipe": "adam-fp32-grads"}, [1, 0.75, 0.75, 1]),
    ],
)
def test_the_price_of_each_stage(values, ratios):
    sweep = over_data_parallel(training(data_parallel=64, **values))
    at = sweep.data_parallel.index(64)
    assert [sweep.headline(at, stage).traffic_ratio for stage in STAGES] == pytest.approx(ratios)
    alone = sweep.headline(0, 3)
    assert (sweep.data_parallel[0], alone.traffic_bytes, alone.traffic_ratio) == (1, 0, 0)


# 70.55e9 gradients of two bytes, twice round a ring of 64.
def test_plain_data_parallelism_sends_every_gradient_twice():
    sweep = over_data_parallel(training(data_parallel=64))
    assert sweep.headline(sweep.data_parallel.index(64), 0).traffic_bytes == pytest.approx(
        2 * 2 * 70_553_706_496 * 63 / 64
    )


def test_experts_are_reduced_among_the_ranks_that_hold_them():
    scenario = PRESETS["deepseek-v3-h800"]
    params = stage_params(scenario.model, 16)
    by_stage = traffic_by_stage(scenario, 128, 1)
    assert by_stage.shape == (16,)
    # fp32 gradients and 16-bit weights once each: 6 bytes; dense over 128 ranks, experts over 128 / 64 = 2.
    hand = 6 * (params.dense * 127 / 128 + params.experts / 64 * 1 / 2)
    assert by_stage == pytest.approx(hand)
    assert headline_of(scenario).traffic_bytes == pytest.approx(hand.max())


def test_a_dense_stage_sends_what_zero_says():
    scenario = PRESETS["llama31-405b-16384"]
    share = stage_params(scenario.model, 16).dense / 8
    sent = zero_traffic(share, 128, stage=2, optimizer="adam-fp32-grads", accumulation_steps=16).total_bytes
    assert traffic_by_stage(scenario, 128, 2) == pytest.approx(sent)


@EVERY_PRESET
def test_lengths_hold_the_own_one_and_its_numbers(scenario):
    sweep = over_seq_len(scenario)
    at = sweep.seq_len.index(scenario.seq_len)
    here = headline_of(scenario)
    chosen = sweep.memory[scenario.recompute]
    assert chosen.peak_bytes[at] == pytest.approx(here.peak_bytes)
    assert chosen.activation_bytes[at] == pytest.approx(here.activation_bytes)
    assert set(SEQ_LEN) <= set(sweep.seq_len)
    assert all(memory.peak_bytes.shape == (len(sweep.seq_len),) for memory in sweep.memory.values())


def test_lengths_that_context_parallel_cannot_cut_are_left_out():
    sweep = over_seq_len(training(context_parallel=3, seq_len=1536))
    assert all(length % 3 == 0 for length in sweep.seq_len)
    assert 1536 in sweep.seq_len


def test_each_length_is_its_scalar():
    scenario = training(seq_len=4096, pipeline_parallel=4, num_micro_batches=8, data_parallel=8, zero_stage=1)
    sweep = over_seq_len(scenario)
    for recompute, memory in sweep.memory.items():
        for at in (0, 5, len(sweep.seq_len) - 1):
            layout = scenario.layout | {"seq_len": sweep.seq_len[at], "recompute": recompute}
            one = training_memory(scenario.model, **layout).fullest()
            assert memory.peak_bytes[at] == pytest.approx(one.peak_bytes)


def test_more_recompute_never_keeps_more():
    sweep = over_seq_len(training())
    none, selective, full = (sweep.memory[name].activation_bytes for name in ("none", "selective", "full"))
    assert np.all(none >= selective)
    assert np.all(selective >= full)


def test_activations_overtake_the_states_as_the_sequence_grows():
    sweep = over_seq_len(training())
    assert sweep.largest_part("full", 0) == "optimizer"
    assert sweep.largest_part("none", sweep.seq_len.index(32_768)) == "activations"


def test_every_pipeline_stage_has_its_own_memory():
    scenario = PRESETS["megatron-1t-3072"]
    memory = by_pipeline_stage(scenario)
    assert memory.peak_bytes.shape == (64,)
    # Two layers a stage, inputs kept: 64 micro-batches on the first, 1 on the last, 16-bit, over no tensor ranks.
    layer = 2 * 2048 * 25_600
    assert memory.activation_bytes[0] == pytest.approx(2 * 64 * layer)
    assert memory.activation_bytes[62] == pytest.approx(2 * 2 * layer)


def test_a_difference_from_pinned_numbers():
    before, after = (headline_of(training(zero_stage=stage)) for stage in (0, 3))
    difference = after.against(before)
    assert difference.state_bytes == after.state_bytes - before.state_bytes < 0
    assert difference.room_bytes == pytest.approx(-difference.peak_bytes)
    assert (before.fits, difference.fitted, after.fits) == (False, False, True)
    lengths = over_seq_len(training()).activations_against("full", before)
    assert lengths[over_seq_len(training()).seq_len.index(4096)] == pytest.approx(0)
