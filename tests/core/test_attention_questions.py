"""The predictions of step 4: a size that is no traffic, and a time that the bytes decide."""

import pytest

from core.attention_questions import LESS, MORE, SAME, recompute_time, score_size
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.prediction import matching_slip
from core.presets import load_presets
from core.scenario import with_model
from core.scenario_link import default_scenario
from tests.shapes import QWEN_27B, stack

START = default_scenario()
MODELS = load_models()


# 65,536^2 entries of two bytes: 8.59 GB, 8 GiB exactly.
@pytest.mark.parametrize(("unit", "amount"), [("GB", 8.589934592), ("GiB", 8.0)])
def test_the_size_of_one_heads_scores(unit, amount):
    question = score_size(unit)
    assert question.amount == amount
    assert question.traffic_bytes == 4 * question.size_bytes == 4 * 2**33
    assert all(abs(slip.value / amount - 1) > 0.05 for slip in question.slips)


@pytest.mark.parametrize(
    ("guess", "words"),
    [
        (34.4, "writes and reads such matrices four times"),
        (17.0, "four bytes an entry"),
        (4.3, "what a causal mask leaves"),
        (0.0168, "queries, tokens by 128"),
        (0.134, "at 8,192 tokens"),
    ],
)
def test_usual_slips_are_told_apart(guess, words):
    question = score_size("GB")
    assert words in matching_slip(guess, question.amount, question.slips).words


def on(model_id, card):
    scenario = with_model(START, MODELS[model_id])[0].training
    return recompute_time(scenario.model_copy(update={"accelerator": load_accelerators()[card]}))


# Six products of 2 x 64 x 4096^2 x 128 FLOP against seven; 24.1 GB at 3.35 TB/s against seven products at 989 TFLOP/s.
def test_more_flops_take_less_time_at_the_start():
    question = recompute_time(START.training)
    product = 2 * 64 * 4096**2 * 128
    assert (question.truth, question.unfused[0], question.tiled[0]) == (LESS, 6 * product, 7 * product)
    assert question.flops_ratio == pytest.approx(7 / 6)
    assert question.unfused[1] == pytest.approx(24.1e9, rel=0.005)
    assert question.unfused[2] == pytest.approx(24.1e9 / 3.35e12, rel=0.005)
    assert question.tiled[2] == pytest.approx(7 * product / 989.4e12, rel=0.02)
    assert question.time_ratio < 0.3


# An H20 has 148 TFLOP/s and 4 TB/s: 37 FLOP a byte, so that heads of 512 keep its multipliers busy in the chain too.
def test_it_depends_on_the_chip():
    assert on("google/gemma-4-26B-A4B", "h20").truth == MORE
    assert on("google/gemma-7b", "h20").truth == SAME
    assert on("google/gemma-7b", "h100-sxm").truth == LESS


@pytest.mark.parametrize("preset", [*load_presets()])
def test_every_preset_has_an_answer(preset):
    question = recompute_time(load_presets()[preset].scenario().training)
    assert question.truth in (LESS, SAME, MORE)


@pytest.mark.parametrize("card", [*load_accelerators()])
def test_every_accelerator_has_an_answer(card):
    assert on("meta-llama/Llama-3.1-8B", card).truth == LESS


def test_a_model_without_attention_is_not_asked():
    none = START.training.model_copy(update={"model": stack((4, QWEN_27B.mixers[0]))})
    assert recompute_time(none) is None
