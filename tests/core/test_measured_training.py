"""A training step at the shares that measured kernels reach."""

import numpy as np
import pytest

from core.measured_profile import Profile, load_profile
from core.measured_training import BACKWARD_ATTENTION_RATE, measured_training
from core.model_spec import load_models
from core.scenario_link import default_scenario
from core.training import estimate

START = default_scenario().training  # Llama 3.1 70B on 64 H100
H100 = load_profile("h100-sxm")
MODELS = load_models()


def test_the_start_scenario_comes_out_near_the_stated_estimate():
    found, stated = measured_training(H100, START), estimate(START)
    assert found.report.step_s == pytest.approx(stated.step_s, rel=0.1)
    assert found.report.floor_s == stated.floor_s
    assert found.report.step_s > found.report.floor_s
    assert found.citation == H100.citation


def test_shares_are_those_of_the_scenarios_own_shapes():
    found = measured_training(H100, START)
    layout = START.layout
    rows = layout["micro_batch_size"] * layout["seq_len"]
    # By hand: query, key and value of 8,192 channels, 64 + 8 + 8 heads of 128, forward.
    one = 2 * rows * 10240 * 8192 / H100.matmul_s(rows, 10240, 8192).seconds / 989.4e12
    assert found.matmul_share == pytest.approx(float(one), abs=0.12)
    assert 0.7 < found.matmul_share < 0.9
    assert found.report.efficiency.matmul_share == found.matmul_share
    assert found.report.efficiency.job_share == 0.8, "what a job loses beside its kernels stays stated"


def test_attention_without_a_measured_backward_pass_takes_it_at_a_stated_rate():
    found = measured_training(H100, START)
    length = START.seq_len
    forward = float(H100.attention_s("prefill", START.micro_batch_size, length, heads=64, kv_heads=8).seconds)
    flops = START.micro_batch_size * 64 * 128 * 2 * length * (length + 1)
    share = flops / 989.4e12 / forward
    assert found.attention_share == pytest.approx(3 * share / (1 + 2 / BACKWARD_ATTENTION_RATE))


def test_a_measured_backward_pass_is_taken_as_it_is():
    table = next(
        one
        for one in H100.file.attention
        if (one.phase, one.heads, one.kv_heads, one.kv_dtype) == ("prefill", 64, 8, "bf16")
    )
    both = table.model_copy(
        update={
            "phase": "training",
            "seconds": tuple(tuple(t and 5 * t for t in line) for line in table.seconds),
        }
    )
    profile = Profile(H100.file.model_copy(update={"attention": (*H100.file.attention, both)}))
    ratio = measured_training(profile, START).attention_share / measured_training(H100, START).attention_share
    assert ratio == pytest.approx((1 + 2 / BACKWARD_ATTENTION_RATE) / 5)


def test_what_lies_beyond_the_tables_is_marked_and_said():
    found = measured_training(H100, START)
    assert found.continued  # the head's 128,256 columns
    assert any("128,256" in note for note in found.notes)
    assert any("backward" in note for note in found.notes)


def test_collectives_inside_a_node_are_the_measured_ones():
    slow = Profile(
        H100.file.model_copy(
            update={
                "collectives": tuple(
                    row.model_copy(update={"seconds": tuple(9 * t for t in row.seconds)})
                    for row in H100.file.collectives
                )
            }
        )
    )
    scenario = START.model_copy(update={"tensor_parallel": 8, "data_parallel": 8})
    usual, slower = (measured_training(profile, scenario).report.time for profile in (H100, slow))
    assert slower.tensor_s > 5 * usual.tensor_s
    assert slower.matrix_s == pytest.approx(usual.matrix_s)


def test_formats_that_were_not_measured_keep_the_stated_share():
    bare = Profile(H100.file.model_copy(update={"matmul": (), "attention": ()}))
    found, stated = measured_training(bare, START), estimate(START)
    assert found.matmul_share is None
    assert found.attention_share is None
    assert found.report.efficiency.matmul_share == stated.efficiency.matmul_share
    assert len(found.notes) == 2


def test_fp8_products_are_quicker_than_16_bit_ones_by_less_than_two():
    usual, eight = (measured_training(H100, START, matrix_dtype=dtype) for dtype in (None, "fp8"))
    ratio = usual.report.time.matrix_s / eight.report.time.matrix_s
    assert 1.4 < ratio < 2.1
    assert eight.matmul_share < usual.matmul_share


def test_a_measured_memory_rate_replaces_the_stated_share():
    copied = Profile(H100.file.model_copy(update={"memory_bytes_per_s": 3.0e12}))
    assert measured_training(copied, START).report.efficiency.bandwidth_share == pytest.approx(3.0 / 3.35)


@pytest.mark.parametrize(
    "name", ["deepseek-ai/DeepSeek-V3", "openai/gpt-oss-120b", "nvidia/Nemotron-H-56B-Base-8K", "google/gemma-3-27b-it"]
)
def test_other_kinds_of_layers_get_a_step(name):
    scenario = START.model_copy(update={"model": MODELS[name]})
    found = measured_training(H100, scenario)
    assert np.isfinite(found.report.step_s)
    assert found.report.step_s > found.report.floor_s


def test_experts_are_marked_as_read_from_wide_products():
    found = measured_training(H100, START.model_copy(update={"model": MODELS["openai/gpt-oss-120b"]}))
    assert found.continued
    assert any(note.startswith("Grouped products of experts") for note in found.notes)
