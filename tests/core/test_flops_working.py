"""FLOPs, utilization and training time, typed into a calculator."""

import pytest

from core.flops import hfu, mfu, train_flops_per_token
from core.flops_working import train_flops_working, training_time_working, utilization_working
from core.model_spec import load_models
from core.scaling import training_time_s
from tests.configs import CONFIGS, model_of
from tests.core.test_working import holds

LLAMA_70B = load_models()["meta-llama/Llama-3.1-70B"]


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", CONFIGS)
def test_training_flops(name, causal, recompute):
    model = model_of(name)
    working = train_flops_working(model, 5000, causal=causal, recompute=recompute)
    holds(working, train_flops_per_token(model, 5000, causal=causal, recompute=recompute))


def test_training_flops_read_as_a_person_would_write_them():
    working = train_flops_working(LLAMA_70B, 8192, causal=True)
    assert [term.expression for term in working.terms] == [
        "3 × 2 × 68,451,041,280",
        "3 × 80 × 2 × 64 × (128 + 128) × 4,096.5",
        "3 × 2 × 1,050,673,152",
    ]
    assert [term.label for term in working.terms] == ["matrices of the layers", "full attention", "output head"]


def test_each_kind_of_mixing_has_a_line_of_its_own():
    labels = [term.label for term in train_flops_working(model_of("openai--gpt-oss-120b"), 4096, causal=True).terms]
    assert labels == ["matrices of the layers", "sliding attention", "full attention", "output head"]
    hybrid = train_flops_working(model_of("Qwen--Qwen3.5-27B"), 4096, causal=True)
    assert "linear attention" in [term.label for term in hybrid.terms]


@pytest.mark.parametrize("recompute", ["none", "full"])
def test_utilization(recompute):
    run = {"num_gpus": 512, "peak_flops_per_s": 989.4e12, "causal": True}
    working = utilization_working(300_000, LLAMA_70B, 8192, **run, recompute=recompute)
    holds(working, hfu(300_000, LLAMA_70B, 8192, **run, recompute=recompute))
    if recompute == "none":
        assert working.value == mfu(300_000, LLAMA_70B, 8192, **run)
        assert working.name.startswith("MFU")


@pytest.mark.parametrize("recompute", [False, True])
def test_training_time(recompute):
    run = {"num_gpus": 3072, "flops_per_s": 163e12, "recompute": recompute}
    holds(training_time_working(1.008e12, 4.5e11, **run), training_time_s(1.008e12, 4.5e11, **run))


def test_a_sweep_has_no_single_derivation():
    with pytest.raises(ValueError, match="2 values"):
        train_flops_working(LLAMA_70B, [1, 2], causal=True)
