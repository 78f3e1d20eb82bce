"""What step 4 shows: sweeps that are their scalars, own positions, tiles that fit, every model and accelerator."""

import numpy as np
import pytest

from core.attention import SEQ_LEN, TILE_ROWS, headline_of, over_seq_len, over_tile_rows
from core.attention_io import extra_bytes, hbm_bytes, tile_sizes
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario
from tests.shapes import QWEN_27B, stack

START = default_scenario()
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)


def training(**values):
    return changed(START, **values).training


@EVERY_PRESET
def test_the_sweep_holds_the_scenarios_own_numbers(scenario):
    sweep, here = over_seq_len(scenario), headline_of(scenario)
    at = sweep.seq_len.index(scenario.seq_len)
    shape = sweep.shape
    run = {
        "heads": shape.heads,
        "kv_heads": shape.kv_heads,
        "v_head_dim": shape.v_head_dim,
        "batch": scenario.micro_batch_size,
        "backward": True,
    }
    assert here.unfused_bytes == pytest.approx(hbm_bytes(scenario.seq_len, shape.head_dim, tiled=False, **run))
    assert here == sweep.headline(at)
    assert here.least_bytes <= here.tiled_bytes
    layers = sum(
        layer.mixer is not None and layer.mixer.kind in ("attention", "mla") for layer in scenario.model.layers
    )
    assert sweep.layers == layers


# Llama 3.1 70B at 4,096 tokens: 11 passes over 64 x 4096^2 x 2 bytes, and three times Q, K, V and O.
def test_the_start_scenario_by_hand():
    here = headline_of(START.training)
    scores, vectors = 64 * 4096**2 * 2, 2 * 4096 * 128 * 2 * (64 + 8)
    assert here.unfused_bytes == 11 * scores + 3 * vectors
    assert here.least_bytes == 3 * vectors + 2 * 4 * 64 * 4096
    assert here.unfused_extra_bytes == 2 * scores + 2 * 64 * 4096 * 128
    assert here.tiled_extra_bytes == 2 * 64 * 4096 * 128 + 4 * 64 * 4096
    assert here.ratio == here.unfused_bytes / here.tiled_bytes > 4
    assert here.over_bytes == 0


def test_scores_that_overflow_the_gpu_say_by_how_much():
    here = headline_of(training(seq_len=131_072))
    assert here.over_bytes == extra_bytes(131_072, 128, heads=64, tiled=False) - START.accelerator.hbm_bytes


def test_tensor_parallel_and_micro_batches_scale_the_layer():
    one, half, two = (
        headline_of(training(**values)).unfused_bytes
        for values in ({}, {"tensor_parallel": 2}, {"micro_batch_size": 2})
    )
    assert half == one / 2
    assert two == 2 * one


def test_moving_the_slider_computes_nothing_anew():
    assert over_seq_len(training(seq_len=512)) is over_seq_len(training(seq_len=8192))
    assert over_tile_rows(training()) is over_tile_rows(training())


def test_any_length_becomes_a_position():
    assert over_seq_len(training()).seq_len == SEQ_LEN
    assert 5000 in over_seq_len(training(seq_len=5000)).seq_len
    assert all(n % 3 == 0 for n in over_seq_len(training(seq_len=3072, context_parallel=3)).seq_len)


def test_all_layers_are_those_of_every_shape():
    scenario = with_model(START, load_models()["openai/gpt-oss-120b"])[0].training
    sweep = over_seq_len(scenario)
    full, every = sweep.forward["unfused"], sweep.all_forward["unfused"]
    assert every.moved_bytes == pytest.approx(36 * full.moved_bytes)  # the chain computes windows whole
    assert np.all(sweep.all_forward["tiled"].moved_bytes < 36 * sweep.forward["tiled"].moved_bytes)


def test_the_largest_tile_that_fits_is_where_the_slider_starts():
    sweep = over_tile_rows(START.training)
    assert sweep.rows == TILE_ROWS
    assert sweep.sram_bytes[sweep.largest] <= sweep.limit_bytes < sweep.sram_bytes[sweep.largest + 1]
    # 232,448 bytes over 4 x 128 x 2 a row.
    assert sweep.limit_rows == 227 == tile_sizes(128, 232_448).key_rows
    at = sweep.rows.index(128)
    assert sweep.sram_bytes[at] == 4 * 128 * 128 * 2
    expected = hbm_bytes(
        4096, 128, heads=64, kv_heads=8, tiled=True, sram_bytes=4 * 128 * 128 * 2, causal=True, backward=True
    )
    assert sweep.moved_bytes[at] == expected
    assert sweep.tiles[at] == 32


def test_larger_tiles_never_move_more():
    assert np.all(np.diff(over_tile_rows(START.training).moved_bytes) <= 0)


def test_where_no_tile_fits_the_smallest_is_shown():
    wide = with_model(START, load_models()["google/gemma-4-26B-A4B"])[0]
    tiny = wide.accelerator.edited(shared_memory_per_block_max_bytes=4096)
    sweep = over_tile_rows(wide.training.model_copy(update={"accelerator": tiny}))
    assert sweep.largest == 0
    assert sweep.sram_bytes[0] > sweep.limit_bytes


def test_a_model_without_attention_has_no_sweep():
    none = START.training.model_copy(update={"model": stack((4, QWEN_27B.mixers[0]))})
    assert over_seq_len(none) is over_tile_rows(none) is headline_of(none) is None


def test_a_difference_from_pinned_numbers():
    before, after = headline_of(training()), headline_of(training(seq_len=8192))
    difference = after.against(before)
    assert difference.unfused_bytes == after.unfused_bytes - before.unfused_bytes > 0
    assert difference.memory_bytes == after.memory_bytes
    assert before.against(before).tiled_bytes == 0


@pytest.mark.parametrize("card", [*load_accelerators()])
def test_every_accelerator_has_its_numbers(card):
    scenario = START.training.model_copy(update={"accelerator": load_accelerators()[card]})
    sweep, tiles = over_seq_len(scenario), over_tile_rows(scenario)
    assert np.all(np.isfinite(sweep.both("tiled").time_s))
    assert tiles.limit_known == (load_accelerators()[card].shared_memory_per_block_max_bytes is not None)
