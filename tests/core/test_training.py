"""Reports of training scenarios: published runs within a stated share, parts that add up, limits that bind."""

from dataclasses import replace

import numpy as np
import pytest

from core.constraints import expert_parallel_choices
from core.efficiency import Efficiency, Overlap
from core.flops import hfu, mfu
from core.hardware import load_accelerators, load_links
from core.layout import Layout
from core.memory import training_memory
from core.model_spec import load_models
from core.parallelism import schedule_bubble
from core.presets import load_presets
from core.scenario import TrainingScenario
from core.training import estimate
from tests.communication import ROWS, as_printed, gpt, rows

GPUS, LINKS, MODELS = load_accelerators(), load_links(), load_models()
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}


def report(row, **options):
    inputs = row["inputs"]
    model = MODELS[inputs["model"]] if isinstance(inputs["model"], str) else gpt(*inputs["model"])
    scenario = TrainingScenario(model=model, accelerator=GPUS[inputs["gpu"]], **inputs["layout"])
    return estimate(scenario, scale_out=LINKS[inputs["out"]], **options)


def run(**values):
    return TrainingScenario(**({"model": LLAMA, "accelerator": GPUS["h100-sxm"], "data_parallel": 64} | values))


# Kernels, links and schedule with one fitted share: Megatron-LM's A100 runs from 32 to 3,072 GPUs.
@rows("tflops_per_gpu")
def test_speed_of_published_runs(row):
    found = report(row, causal=False)
    assert found.hfu * 312 == as_printed(row)


@rows("step_s")
def test_step_of_published_runs(row):
    assert report(row).step_s == as_printed(row)


BY_ID = {row["id"]: row for row in ROWS}


@rows("time_ratio")
def test_full_recomputation_against_selective(row):
    slow, fast = (report(BY_ID[row["inputs"][name]]).step_s for name in ("slower", "faster"))
    assert slow / fast == as_printed(row)


# The paper times one layer forward and backward: all of a step without its optimizer.
@rows("layer_time_ratio")
def test_time_that_recomputation_adds_to_a_layer(row):
    like = BY_ID[row["inputs"]["like"]]

    def layers_s(recompute):
        layout = like["inputs"]["layout"] | {"recompute": recompute}
        found = report({"inputs": like["inputs"] | {"layout": layout}})
        return found.step_s - found.time_split["optimizer"]

    assert layers_s(row["inputs"]["recompute"]) / layers_s("none") == as_printed(row)


@rows("mfu")
def test_utilization_of_llama_3(row):
    assert report(row).mfu * 100 == as_printed(row)


# Listed, not reproduced: the row says why.
@rows("faster_than_published")
def test_what_the_model_is_too_hopeful_about(row):
    found = report(row, causal=False).hfu * 312
    assert found > row["expected"]
    assert row["reason"]


def test_estimates_beyond_5_percent_give_a_reason():
    assert all(row.get("reason") for row in ROWS if row.get("within", 0) > 0.05)


@rows("num_gpus")
def test_gpus_of_llama_3(row):
    assert Layout.of(seq_len=8192, **row["inputs"]).num_gpus == as_printed(row)


@rows("step_tokens")
def test_tokens_of_llama_3(row):
    assert Layout.of(**row["inputs"]).step_tokens / 2**20 == as_printed(row)


@rows("bubble_of_total")
def test_bubble_as_a_share_of_the_whole(row):
    assert schedule_bubble(**row["inputs"]).of_total * 100 == as_printed(row)


@rows("bubble_of_ideal")
def test_bubble_as_a_share_of_ideal_time(row):
    assert schedule_bubble(**row["inputs"]).of_ideal == as_printed(row)


@rows("bubble_time")
def test_bubble_in_passes(row):
    passes = 3 * row["inputs"]["micro_batches"]
    assert schedule_bubble(**row["inputs"]).of_ideal * passes == as_printed(row)


# DeepSeek-AI 2024, arXiv:2412.19437, section 4.2: 180,000 H800 hours a trillion tokens. Listed, not reproduced: with
# products in fp8 and the exchange with experts behind work the estimate is a fifth above that, for it sends every token
# to eight experts in 16 bits, where DeepSeek sends it to four nodes at most, one way in 8. In bf16 and with exposed
# exchange it is twice as long.
def test_hours_of_deepseek_v3_between_two_estimates():
    scenario = PRESETS["deepseek-v3-h800"].training.model_copy(update={"recompute": "none"})
    rates = replace(Efficiency.of(scenario.accelerator), overlap=Overlap(expert=1.0))
    hidden, exposed = estimate(scenario, matrix_dtype="fp8", efficiency=rates), estimate(scenario)
    hours = [1e12 / found.tokens_per_s / 3600 * scenario.num_gpus for found in (hidden, exposed)]
    assert hours[0] / 180e3 == pytest.approx(1.2, abs=0.1)
    assert hours[1] / 180e3 == pytest.approx(2.1, abs=0.1)
    assert exposed.pressure["communication"] == 1


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_report_whose_parts_add_up(name):
    scenario = PRESETS[name]
    found = estimate(scenario.training, scale_up=scenario.scale_up, scale_out=scenario.scale_out)
    assert sum(found.time_split.values()) == pytest.approx(found.step_s)
    assert all(seconds >= 0 for seconds in found.time_split.values())
    assert found.step_s > found.floor_s
    assert 0 < found.mfu <= found.hfu < 1
    assert found.memory.peak_bytes.shape == (scenario.training.pipeline_parallel,)
    assert found.fits == (not found.problems)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_report(name):
    model = MODELS[name]
    experts = max(n for n in expert_parallel_choices(model, 16) if n <= 8)
    found = estimate(run(model=model, data_parallel=16, expert_parallel=experts, zero_stage=1, seq_len=2048))
    assert found.floor_s < found.step_s < 1e4
    assert 0 < found.mfu < found.hfu < 1


def test_utilization_is_that_of_tokens_per_second():
    found = estimate(run(tensor_parallel=8, data_parallel=8, recompute="full"))
    given = {"num_gpus": 64, "peak_flops_per_s": 989.4e12, "causal": True}
    assert found.mfu == pytest.approx(float(mfu(found.tokens_per_s, LLAMA, 4096, **given)))
    assert found.hfu == pytest.approx(float(hfu(found.tokens_per_s, LLAMA, 4096, **given, recompute="full")))
    assert found.mfu * found.step_s == pytest.approx(found.floor_s)
    assert found.tokens_per_s_per_gpu * 64 == pytest.approx(found.tokens_per_s)


def test_memory_is_that_of_the_memory_module():
    scenario = run(pipeline_parallel=4, num_micro_batches=8)
    found, alone = estimate(scenario).memory, training_memory(LLAMA, **scenario.layout)
    assert np.array_equal(found.peak_bytes, alone.peak_bytes)


LIMITED = [
    ("capacity", {"zero_stage": 0}),
    ("compute", {"micro_batch_size": 2}),
    ("communication", {"zero_stage": 3, "tensor_parallel": 8, "data_parallel": 1024, "micro_batch_size": 1}),
    ("communication", {"pipeline_parallel": 16, "num_micro_batches": 2, "data_parallel": 8}),
]


@pytest.mark.parametrize(("limit", "values"), LIMITED)
def test_the_limit_that_binds(limit, values):
    found = estimate(run(**values))
    assert found.limit == limit
    if limit == "capacity":
        assert found.pressure["capacity"] > 1
        assert not found.fits
    else:
        assert found.pressure[limit] == 1
        assert all(share <= 1 for share in found.pressure.values())


def test_bandwidth_binds_where_scores_go_to_memory():
    found = estimate(
        run(
            model=MODELS["meta-llama/Llama-3.1-8B"],
            fused_attention=False,
            seq_len=32_768,
            recompute="full",
            data_parallel=1024,
            tensor_parallel=8,
            sequence_parallel=True,
        )
    )
    assert found.limit == "bandwidth"


# 16 bytes a parameter on one card of 24 GB: said before any time is believed.
def test_what_does_not_fit_is_said_with_a_cure():
    found = estimate(PRESETS["8b-on-24gb"].training)
    assert found.limit == "capacity"
    assert "more than the GPU has" in found.problems[0].sentence
    assert found.problems[0].way_out


def test_an_accelerator_without_a_peak_is_refused_in_words():
    with pytest.raises(ValueError, match="has no bf16 peak"):
        estimate(run(accelerator=GPUS["apple-m4-max"]))


def test_notes_say_what_is_not_in_the_time():
    said = " ".join(estimate(run(offload="optimizer", recipe="adam")).notes)
    assert "offload" in said
    uneven = estimate(run(pipeline_parallel=4, virtual_stages=2, num_micro_batches=6))
    assert "rounds of 4" in " ".join(uneven.notes)


# GPT 175B on 1,536 A100, tensor 8, pipeline 12, data 16: a tool that gathers ZeRO-1's weights every micro-batch gives
# 44.7 s where one gather a step gives about 21.
def test_zero_1_does_not_double_the_step():
    found = estimate(
        TrainingScenario(
            model=MODELS["openai/gpt-3-175b"],
            accelerator=GPUS["a100-sxm-80gb"],
            data_parallel=16,
            tensor_parallel=8,
            pipeline_parallel=12,
            zero_stage=1,
            num_micro_batches=96,
            seq_len=2048,
            recompute="full",
        )
    )
    assert found.step_s < 25
    assert found.time_split["data communication"] < 0.05 * found.step_s
