"""Every derivation, typed into a calculator, gives the function's value."""

import math

import pytest

from core.hardware import load_accelerators
from core.model_spec import load_models
from core.precision import weight_bytes
from core.serving import decode_estimate_s, decode_floor_s, prefill_floor_s
from core.serving_step import serving_step
from core.serving_work import prefill_work
from core.serving_working import (
    estimate_working,
    floor_working,
    max_batch_working,
    prefill_floor_working,
    speculation_working,
    tokens_working,
    weights_working,
)
from core.speculation import expected_speculative_tokens
from tests.core.test_working import calculate

ACCELERATORS, MODELS = load_accelerators(), load_models()
H100 = ACCELERATORS["h100-sxm"]
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]
# A few requests wait for memory, many short ones for compute; experts, states and two formats besides.
SHAPES = [
    ("meta-llama/Llama-3.1-70B", {"seq_len": 4096, "batch": 32, "tensor_parallel": 4}),
    ("meta-llama/Llama-3.1-8B", {"seq_len": 64, "batch": 2000, "tensor_parallel": 1}),
    ("openai/gpt-oss-120b", {"seq_len": 4096, "batch": 8, "tensor_parallel": 2, "expert_dtype": "mxfp4"}),
    ("Qwen/Qwen3.5-27B", {"seq_len": 4096, "batch": 8, "tensor_parallel": 4}),
    ("deepseek-ai/DeepSeek-V3", {"seq_len": 4096, "batch": 256, "tensor_parallel": 16, "weight_dtype": "fp8"}),
]


def holds(working, value):
    assert working.value == pytest.approx(value, rel=1e-12)
    assert calculate(working.substitution) == pytest.approx(value, rel=1e-9)
    for term in working.terms:
        assert calculate(term.expression) == pytest.approx(term.value, rel=1e-9)
    assert working.source


@pytest.mark.parametrize(("name", "shape"), SHAPES, ids=[name for name, _ in SHAPES])
def test_steps(name, shape):
    step = serving_step(MODELS[name], H100, **shape)
    seq_len, rest = shape["seq_len"], {key: value for key, value in shape.items() if key != "seq_len"}
    holds(floor_working(step, H100), decode_floor_s(MODELS[name], H100, seq_len, **rest))
    holds(estimate_working(step), decode_estimate_s(MODELS[name], H100, seq_len, **rest))
    holds(tokens_working(step), step.tokens_per_s)
    holds(tokens_working(step, floor=True), step.most_tokens_per_s)


@pytest.mark.parametrize(("name", "shape"), SHAPES, ids=[name for name, _ in SHAPES])
def test_the_cap_on_the_batch(name, shape):
    step = serving_step(MODELS[name], H100, **shape)
    working = max_batch_working(step)
    assert calculate(working.substitution) == pytest.approx(working.value, rel=1e-12)
    assert max(math.floor(working.value), 0) == step.max_batch


@pytest.mark.parametrize("formats", [{}, {"weight_dtype": "int4-g128"}, {"expert_dtype": "mxfp4"}])
@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-70B", "openai/gpt-oss-120b", "google/gemma-2-9b"])
def test_weights(name, formats):
    options = {"expert_dtype": formats.get("expert_dtype")}
    value = weight_bytes(MODELS[name], formats.get("weight_dtype", "bf16"), **options)
    holds(weights_working(MODELS[name], **formats), value)


def test_prefill():
    work = prefill_work(LLAMA, 8000, tensor_parallel=4, cached_tokens=2000, weight_dtype="fp8")
    value = prefill_floor_s(LLAMA, H100, 8000, tensor_parallel=4, cached_tokens=2000, weight_dtype="fp8")
    holds(prefill_floor_working(work, H100, value), value)


@pytest.mark.parametrize("draft_tokens", [0, 1, 4])
def test_speculation(draft_tokens):
    holds(speculation_working(0.8, draft_tokens), expected_speculative_tokens(0.8, draft_tokens))


def test_the_floor_reads_as_a_person_would_write_it():
    step = serving_step(LLAMA, H100, 4096, batch=32, tensor_parallel=4)
    working = floor_working(step, H100)
    assert working.substitution == "34,753,495,040 / 3,350,000,000,000 + 10,737,418,240 / 3,350,000,000,000"
    assert "a floor, not a latency" in working.assumptions[1]


def test_a_sweep_has_no_derivation():
    step = serving_step(LLAMA, H100, 4096, batch=[1, 2])
    with pytest.raises(ValueError, match="2 values; a derivation shows one"):
        floor_working(step, H100)


def test_an_unknown_peak_has_no_derivation():
    apple = ACCELERATORS["apple-m4-max"]
    with pytest.raises(ValueError, match="no confirmed peak"):
        prefill_floor_working(prefill_work(LLAMA, 100), apple, 1.0)
    assert floor_working(serving_step(LLAMA, apple, 100), apple).formula == "bytes read / bandwidth"
