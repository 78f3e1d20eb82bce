"""Data parallelism's flows add up to ZeRO's traffic, and happen as often as the stage says."""

import numpy as np
import pytest

from core.axis_traffic import sent_by_axis
from core.collectives import zero_traffic
from core.data_traffic import data_flows
from core.layout import Layout
from core.lora import named_recipe
from core.memory import stage_params
from core.model_spec import load_models
from core.params import count_params

MODELS = load_models()
LLAMA, DEEPSEEK = MODELS["meta-llama/Llama-3.1-70B"], MODELS["deepseek-ai/DeepSeek-V3"]


@pytest.mark.parametrize("recipe", ["adam", "adam-fp32-grads", "lora"])
@pytest.mark.parametrize("micro_batches", [1, 8])
def test_flows_send_what_zero_sends(micro_batches, recipe):
    stages = np.array([0, 1, 2, 3])
    layout = Layout.of(
        seq_len=4096, data_parallel=64, zero_stage=stages, recipe=recipe, num_micro_batches=micro_batches
    )
    found = sent_by_axis(data_flows(LLAMA, layout))["data"][:, 0]
    expected = zero_traffic(
        count_params(LLAMA).total,
        64,
        stage=stages,
        optimizer=named_recipe(LLAMA, recipe),
        accumulation_steps=micro_batches,
    )
    assert found == pytest.approx(expected.total_bytes, rel=1e-12)


def test_tensor_and_pipeline_parallelism_leave_a_share_and_context_ranks_help():
    layout = Layout.of(
        seq_len=4096, data_parallel=8, context_parallel=2, tensor_parallel=4, pipeline_parallel=4, zero_stage=1
    )
    share = stage_params(LLAMA, 4).dense / 4
    found = sent_by_axis(data_flows(LLAMA, layout))["data"]
    assert found == pytest.approx(zero_traffic(share, 16, stage=1).total_bytes, rel=1e-12)


# GPT 175B on 1,536 A100, tensor 8, pipeline 12, data 16, 96 micro-batches of ZeRO-1: one reduce-scatter and one
# all-gather a step, however many micro-batches; a tool that gathers weights every micro-batch doubles the step.
def test_zero_1_talks_once_a_step_and_not_once_a_micro_batch():
    model = MODELS["openai/gpt-3-175b"]
    run = {"seq_len": 2048, "data_parallel": 16, "tensor_parallel": 8, "pipeline_parallel": 12, "zero_stage": 1}
    flows = data_flows(model, Layout.of(**run, num_micro_batches=96))
    assert {(flow.op, flow.when) for flow in flows} == {("reduce_scatter", "step"), ("all_gather", "step")}
    assert all(np.all(flow.micro_batches == 1) for flow in flows)
    once = sent_by_axis(data_flows(model, Layout.of(**run, num_micro_batches=1)))["data"]
    assert sent_by_axis(flows)["data"] == pytest.approx(once)


@pytest.mark.parametrize(
    ("stage", "kinds"),
    [
        (0, {("all_reduce", "step")}),
        (1, {("reduce_scatter", "step"), ("all_gather", "step")}),
        (2, {("reduce_scatter", "backward"), ("all_gather", "step")}),
        (3, {("reduce_scatter", "backward"), ("all_gather", "forward"), ("all_gather", "backward")}),
    ],
)
def test_each_stage_talks_at_its_own_moments(stage, kinds):
    flows = data_flows(LLAMA, Layout.of(seq_len=4096, data_parallel=64, zero_stage=stage))
    assert {(flow.op, flow.when) for flow in flows} == kinds


# 256 experts over 64 of 128 ranks: each is held twice, so its gradients are shared by two; the rest by all 128.
def test_experts_are_shared_by_those_that_hold_the_same():
    layout = Layout.of(seq_len=4096, data_parallel=128, expert_parallel=64, pipeline_parallel=16, zero_stage=1)
    flows = data_flows(DEEPSEEK, layout)
    assert {(flow.group, int(flow.ranks.item())) for flow in flows} == {("replicas", 128), ("expert_replicas", 2)}
    params = stage_params(DEEPSEEK, 16)
    experts = sum(flow.sent_bytes for flow in flows if flow.group == "expert_replicas")
    held = np.maximum(params.experts / 64, 1)
    assert experts == pytest.approx(zero_traffic(held, 2, stage=1).total_bytes * (params.experts > 0), rel=1e-12)


def test_gradients_leave_in_buckets_and_zero_3_gathers_layer_by_layer():
    bucketed = data_flows(LLAMA, Layout.of(seq_len=4096, data_parallel=64, zero_stage=1))[0]
    assert bucketed.calls.item() == np.ceil(count_params(LLAMA).total / 64e6)  # a million parameters a rank
    gathered = data_flows(LLAMA, Layout.of(seq_len=4096, data_parallel=64, zero_stage=3))[0]
    largest = stage_params(LLAMA).largest_unit[0]
    assert gathered.calls.item() == np.ceil(count_params(LLAMA).total / largest)
    assert np.all(gathered.num_bytes <= 2 * largest)


def test_one_rank_has_no_flows():
    assert data_flows(LLAMA, Layout.of(seq_len=4096, zero_stage=3)) == ()
