"""A step's parts against hand counts and against each other, on arrays."""

from dataclasses import fields, replace

import numpy as np
import pytest

from core.axis_traffic import AXES, model_flows, sent_by_axis
from core.data_traffic import data_flows
from core.efficiency import Efficiency, Overlap
from core.flops import train_flops_per_token
from core.flow_time import Interconnect
from core.hardware import load_accelerators, load_links
from core.layout import Layout
from core.model_spec import load_models
from core.parallelism import pipeline_bubble
from core.params import count_params
from core.step_parts import BY_AXIS, StepTime
from core.step_time import Peaks, step_time
from tests.shapes import gqa

MODELS, LINKS = load_models(), load_links()
LLAMA, DEEPSEEK = MODELS["meta-llama/Llama-3.1-70B"], MODELS["deepseek-ai/DeepSeek-V3"]
H100 = load_accelerators()["h100-sxm"]
PEAKS = Peaks(989.4e12, 989.4e12, 3.35e12)
JOINED = Interconnect(LINKS["nvlink-4"], LINKS["infiniband-ndr"])
RATES = Efficiency.of(H100)
PERFECT = Efficiency(matmul_share=1.0, attention_share=1.0, bandwidth_share=1.0, job_share=1.0)


def run(model=LLAMA, rates=RATES, **options):
    return step_time(model, PEAKS, JOINED, rates, **({"seq_len": 4096} | options))


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_at_the_peak_work_takes_its_flops_over_the_peak(recompute):
    time = run(rates=PERFECT, recompute=recompute, num_micro_batches=4, micro_batch_size=2)
    flops = 8 * 4096 * train_flops_per_token(LLAMA, 4096, causal=True, recompute=recompute)
    assert time.compute_s == pytest.approx(flops / 989.4e12, rel=1e-9)


def test_parts_add_up():
    time = run(data_parallel=8, tensor_parallel=8, pipeline_parallel=4, num_micro_batches=16, zero_stage=1)
    parts = [getattr(time, field.name) for field in fields(StepTime) if field.name not in (*BY_AXIS, "slowest_stage")]
    assert sum(parts) == pytest.approx(time.step_s)
    assert sum(time.exposed_s.values()) == pytest.approx(time.communication_s)
    assert list(time.exposed_s) == list(AXES)


# Sixteen equal layers on four stages, no head to speak of: the bubble is the formula's.
@pytest.mark.parametrize("virtual", [1, 2, 4])
@pytest.mark.parametrize("micro_batches", [4, 16, 64])
def test_equal_stages_wait_as_the_bubble_formula_says(micro_batches, virtual):
    model = gqa(16, 8, 128).model_copy(update={"vocab_size": 1})
    time = run(model, pipeline_parallel=4, virtual_stages=virtual, num_micro_batches=micro_batches)
    busy = time.compute_s + time.moved_s
    share = pipeline_bubble(4, micro_batches, virtual_stages=virtual).of_ideal
    assert time.bubble_s / busy == pytest.approx(share, rel=2e-3)


def test_the_slowest_stage_sets_the_pace():
    time = run(pipeline_parallel=8, num_micro_batches=32)
    assert time.slowest_stage == 7  # the output head, as much as two and a half layers
    deep = run(DEEPSEEK, pipeline_parallel=16, num_micro_batches=32)
    assert deep.slowest_stage != 0


def test_one_gpu_has_no_communication_and_no_bubble():
    time = run()
    assert time.communication_s == 0
    assert time.bubble_s == 0


# Eight ports of 40 GB/s a node carry a ring of 64 GPUs, which gathers 70B weights in 68 calls.
def test_zero_3_shows_one_gather_and_one_reduction_a_step_however_many_micro_batches():
    times = run(data_parallel=64, zero_stage=3, num_micro_batches=[1, 8], recompute="full")
    unit_s = 2 * 70.55e9 / 68 * 63 / 64 / 320e9
    assert times.data_s == pytest.approx([2 * unit_s] * 2, rel=0.02)
    assert np.all(times.hidden_s["data"] > 50 * times.data_s)


def test_zero_1_costs_the_same_however_many_micro_batches():
    times = run(data_parallel=64, zero_stage=1, num_micro_batches=[1, 8, 64])
    assert np.ptp(times.data_s) < 0.1 * times.data_s[0]
    sent = [float(value) for value in run(data_parallel=64, zero_stage=3, num_micro_batches=[1, 8]).hidden_s["data"]]
    assert sent[1] == pytest.approx(8 * sent[0], rel=0.02)


def test_hidden_and_exposed_communication_are_all_of_it():
    options = {"data_parallel": 16, "tensor_parallel": 8, "zero_stage": 3, "num_micro_batches": 4}
    hiding = run(**options)
    nothing = Overlap(*(0.0 for _ in fields(Overlap)))
    open_ = run(rates=replace(RATES, overlap=nothing), **options)
    for axis in ("tensor", "data"):
        assert hiding.exposed_s[axis] + hiding.hidden_s[axis] == pytest.approx(open_.exposed_s[axis])
        assert open_.hidden_s[axis] == 0
    assert open_.step_s > hiding.step_s


def test_the_optimizer_passes_over_each_gpus_share():
    whole, sharded = run(data_parallel=8, zero_stage=0).optimizer_s, run(data_parallel=8, zero_stage=1).optimizer_s
    by_hand = count_params(LLAMA).total * (2 + 2 * 12 + 2) / (3.35e12 * 0.8)
    assert whole == pytest.approx(by_hand)
    assert sharded == pytest.approx(by_hand / 8)


def test_bytes_of_each_axis_are_those_of_the_stage_that_sends_most():
    options = {"data_parallel": 8, "tensor_parallel": 8, "pipeline_parallel": 4, "num_micro_batches": 16}
    layout = Layout.of(seq_len=4096, **options)
    flows = (*model_flows(LLAMA, layout), *data_flows(LLAMA, layout))
    time = run(**options)
    for axis, volume in sent_by_axis(flows).items():
        assert time.sent_bytes[axis] == np.max(volume)


def test_frozen_weights_save_a_third_of_the_products():
    full, adapters = run(recipe="adam").matrix_s, run(recipe="lora").matrix_s
    assert adapters == pytest.approx(full * 2 / 3)


def test_a_narrower_format_speeds_up_products_alone():
    wide = run()
    narrow = step_time(LLAMA, Peaks(2 * 989.4e12, 989.4e12, 3.35e12), JOINED, RATES, seq_len=4096)
    assert narrow.matrix_s == pytest.approx(wide.matrix_s / 2)
    assert narrow.mixing_s == wide.mixing_s


def test_rows_of_several_pipelines_are_those_of_each_alone():
    stages, virtual = np.array([1, 2, 4, 8]), np.array([[1], [2]])
    options = {"tensor_parallel": 4, "num_micro_batches": 16, "data_parallel": 4, "zero_stage": 1}
    grid = run(pipeline_parallel=stages, virtual_stages=virtual, **options)
    assert grid.step_s.shape == (2, 4)
    for row, v in enumerate((1, 2)):
        for column, p in enumerate(stages):
            alone = run(pipeline_parallel=int(p), virtual_stages=v, **options)
            assert grid.step_s[row, column] == pytest.approx(float(alone.step_s), rel=1e-12)
            assert grid.hidden_s["data"][row, column] == pytest.approx(float(alone.hidden_s["data"]), rel=1e-12)


def test_a_sweep_is_one_call():
    time = run(
        data_parallel=np.array([1, 8, 64])[:, None, None],
        num_micro_batches=np.array([1, 4])[:, None],
        tensor_parallel=[1, 2, 4, 8],
        zero_stage=3,
    )
    assert time.step_s.shape == time.hidden_s["data"].shape == (3, 2, 4)
    assert np.all(np.diff(time.compute_s, axis=2) < 0)
    assert np.all(np.diff(time.step_s, axis=1) > 0)


# All nodes are used: 16 GPUs in one replica can be split in five ways, not eight by one alone.
def test_every_way_to_split_sixteen_gpus_has_a_time():
    tensor = np.array([1, 2, 4, 8, 16])
    time = run(tensor_parallel=tensor, pipeline_parallel=16 // tensor, num_micro_batches=32)
    assert np.all(np.isfinite(time.step_s))
    assert np.unique(time.step_s.round(6)).size == 5
