"""Reports on whole deployments: what they say of time, memory and limits, and of what cannot run."""

import math

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.inference import Traffic, estimate
from core.model_spec import load_models
from core.scenario import ServingScenario
from core.serving import decode_estimate_s, decode_floor_s, prefill_estimate_s, prefill_floor_s
from core.serving_step import serving_step

ACCELERATORS, MODELS = load_accelerators(), load_models()
H100 = ACCELERATORS["h100-sxm"]
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]


def scenario(**changed):
    fields = {"model": LLAMA, "accelerator": H100, "serving_tensor_parallel": 4, "context_len": 4096, "batch": 32}
    return ServingScenario(**(fields | changed))


def test_the_seed_question_in_one_report():
    report = estimate(scenario())
    assert report.fits
    assert report.problems == ()
    assert report.limit == "bandwidth"
    assert report.num_gpus == 4
    assert report.max_batch == 123
    assert report.decode_floor_s == pytest.approx(0.01358, abs=0.00001)
    assert report.tokens_per_s < report.most_tokens_per_s == pytest.approx(32 / 0.01358, rel=1e-3)
    assert report.bend_batch == math.inf, "at 4,096 tokens a cache takes longer to read than its FLOPs to compute"


def test_numbers_are_those_of_the_formulas():
    report = estimate(scenario(weight_dtype="fp8", kv_dtype="fp8"))
    shape = {"tensor_parallel": 4, "weight_dtype": "fp8", "kv_dtype": "fp8"}
    assert report.decode_step_s == decode_estimate_s(LLAMA, H100, 4096, batch=32, **shape)
    assert report.decode_floor_s == decode_floor_s(LLAMA, H100, 4096, batch=32, **shape)
    assert report.prefill_s == prefill_estimate_s(LLAMA, H100, 4096, **shape)
    assert report.prefill_floor_s == prefill_floor_s(LLAMA, H100, 4096, **shape)
    step = serving_step(LLAMA, H100, 4096, batch=32, **shape)
    assert (report.max_batch, report.limit) == (step.max_batch, step.limit)
    assert report.shares == {name: pytest.approx(float(share)) for name, share in step.shares.items()}


def test_floors_lie_below_estimates():
    report = estimate(scenario())
    assert report.decode_floor_s < report.decode_step_s
    assert report.prefill_floor_s < report.prefill_s
    assert report.floor.overlapped_s == report.decode_floor_s
    assert report.estimate.sequential_s == report.decode_step_s


# aiconfigurator pull request 509: a latency was printed for a model that does not fit. 405B in bf16 is 812 GB.
def test_what_does_not_fit_has_no_latency():
    report = estimate(scenario(model=MODELS["meta-llama/Llama-3.1-405B"], serving_tensor_parallel=1, batch=1))
    assert not report.fits
    assert report.limit == "capacity"
    assert report.max_batch == 0
    assert "the weights alone need 812 GB" in report.problems[0].rule
    unknown = (report.prefill_s, report.decode_step_s, report.tokens_per_s, report.token_s, report.request_s)
    assert all(math.isnan(value) for value in unknown)
    assert report.decode_floor_s > 0, "what it would take at least, if it fitted"
    assert report.shares["capacity"] == pytest.approx(10.6, abs=0.05)


def test_a_batch_beyond_the_cap_is_a_problem_and_no_latency():
    report = estimate(scenario(batch=124))
    assert (report.limit, report.max_batch) == ("capacity", 123)
    assert report.problems[0].field == "batch"
    assert math.isnan(report.tokens_per_s)
    assert estimate(scenario(batch=123)).tokens_per_s > 0


def test_speculation_yields_more_tokens_for_a_longer_step():
    plain = estimate(scenario(batch=1))
    drafted = estimate(scenario(batch=1), traffic=Traffic(draft_tokens=4, acceptance=0.8, draft_cost=0.05))
    assert drafted.tokens_per_step == pytest.approx(3.3616)
    assert 1.1 < drafted.decode_step_s / plain.decode_step_s < 1.3
    assert drafted.tokens_per_s / plain.tokens_per_s == pytest.approx(2.8, abs=0.1)
    assert drafted.token_s == pytest.approx(drafted.decode_step_s / drafted.tokens_per_step)


def test_speculation_loses_at_a_batch_that_compute_binds():
    eight = scenario(model=MODELS["meta-llama/Llama-3.1-8B"], serving_tensor_parallel=1, batch=1500, context_len=128)
    assert estimate(eight).limit == "compute"
    drafted = estimate(eight, traffic=Traffic(draft_tokens=4))
    assert drafted.tokens_per_s < estimate(eight).tokens_per_s


def test_a_prefix_hit_shortens_prefill():
    whole, half = (estimate(scenario(), traffic=Traffic(prompt_len=4000, prefix_hit=hit)) for hit in (0.0, 0.5))
    assert 0.4 < half.prefill_s / whole.prefill_s < 0.6
    assert half.decode_step_s == whole.decode_step_s


def test_a_price_gives_the_cost_of_a_million_tokens():
    assert estimate(scenario()).cost_per_million_tokens is None
    report = estimate(scenario(), traffic=Traffic(price_per_gpu_hour=2.5))
    assert report.cost_per_million_tokens == pytest.approx(4 * 2.5 / 3600 / report.tokens_per_s * 1e6)


def test_a_request_is_its_first_token_and_a_step_for_each_further_one():
    report = estimate(scenario(), traffic=Traffic(prompt_len=1000, output_len=100))
    assert report.request_s == pytest.approx(report.prefill_s + 99 * report.token_s)


def test_experts_in_4_bits_fit_one_gpu():
    oss = MODELS["openai/gpt-oss-120b"]
    one = scenario(model=oss, serving_tensor_parallel=1, batch=8)
    assert not estimate(one).fits
    report = estimate(one, expert_dtype="mxfp4")
    assert report.fits
    assert any("experts" in note for note in report.notes)


def test_notes_say_what_the_hardware_does_with_the_formats():
    assert estimate(scenario(weight_dtype="int4-g128")).notes == (
        "int4-g128 weights are multiplied in bf16 on H100 SXM.",
    )
    assert estimate(scenario(weight_dtype="fp8")).notes == ()
    nodes = estimate(scenario(serving_tensor_parallel=16))
    assert "16 GPUs span nodes of 8" in nodes.notes[0]


def test_notes_say_which_link_is_assumed():
    apple = scenario(accelerator=ACCELERATORS["apple-m3-ultra"], serving_tensor_parallel=2)
    assert any("is assumed" in note for note in estimate(apple).notes)


def test_without_a_confirmed_peak_decode_has_a_time_and_prefill_none():
    eight = MODELS["meta-llama/Llama-3.1-8B"]
    report = estimate(
        scenario(model=eight, accelerator=ACCELERATORS["apple-m4-max"], serving_tensor_parallel=1, batch=4)
    )
    assert math.isnan(report.prefill_s)
    assert report.tokens_per_s > 0
    assert "No peak of Apple M4 Max is confirmed" in report.notes[0]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_of_the_catalog_has_a_report(name):
    report = estimate(scenario(model=MODELS[name], serving_tensor_parallel=1, context_len=1024, batch=1))
    assert report.fits == (report.problems == ())
    assert np.isfinite(report.decode_floor_s)
    assert report.fits == np.isfinite(report.decode_step_s)
