"""Every derivation of step 5, typed into a calculator, gives the number that the page shows."""

import math

import pytest

from core.batch import deployment_of, headline_of, most_requests, over_batch
from core.batch_questions import throughput_ratio
from core.batch_token import DRAFT_TOKENS, over_draft, prices
from core.batch_working import cap_workings, price_workings, speculation_workings, step_workings
from core.hardware import load_accelerators
from core.measured_profile import load_profile
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import build, changed, with_model
from core.scenario_link import default_scenario
from tests.core.test_working import calculate

START = default_scenario()


def on(model_id, **values):
    scenario, _ = with_model(START, load_models()[model_id])
    return changed(scenario, **values)


def with_gpu(gpu, **values):
    return build(START.model, load_accelerators()[gpu], START.scale_up, START.scale_out, values)


SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    "one GPU, tied": on("openai-community/gpt2", serving_tensor_parallel=1),
    "windows": on("google/gemma-3-27b-pt", context_len=32_768),
    "latents and index keys": on("deepseek-ai/DeepSeek-V3.2", serving_tensor_parallel=16),
    "hybrid": on("nvidia/Nemotron-H-56B-Base-8K", batch=128),
    "experts in 4 bits": on("openai/gpt-oss-120b", weight_dtype="mxfp4", batch=256),
    "bound by compute": changed(START, context_len=256, batch=1024),
    "no peak": with_gpu("apple-m4-max", serving_tensor_parallel=1),
    "narrow": changed(START, weight_dtype="int4-g128", kv_dtype="fp8", serving_tensor_parallel=2),
}
ALL = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def every(scenario):
    yield from step_workings(scenario)
    yield from cap_workings(scenario)
    yield from speculation_workings(scenario, 0.8, 0.05, 3)
    yield from price_workings(scenario, 2.0, 0.5)


@ALL
def test_the_last_line_of_each_derivation_is_its_value(scenario):
    names = []
    for working in every(scenario):
        assert calculate(working.substitution) == pytest.approx(working.value, rel=1e-9), working.name
        for term in working.terms:
            assert calculate(term.expression) == pytest.approx(term.value, rel=1e-9), (working.name, term.label)
        assert working.formula
        assert working.source
        assert working.assumptions
        names.append(working.name)
    assert len(set(names)) == len(names)


@ALL
def test_derivations_are_those_of_the_page(scenario):
    here = headline_of(scenario)
    ratio, floor, estimate, tokens, *bend = step_workings(scenario)
    assert ratio.value == throughput_ratio(scenario.serving).times
    assert floor.value == here.floor_s
    assert estimate.value == here.step_s
    assert tokens.value == here.tokens_per_s
    found = over_batch(scenario).matrices_bend
    assert [working.value for working in bend] == ([] if math.isnan(found) else [found])
    weights, cache, cap = cap_workings(scenario)
    memory = deployment_of(scenario.serving.model_copy(update={"batch": 1})).memory()
    assert weights.value == float(memory.weight_bytes)
    assert cache.value == pytest.approx(float(memory.kv_bytes))
    assert max(int(cap.value), 0) == most_requests(scenario.serving)


def test_a_step_that_compute_binds_says_so():
    floor = step_workings(SCENARIOS["bound by compute"])[1]
    assert floor.formula == "FLOPs / peak"
    assert step_workings(START)[1].formula == "bytes read / bandwidth"


# 8 KV heads over eight GPUs: one of 128 channels, twice, in 80 layers, for 4,096 tokens of two bytes.
def test_the_cache_reads_as_on_a_whiteboard():
    (term,) = cap_workings(START)[1].terms
    assert term.expression == "80 × 1 × (128 + 128) × 4,096 × 2 × 1"


def test_speculation_and_price_are_the_pages():
    sweep = over_draft(START, 0.8, 0.05)
    tokens, speedup = speculation_workings(START, 0.8, 0.05, DRAFT_TOKENS.index(4))
    assert tokens.lines[1].startswith("= 1 + 0.8 + 0.8 × 0.8 + ")
    assert speedup.value == sweep.speedup[3, sweep.batch.index(32)]
    (price,) = price_workings(START, 2.0, 0.5)
    assert price.value == prices(over_batch(START), START.serving, 2.0, 0.5)[1].estimate


def test_on_a_profile_the_speed_up_is_the_charts_and_cites_it():
    profile = load_profile("h100-sxm")
    sweep = over_draft(START, 0.8, 0.05, profile)
    _, speedup = speculation_workings(START, 0.8, 0.05, 3, profile)
    assert speedup.value == sweep.speedup[3, sweep.batch.index(32)]
    assert calculate(speedup.substitution) == pytest.approx(speedup.value, rel=1e-9)
    assert profile.citation in speedup.source
    assert not any("floors," in text for text in speedup.assumptions)
