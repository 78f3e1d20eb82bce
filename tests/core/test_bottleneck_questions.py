"""The two questions of step 1: their truths, and the slips that a wrong guess is recognised by."""

import pytest

from core.bottleneck import index_of, place
from core.bottleneck_questions import decode_intensity, recomputed_share
from core.model_spec import load_models
from core.prediction import matching_slip
from core.scenario import changed, with_model
from tests.core.test_bottleneck_text import EVERY, START


@EVERY
def test_the_first_question_asks_for_the_largest_product_of_decode(scenario):
    question = decode_intensity(scenario)
    decode = place(scenario, "decode")
    assert question.intensity == decode.headline(index_of(decode, scenario)).intensity
    assert question.batch == scenario.serving.batch


@pytest.mark.parametrize(
    ("guess", "words"),
    [(64.0, "a weight brings 2 bytes"), (1.0, "one request alone"), (295.0, "That is the ridge")],
)
def test_slips_of_the_first_question(guess, words):
    question = decode_intensity(START)
    slip = matching_slip(guess, question.intensity, question.slips)
    assert slip is not None
    assert words in slip.words


def test_slips_of_experts_and_of_narrow_weights():
    moe = decode_intensity(with_model(START, load_models()["deepseek-ai/DeepSeek-V3"])[0])
    assert "An expert is read" in matching_slip(32.0, moe.intensity, moe.slips).words
    narrow = decode_intensity(changed(START, weight_dtype="fp8", serving_tensor_parallel=1))
    assert "two bytes for a weight" in matching_slip(32.0, narrow.intensity, narrow.slips).words


# 35 x 4/3: three forward passes' worth of FLOPs become four.
def test_the_second_question():
    question = recomputed_share(START.training)
    assert question.percent == pytest.approx(46.667, abs=1e-3)
    assert question.exact_percent < question.percent
    for guess, words in ((62.0, "the puzzle"), (70.0, "a third of the work"), (52.5, "half"), (35.0, "HFU counts it")):
        assert words in matching_slip(guess, question.percent, question.slips).words


# Gate and up of Llama 3.1 70B over 8 GPUs, 8,192 x 7,168, 32 requests: 2 m n k FLOPs over 2 (m k + k n + m n) bytes.
def test_the_first_truth_by_hand():
    m, k, n = 32, 8192, 2 * 28_672 / 8
    assert decode_intensity(START).intensity == pytest.approx(2 * m * n * k / (2 * (m * k + k * n + m * n)))
