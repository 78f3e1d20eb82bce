"""Sweeps agree with single reports, leave out what cannot run, and the curve over GPUs keeps the batch or the rank."""

import time

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import TrainingScenario
from core.training import estimate
from core.training_sweep import scaling_curve, sweep

LLAMA = TrainingScenario(
    model=load_models()["meta-llama/Llama-3.1-70B"],
    accelerator=load_accelerators()["h100-sxm"],
    data_parallel=16,
    zero_stage=1,
    num_micro_batches=8,
)
RUN_405B = load_presets()["llama31-405b-16384"].scenario().training


def test_rows_are_single_reports():
    found = sweep(LLAMA, tensor_parallel=[2, 8], pipeline_parallel=[[1], [4]])
    for row, stages in enumerate((1, 4)):
        for column, tensor in enumerate((2, 8)):
            alone = estimate(LLAMA.model_copy(update={"tensor_parallel": tensor, "pipeline_parallel": stages}))
            assert found.time.step_s[row, column] == pytest.approx(alone.step_s, rel=1e-12)
            assert found.mfu[row, column] == pytest.approx(alone.mfu, rel=1e-12)
            assert found.tokens_per_s[row, column] == pytest.approx(alone.tokens_per_s, rel=1e-12)
            assert found.peak_bytes[row, column] == pytest.approx(float(alone.memory.peak_bytes.max()), rel=1e-12)
            assert found.fits[row, column] == alone.fits
    assert found.num_gpus.tolist() == [[32, 128], [128, 512]]


def test_the_largest_step_that_can_be_typed_is_counted_and_has_a_rate():
    largest = {"num_micro_batches": 65_536, "micro_batch_size": 4096, "seq_len": 16_777_216}
    found = sweep(LLAMA, data_parallel=[1, 65_536], **largest)
    assert found.step_tokens.tolist() == [65_536 * 4096 * 16_777_216.0, 65_536 * 65_536 * 4096 * 16_777_216.0]
    assert (found.mfu > 0).all()


def test_layouts_that_break_a_rule_are_left_out():
    found = sweep(LLAMA, tensor_parallel=[1, 3, 8])
    assert found.can_run.tolist() == [True, False, True]
    assert np.isnan(found.time.step_s).tolist() == [False, True, False]
    assert np.isnan(found.mfu[1])
    assert not found.fits[1]
    assert np.isnan(sweep(LLAMA, tensor_parallel=3).mfu)


def test_strong_scaling_keeps_the_batch_and_loses_efficiency():
    curve = scaling_curve(RUN_405B, 128 * 2 ** np.arange(8), mode="strong")
    assert curve.num_gpus[-1] == 16_384
    assert np.ptp(curve.step_tokens) == 0
    assert np.all(np.diff(curve.time.step_s) < 0)
    assert np.all(np.diff(curve.of_linear) < 0)
    assert curve.of_linear[0] == 1


def test_weak_scaling_keeps_each_ranks_work_and_most_of_the_efficiency():
    curve = scaling_curve(LLAMA, [16, 64, 256, 1024, 16_384], mode="weak")
    assert curve.step_tokens == pytest.approx(curve.num_gpus * 8 * 4096)
    assert curve.of_linear[-1] > 0.9


def test_counts_without_whole_replicas_or_even_shares_are_left_out():
    curve = scaling_curve(RUN_405B, [100, 128, 384, 256])
    assert curve.num_gpus.tolist() == [128, 256]
    with pytest.raises(ValueError, match="choose 128 times a divisor of 2048"):
        scaling_curve(RUN_405B, [64, 384])


def test_a_word_cannot_be_a_column():
    with pytest.raises(ValueError, match="column='recipe' is not known"):
        sweep(LLAMA, recipe=["adam", "lora"])
    with pytest.raises(ValueError, match="mode='superb' is not known"):
        scaling_curve(LLAMA, [16], mode="superb")


def test_ten_thousand_rows_are_quick():
    sweep(LLAMA, data_parallel=[1])
    start = time.perf_counter()
    sweep(LLAMA, data_parallel=np.arange(1, 10_001))
    assert time.perf_counter() - start < 2
