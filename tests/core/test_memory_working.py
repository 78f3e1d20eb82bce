"""Derivations of one GPU's training memory: the fullest stage, its activations, its peak and its room."""

import pytest

from core.hardware import load_accelerators
from core.memory_working import activation_workings, fullest_stage, peak_workings
from core.scenario import changed
from tests.core.test_partition_working import ALL, SCENARIOS, START


@ALL
def test_the_logits_of_the_derivation_are_those_of_the_stage(scenario):
    shown = [working.value for working in activation_workings(scenario) if working.name.startswith("Logits")]
    inside = [term.value for term in activation_workings(scenario)[0].terms if term.label == "logits"]
    assert shown == pytest.approx(inside)


def test_the_schedule_in_words_is_the_one_that_runs():
    plain, interleaved = (
        activation_workings(SCENARIOS[name].training)[0].assumptions[0] for name in ("tied, in stages", "interleaved")
    )
    assert plain.startswith("1F1B: stage i of p keeps min(p - i, m)")
    assert interleaved.startswith("interleaved 1F1B")


# nvidia-smi and cuMemGetInfo on an H200, driver 580: 143,771 MiB in all, 616 MiB reserved.
def test_the_room_says_whose_figure_the_memory_is():
    room = peak_workings(START.training)[1]
    assert "its driver reports" in room.assumptions[0]
    tpu = START.training.model_copy(update={"accelerator": load_accelerators()["tpu-v5p"]})
    assert "GB read as GiB" in peak_workings(tpu)[1].assumptions[0]


def in_eight_stages(num_micro_batches):
    split = {"pipeline_parallel": 8, "data_parallel": 8, "zero_stage": 1, "num_micro_batches": num_micro_batches}
    return changed(START, **split).training


# Llama 3.1 70B, full recomputation: each of a stage's 10 layers keeps 2 x 4,096 x 8,192 bytes of a micro-batch, and
# 1F1B keeps eight micro-batches on the first stage.
def test_a_full_pipeline_fills_its_first_stage():
    run = in_eight_stages(32)
    assert fullest_stage(run)[0] == 0
    assert activation_workings(run)[0].substitution == "10 × 67,108,864 × 8"
    assert activation_workings(run)[0].value == 10 * 2 * 4096 * 8192 * 8


# With four micro-batches the first stage keeps four, 2.7 GB; logits and softmax of 128,256 in fp32 weigh 4.2 GB.
def test_logits_fill_the_last_stage_of_a_pipeline_that_is_half_empty():
    run = in_eight_stages(4)
    assert fullest_stage(run)[0] == 7
    layers, head, logits = (term.value for term in activation_workings(run)[0].terms)
    assert (layers, head) == (10 * 2 * 4096 * 8192, 2 * 2 * 4096 * 8192)  # norm and head keep 16 bits each
    assert logits == 2 * 4 * 4096 * 128_256
