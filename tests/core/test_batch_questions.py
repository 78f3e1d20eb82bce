"""The two predictions of step 5 by hand, and the slips that people make."""

import pytest

from core.batch import most_requests
from core.batch_questions import throughput_ratio, twist
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.prediction import matching_slip
from core.presets import load_presets
from core.scenario import build, changed, with_model
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}


def on(model_id, **values):
    scenario, _ = with_model(START, load_models()[model_id])
    return changed(scenario, **values)


# 139.0 GB of weights are read (the embedding is looked up), 1.342 GB of cache for each request of 4,096 tokens.
def test_the_start_scenarios_ratio_by_hand():
    question = throughput_ratio(START.serving)
    assert question.times == pytest.approx(32 * (139.0 + 1.342) / (139.0 + 32 * 1.342), rel=1e-3)
    assert question.many / question.one == question.times


# The seed's figures: 70B in 16 bits over 2 TB/s. Its 14.29 leaves out the request's own cache, its 350 has all caches:
# 70.67 ms and 14.15 tokens a second, 91.5 ms and 349.8.
def test_the_whiteboards_numbers_with_both_terms_in():
    gpu = START.accelerator.edited(hbm_bytes_per_s=2e12)
    scenario = build(START.model, gpu, START.scale_up, START.scale_out, {"serving_tensor_parallel": 1})
    question = throughput_ratio(scenario.serving)
    assert question.one == pytest.approx(14.15, rel=0.01)
    assert question.many == pytest.approx(349.8, rel=0.01)


def test_naming_the_batch_is_the_known_slip():
    question = throughput_ratio(START.serving)
    slip = matching_slip(32.0, question.times, question.slips)
    assert slip is not None
    assert "weights alone" in slip.words


def test_a_mixture_of_experts_gains_less_since_more_experts_are_read():
    assert throughput_ratio(PRESETS["deepseek-v3-h800"].serving).times < 5


def test_where_compute_binds_the_ratio_is_held_by_it():
    gpu = START.accelerator.edited(bf16_flops_per_s=2e13)
    scenario = build(START.model, gpu, START.scale_up, START.scale_out, {})
    question = throughput_ratio(scenario.serving)
    assert question.many_time.compute_s > question.many_time.bandwidth_s
    assert question.times < throughput_ratio(START.serving).times


# 4 x 77.0 GB less 141 GB of weights, over requests of half the bytes; in proportion it would be as many as before.
def test_the_twist_of_the_start_scenario():
    question = twist(START.serving)
    assert (question.gpus, question.kv_dtype, question.before) == (4, "fp8", 351)
    assert question.scaled == question.before
    assert question.truth == most_requests(changed(START, serving_tensor_parallel=4, kv_dtype="fp8").serving) == 246
    assert question.same_cache == 123
    slip = matching_slip(351.0, question.truth, question.slips)
    assert slip is not None
    assert "weights take the same bytes" in slip.words


@pytest.mark.parametrize(
    ("values", "gpus", "dtype"),
    [
        ({"serving_tensor_parallel": 4}, 8, "fp8"),
        ({"kv_dtype": "fp8"}, 4, "bf16"),
        ({"kv_dtype": "mxfp8"}, 4, "bf16"),
        ({"kv_dtype": "fp32"}, 4, "fp8"),
        ({"serving_tensor_parallel": 1}, 4, "fp8"),
    ],
)
def test_the_twist_asks_for_what_is_not_there_yet(values, gpus, dtype):
    question = twist(changed(START, **values).serving)
    assert (question.gpus, question.kv_dtype) == (gpus, dtype)


# 175B in 16 bits do not fit on four 80 GB cards: the next power of two that holds them is sixteen.
def test_a_model_that_four_gpus_do_not_hold_is_asked_on_more():
    assert twist(PRESETS["gpt3-175b-serving"].serving).gpus == 16
    assert twist(PRESETS["gpt3-175b-serving"].serving).truth > 0


def test_heads_that_four_do_not_divide_are_asked_about_where_they_split():
    question = twist(on("openai-community/gpt2-xl", serving_tensor_parallel=1).serving)
    assert question.gpus in (5, 25)


def test_a_model_that_no_degree_holds_has_nothing_to_ask():
    gpu = load_accelerators()["rtx-4090"].edited(hbm_bytes=10**8)
    scenario = build(START.model, gpu, START.scale_up, START.scale_out, {})
    assert twist(scenario.serving).truth == 0
