"""Every derivation of a training report ends in the report's own number, by plain arithmetic."""

import pytest

from core.axis_traffic import AXES
from core.parallelism import pipeline_bubble
from core.presets import load_presets
from core.training import estimate
from core.training_working import axis_working, bubble_working, mfu_working, step_working
from tests.core.test_working import holds

PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}


@pytest.mark.parametrize("name", PRESETS)
def test_a_step_and_its_utilization(name):
    report = estimate(PRESETS[name])
    holds(step_working(report), report.step_s)
    holds(mfu_working(report), report.mfu)


@pytest.mark.parametrize("recipe", ["adam", "lora"])
@pytest.mark.parametrize("dtype", [None, "fp8"])
def test_a_step_in_other_formats_and_with_frozen_weights(dtype, recipe):
    run = PRESETS["mfu-35-hfu-62"].model_copy(update={"recipe": recipe, "recompute": "selective"})
    report = estimate(run, matrix_dtype=dtype, causal=False)
    holds(step_working(report), report.step_s)
    holds(mfu_working(report), report.mfu)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["llama31-405b-16384", "deepseek-v3-h800", "zero-70b-64", "8b-on-24gb"])
def test_traffic_of_an_axis(name, axis):
    working = axis_working(estimate(PRESETS[name]), axis)
    if working.terms:
        holds(working, working.value)
    else:
        assert working.value == 0


def test_traffic_reads_as_on_a_whiteboard():
    working = axis_working(estimate(PRESETS["zero-70b-64"]), "data")
    assert [term.label for term in working.terms] == [
        "gradients, reduce-scatter, backward",
        "weights, all-gather, forward",
        "weights, all-gather, backward",
    ]
    assert working.terms[0].expression.endswith("(64 - 1) / 64")


@pytest.mark.parametrize("shape", [(4, 8, 1), (16, 16, 4), (1, 3, 1)])
def test_the_bubble(shape):
    stages, micro_batches, virtual = shape
    working = bubble_working(stages, micro_batches, virtual_stages=virtual)
    holds(working, float(pipeline_bubble(stages, micro_batches, virtual_stages=virtual).of_total))
