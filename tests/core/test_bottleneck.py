"""Where the operators of a scenario lie, held to hand counts and to the formulas that count passes another way."""

import numpy as np
import pytest

from core.bottleneck import BATCH, PHASES, headline_of, index_of, place
from core.flops import decode_flops_per_token, train_flops_per_token
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.roofline import crossover_batch
from core.scenario import build, changed, field_values, with_model
from core.scenario_link import default_scenario

START = default_scenario()
ONE = changed(START, serving_tensor_parallel=1)
SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()}


def matrix_flops(placed):
    return sum(placed.flops[:, at] for at, group in enumerate(placed.groups) if group in ("matrices", "token mixing"))


# Llama 3.1 70B, gate and up: 8,192 x 57,344 weights of 2 bytes in each of 80 layers, batch 32.
def test_the_largest_product_of_decode_by_hand():
    placed = place(ONE, "decode")
    spot = placed.spot(index_of(placed, ONE), placed.largest)
    weights, rows = 8192 * 57_344, 32
    assert spot.label == "MLP gate and up projections"
    assert spot.flops == 80 * 2 * rows * weights
    assert spot.num_bytes == 80 * 2 * (weights + rows * (8192 + 57_344))
    assert spot.intensity == pytest.approx(rows / (1 + rows * (1 / 8192 + 1 / 57_344)))
    assert spot.bound == "bandwidth"


def test_the_products_of_a_decode_step_are_the_models_flops():
    placed = place(ONE, "decode")
    per_token = float(decode_flops_per_token(ONE.model, ONE.serving.context_len))
    assert matrix_flops(placed) == pytest.approx(np.array(placed.positions) * per_token)


def test_the_products_of_a_training_step_are_the_models_flops_and_what_a_tiled_kernel_makes_again():
    scenario = changed(START, recompute="full", fused_attention=False)
    placed = place(scenario, "training")
    tokens = np.array(placed.positions)
    counted = train_flops_per_token(scenario.model, tokens, causal=True, recompute="full")
    # An unfused kernel makes no score again, but the operators skip what the mask hides as the count does.
    assert matrix_flops(placed) == pytest.approx(tokens * counted, rel=1e-9)


def test_the_first_position_bound_by_compute_lies_at_the_crossing():
    placed = place(ONE, "decode")
    exact = float(crossover_batch(ONE.accelerator, "bf16"))  # activations move the real one up a little
    assert placed.crossing == next(batch for batch in BATCH if batch > exact)


def test_grouped_queries_keep_decode_attention_on_the_slope():
    placed = place(START, "decode")
    attention = placed.labels.index("full attention")
    assert not placed.computing[:, attention].any()
    assert placed.intensity[:, attention] == pytest.approx(8.0, rel=0.01)  # 64 query heads over 8 KV heads


def test_narrow_weights_move_points_right_and_raise_their_roof():
    narrow = changed(ONE, weight_dtype="fp8")
    wide, small = (headline_of(each, "decode") for each in (ONE, narrow))
    assert small.intensity == pytest.approx(2 * wide.intensity, rel=0.02)
    placed = place(narrow, "decode")
    names = dict(zip(placed.labels, (roof.name for roof in placed.roofs), strict=True))
    assert names["MLP gate and up projections"] == "fp8"
    assert names["output head"] == "bf16"
    assert names["full attention"] == "bf16"


def test_experts_see_a_part_of_the_batch():
    scenario, _ = with_model(START, load_models()["deepseek-ai/DeepSeek-V3"])
    placed = place(scenario, "decode")
    spot = placed.spot(index_of(placed, scenario), placed.largest)
    assert spot.label == "expert gate and up projections"
    hit = 256 * (1 - (1 - 8 / 256) ** 32)
    assert spot.intensity == pytest.approx(32 * 8 / hit, rel=0.02)


def test_micro_batches_repeat_all_but_the_optimizer():
    one, four = (place(changed(START, num_micro_batches=n), "training") for n in (1, 4))
    step = one.labels.index("optimizer step")
    assert four.seconds[:, step] == pytest.approx(one.seconds[:, step])
    others = [at for at in range(len(one.labels)) if at != step]
    assert four.seconds[:, others] == pytest.approx(4 * one.seconds[:, others])


def test_context_parallel_shares_a_sequence():
    whole, half = (place(changed(START, context_parallel=n), "training") for n in (1, 2))
    at, same = whole.positions.index(32_768), half.positions.index(32_768)
    gate, attention = whole.labels.index("MLP gate and up projections"), whole.labels.index("full attention")
    for operator in (gate, attention):
        assert half.flops[same, operator] == pytest.approx(whole.flops[at, operator] / 2)


def test_adapters_make_fewer_products_and_a_small_step():
    full, lora = (place(changed(START, recipe=recipe, recompute="none"), "training") for recipe in ("adam", "lora"))
    gate, step = full.labels.index("MLP gate and up projections"), full.labels.index("optimizer step")
    assert lora.flops[:, gate] == pytest.approx(full.flops[:, gate] * 2 / 3)
    assert (lora.bytes[:, step] < 0.02 * full.bytes[:, step]).all()


def test_an_offloaded_step_is_not_the_gpus():
    assert "optimizer step" not in place(changed(START, offload="optimizer"), "training").labels


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_every_preset_has_its_place_on_the_slider(scenario, phase):
    placed = place(scenario, phase)
    here = placed.headline(index_of(placed, scenario))
    assert here == headline_of(scenario, phase)
    assert here.floor_s > 0
    assert 0 <= here.compute_share <= 1


@pytest.mark.parametrize("phase", PHASES)
def test_every_model_and_accelerator_has_a_place(phase):
    scenarios = [with_model(START, model)[0] for model in load_models().values()]
    scenarios += [
        build(START.model, gpu, START.scale_up, START.scale_out, field_values(START))
        for gpu in load_accelerators().values()
    ]
    for scenario in scenarios:
        placed = place(scenario, phase)
        assert np.isfinite(placed.seconds).all()
        assert np.isfinite(placed.compute_share).all() == placed.has_peak


def test_the_largest_batch_and_the_longest_context_have_a_place():
    far = changed(START, batch=1_000_000, context_len=16_777_216, seq_len=16_777_216)
    for phase in PHASES:
        placed = place(far, phase)
        assert np.isfinite(placed.intensity).all()
        assert index_of(placed, far) == len(placed.positions) - 1


def test_moving_the_slider_finds_the_same_placement():
    assert place(changed(START, batch=64), "decode") is place(START, "decode")
    assert place(changed(START, batch=64), "prefill") is place(START, "prefill")
    assert place(changed(START, seq_len=8192), "training") is place(START, "training")
