"""Launches against work: small models and small batches wait for the CPU."""

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.kernel_counts import num_kernels
from core.launches import EAGER_LAUNCH_S, GRAPH_LAUNCH_S, hidden_bytes, queue_s, step_s
from core.model_spec import load_models
from core.operators import model_operators, time_floor_s
from core.units import MILLISECOND

MODELS = load_models()
H200 = load_accelerators()["h200-sxm"]
LLAMA_8B = MODELS["meta-llama/Llama-3.1-8B"]


def decode(model, **options):
    return model_operators(model, "decode", seq_len=1024, **options)


# One H200: 16 GB of weights take 3.4 ms; plain PyTorch needs four times as long to launch a step's kernels.
def test_an_8b_model_decoded_by_plain_pytorch_waits_for_launches():
    operators = decode(LLAMA_8B)
    work = time_floor_s(operators, H200, "bf16")
    assert work / MILLISECOND == pytest.approx(3.2, abs=0.1)
    eager = num_kernels(LLAMA_8B, operators, fused=False)
    assert step_s(work, eager, launch_s=EAGER_LAUNCH_S) > 4 * work
    assert step_s(work, num_kernels(LLAMA_8B, operators, fused=True), launch_s=GRAPH_LAUNCH_S) == work


def test_a_large_model_hides_its_launches_even_then():
    model = MODELS["meta-llama/Llama-3.1-405B"]
    operators = decode(model)
    work = time_floor_s(operators, H200, "bf16")
    assert step_s(work, num_kernels(model, operators, fused=False), launch_s=EAGER_LAUNCH_S) == work


def test_bytes_behind_which_launches_hide():
    kernels = num_kernels(LLAMA_8B, decode(LLAMA_8B), fused=True)
    eager, graph = hidden_bytes(kernels, H200.hbm_bytes_per_s, launch_s=[EAGER_LAUNCH_S, GRAPH_LAUNCH_S])
    assert eager / graph == pytest.approx(10 / 1.1)
    assert graph < 0.15 * 16e9 < eager  # a graph frees an 8B model, and eager launches do not


def test_batch_can_be_the_axis():
    operators = decode(LLAMA_8B, batch=np.array([1, 64, 4096]))
    work = time_floor_s(operators, H200, "bf16")
    steps = step_s(work, num_kernels(LLAMA_8B, operators, fused=False), launch_s=EAGER_LAUNCH_S)
    assert steps.shape == (3,)
    assert steps[0] == steps[1] < steps[2] == work[2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: step_s(-1, 1, launch_s=1), "work_s=-1 must be 0 or greater"),
        (lambda: queue_s(1.5, launch_s=1), "kernels=1.5 must be a whole number"),
        (lambda: queue_s(1, launch_s=0), "launch_s=0 must be greater than 0"),
        (lambda: hidden_bytes(1, 0, launch_s=1), "bytes_per_s=0 must be greater than 0"),
    ],
)
def test_a_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
