"""The two questions of step 2: their truths by hand, and slips that cannot be taken for them."""

import pytest

from core.model_spec import load_models
from core.partition_questions import largest_part, zero_one_share
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)


# The first question, by hand: ZeRO-1 leaves 2 + 2 + 12 / 8 of 16 bytes.
def test_zero_1_on_eight_gpus_leaves_a_third():
    question = zero_one_share(START.training)
    assert question.percent == pytest.approx(100 * 5.5 / 16)
    assert question.copy_bytes == 16 * 70_553_706_496
    assert question.left_bytes == 5.5 * 70_553_706_496
    assert [slip.value for slip in question.slips] == pytest.approx([25, 100 * (2 + 14 / 8) / 16, 12.5], abs=1e-6)


@pytest.mark.parametrize(
    ("recipe", "percent"),
    [
        ("adam-fp32-grads", 100 * (2 + 4 + 12 / 8) / 18),
        ("adam-fp32", 100 * (4 + 4 + 8 / 8) / 16),
        ("adam-bf16", 100 * (2 + 2 + 4 / 8) / 8),
        ("sgd-momentum", 100 * (2 + 2 + 8 / 8) / 12),
    ],
)
def test_the_first_answer_follows_the_recipe(recipe, percent):
    question = zero_one_share(changed(START, recipe=recipe).training)
    assert question.percent == pytest.approx(percent)
    assert all(abs(slip.value - percent) > 1 for slip in question.slips)


@EVERY_PRESET
def test_the_largest_part_is_the_largest(scenario):
    question = largest_part(scenario)
    assert question.bytes_by_part[question.truth] == max(question.bytes_by_part.values())
    assert question.seq_len == 32_768
    assert question.truth == "activations"


# 80 layers at 32,768 tokens, counted tensor by tensor in 16 bits: 2 norm inputs and 2 projection inputs of 8,192, the
# queries and the attention's output of 8,192, keys and values of 1,024, an fp32 statistic for each of 64 heads,
# 3 x 28,672 in the MLP; then the head's two inputs, and logits and softmax in fp32.
def test_activations_of_the_second_question_by_hand():
    layer = 2 * (6 * 8192 + 2 * 1024 + 3 * 28_672) + 4 * 64
    by_hand = 32_768 * (80 * layer + 2 * 2 * 8192 + 2 * 4 * 128_256)
    assert largest_part(START.training).bytes_by_part["activations"] == by_hand


def test_a_short_model_on_one_gpu_is_mostly_optimizer():
    small, _ = with_model(changed(START, data_parallel=1, zero_stage=0), load_models()["meta-llama/Llama-3.1-405B"])
    question = largest_part(small.training)
    assert question.truth == "optimizer"
    assert question.bytes_by_part["optimizer"] == pytest.approx(12 * 405_853_388_800)


def test_lengths_that_context_parallel_cannot_cut_are_rounded_up():
    assert largest_part(changed(START, context_parallel=3, seq_len=3000).training).seq_len == 32_769
