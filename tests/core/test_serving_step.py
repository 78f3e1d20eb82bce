"""Memory, time and limit in one call, against the functions that it joins."""

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.model_spec import load_models
from core.serving import decode_estimate_s, decode_floor_s
from core.serving_memory import serving_memory
from core.serving_step import LIMITS, serving_step

ACCELERATORS, MODELS = load_accelerators(), load_models()
H100 = ACCELERATORS["h100-sxm"]
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]


def test_times_and_memory_are_those_of_their_own_functions():
    step = serving_step(LLAMA, H100, 4096, batch=[1, 32], tensor_parallel=4)
    shape = {"batch": [1, 32], "tensor_parallel": 4}
    assert np.array_equal(step.floor_s, decode_floor_s(LLAMA, H100, 4096, **shape))
    assert np.array_equal(step.step_s, decode_estimate_s(LLAMA, H100, 4096, **shape))
    assert np.array_equal(
        step.memory.total_bytes, serving_memory(LLAMA, 4096, budget_bytes=0.9 * H100.hbm_bytes, **shape).total_bytes
    )
    assert step.tokens_per_s == pytest.approx(np.array([1, 32]) / step.step_s)
    assert np.all(step.tokens_per_s < step.most_tokens_per_s)


def test_a_million_points_are_one_call_that_keeps_each_points_value():
    batch = np.arange(1, 101)[:, None, None]
    context = np.arange(1, 1001)[:, None] * 100
    gpus = np.array([1, 1, 2, 2, 4, 4, 8, 8, 16, 16])
    step = serving_step(LLAMA, H100, context, batch=batch, tensor_parallel=gpus)
    assert step.step_s.shape == step.limit.shape == (100, 1000, 10)
    assert step.step_s.size == 10**6
    one = serving_step(LLAMA, H100, 50_000, batch=8, tensor_parallel=4)
    assert step.step_s[7, 499, 4] == one.step_s


def test_columns_give_what_a_grid_does():
    rng = np.random.default_rng(0)
    batch, context, gpus = rng.integers(1, 300, 50), rng.integers(1, 50_000, 50), rng.choice([1, 2, 4, 8], 50)
    step = serving_step(MODELS["openai/gpt-oss-120b"], H100, context, batch=batch, tensor_parallel=gpus)
    for row in range(0, 50, 7):
        alone = serving_step(
            MODELS["openai/gpt-oss-120b"], H100, context[row], batch=batch[row], tensor_parallel=gpus[row]
        )
        assert (step.step_s[row], step.limit[row]) == (alone.step_s, alone.limit)


# A short context fills the batch until compute binds, or messages where GPUs are many; weights alone can be too large.
@pytest.mark.parametrize(
    ("limit", "name", "batch", "gpus"),
    [
        ("bandwidth", "meta-llama/Llama-3.1-70B", 8, 8),
        ("compute", "meta-llama/Llama-3.1-8B", 1000, 1),
        ("communication", "meta-llama/Llama-3.1-70B", 64, 64),
        ("capacity", "meta-llama/Llama-3.1-70B", 8, 1),
    ],
)
def test_each_limit_binds_somewhere(limit, name, batch, gpus):
    assert limit in LIMITS
    assert serving_step(MODELS[name], H100, 64, batch=batch, tensor_parallel=gpus).limit == limit


def test_shares_say_how_near_each_limit_is():
    step = serving_step(LLAMA, H100, 4096, batch=[32, 200], tensor_parallel=4)
    assert set(step.shares) == set(LIMITS)
    assert list(step.shares["bandwidth"]) == [1, 1]
    assert step.shares["capacity"] == pytest.approx(step.memory.total_bytes / (0.9 * H100.hbm_bytes))
    assert list(step.limit) == ["bandwidth", "capacity"]
    assert step.shares["compute"][0] == pytest.approx(step.estimate.compute_s[0] / step.estimate.bandwidth_s[0])


def test_the_cap_on_the_batch_does_not_depend_on_the_batch():
    step = serving_step(LLAMA, H100, 4096, batch=[1, 50, 1000], tensor_parallel=4)
    assert len(set(np.broadcast_to(step.max_batch, 3).tolist())) == 1
    most = int(np.max(step.max_batch))
    assert list(serving_step(LLAMA, H100, 4096, batch=[most, most + 1], tensor_parallel=4).memory.fits) == [True, False]


def test_an_unknown_peak_leaves_bandwidth_as_the_limit():
    step = serving_step(MODELS["meta-llama/Llama-3.1-8B"], ACCELERATORS["apple-m4-max"], 4096)
    assert step.limit == "bandwidth"
    assert np.isnan(step.shares["compute"])


def test_memory_fraction_can_be_the_axis():
    step = serving_step(LLAMA, H100, 4096, tensor_parallel=4, memory_fraction=[0.3, 0.9])
    assert list(step.limit) == ["capacity", "bandwidth"]
