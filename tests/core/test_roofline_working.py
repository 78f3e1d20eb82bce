"""Ridge, crossing batch and least time, typed into a calculator."""

import pytest

from core.hardware import load_accelerators
from core.model_spec import load_models
from core.operators import model_operators
from core.roofline import crossover_batch, ridge_point
from core.roofline_working import crossover_working, operator_working, ridge_working
from tests.core.test_working import holds

H100 = load_accelerators()["h100-sxm"]
LLAMA_8B = load_models()["meta-llama/Llama-3.1-8B"]


@pytest.mark.parametrize("dtype", ["bf16", "fp8"])
def test_the_ridge_point(dtype):
    holds(ridge_working(H100, dtype), ridge_point(H100, dtype))


@pytest.mark.parametrize("weight_bytes", [2, 1, 0.5])
def test_the_crossing_batch(weight_bytes):
    working = crossover_working(H100, "bf16", weight_bytes=weight_bytes)
    holds(working, crossover_batch(H100, "bf16", weight_bytes=weight_bytes))


@pytest.mark.parametrize(("phase", "longer"), [("decode", "moving"), ("prefill", "computing")])
def test_the_least_time_of_each_operator(phase, longer):
    operators = model_operators(LLAMA_8B, phase, seq_len=4096)
    for operator in operators:
        working = operator_working(operator, H100, "bf16")
        holds(working, operator.time_floor_s(H100, "bf16"))
        if operator.kind == "mlp":
            assert working.terms[0].label == longer


def test_a_sweep_has_no_single_derivation():
    operator = model_operators(LLAMA_8B, "decode", seq_len=[1, 2])[1]
    with pytest.raises(ValueError, match="2 values"):
        operator_working(operator, H100, "bf16")
