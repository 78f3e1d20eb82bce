"""What does not fit is said with its number, and the cure that is named is true."""

import pytest

from core.capacity import capacity_problem, memory_problem, peak_bytes
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import TrainingScenario

GPU = load_accelerators()["h100-sxm"]
LLAMA = load_models()["meta-llama/Llama-3.1-70B"]


def problem(**values):
    run = TrainingScenario(model=LLAMA, accelerator=GPU, **values)
    return capacity_problem(run.model, run.layout, hbm_bytes=GPU.hbm_bytes, accelerator=GPU.name), run


def test_a_layout_that_fits_has_no_problem():
    found, run = problem(data_parallel=64, zero_stage=3)
    assert found is None
    assert peak_bytes(run.model, run.layout) < GPU.hbm_bytes


# 70.55B parameters x 20 bytes in the optimizer step, gradients copied to fp32: 1,411 GB, where an H100 has 85.5.
def test_the_sentence_says_by_how_much_and_what_would_cure_it():
    found, _ = problem(data_parallel=64, zero_stage=0)
    assert found.field == "gpu"
    assert found.sentence == (
        "Accelerator is 'H100 SXM': the fullest pipeline stage needs 1,411 GB, 1,326 GB more than the GPU has. "
        "Cure: ZeRO stage 3 brings it to 33.6 GB."
    )


CURES = [
    ({"data_parallel": 64, "zero_stage": 2}, {"zero_stage": 3}),
    ({"data_parallel": 64, "zero_stage": 3, "recompute": "none", "seq_len": 16384}, {"recompute": "full"}),
    (
        {"data_parallel": 64, "zero_stage": 3, "recompute": "full", "micro_batch_size": 32},
        {"micro_batch_size": 1, "num_micro_batches": 32},
    ),
]


@pytest.mark.parametrize(("values", "change"), CURES)
def test_the_named_cure_fits(values, change):
    found, run = problem(**values)
    assert found is not None
    assert peak_bytes(LLAMA, run.layout | change) <= GPU.hbm_bytes
    for value in change.values():
        assert str(value) in found.way_out


def test_one_change_that_helps_but_is_not_enough_is_said_in_one_voice():
    # Kimi K2 on eight cards of 24 GB: a third stage of sharding is all that can be changed, and leaves too much.
    run = TrainingScenario(
        model=load_models()["moonshotai/Kimi-K2-Instruct"],
        accelerator=load_accelerators()["rtx-4090"],
        data_parallel=8,
        zero_stage=0,
    )
    found = memory_problem(run, "GiB")
    assert found.way_out.startswith("Even ZeRO stage 3 leaves 2,390 GiB: it takes more GPUs a replica")
    assert "19,118 GiB, 19,094 GiB more than the GPU has" in found.rule


def test_several_cheap_changes_together():
    found, _ = problem(data_parallel=64, zero_stage=0, recompute="none", seq_len=16384)
    assert found.way_out.startswith("No single change is enough; ")


def test_a_cure_may_take_more_gpus_and_says_so():
    found, _ = problem(data_parallel=2, zero_stage=3, recompute="full")
    assert "times as many GPUs" in found.way_out


def test_one_small_card_is_sent_to_adapters():
    preset = load_presets()["8b-on-24gb"].scenario().training
    found = capacity_problem(
        preset.model, preset.layout, hbm_bytes=preset.accelerator.hbm_bytes, accelerator=preset.accelerator.name
    )
    assert "lora" in found.way_out
