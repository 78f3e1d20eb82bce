"""Steps of a layer beside their predictions: right where the kernels add up, blind to the steps, errors as they are."""

import copy

import numpy as np
import pytest

from core.layer_prediction import Judged, judge, layer_model, scores, stand_in
from core.measured_profile import load_profile
from core.own_profile import profile_of
from tests.core.own_run import ENTRY, LLAMA, changed, without

PROFILE = profile_of(ENTRY)
JUDGED = judge(ENTRY, PROFILE)


def of(phase, judged=JUDGED):
    return [one for one in judged if one.phase == phase]


def test_every_step_that_was_measured_is_judged():
    steps = [one for one in ENTRY["measurements"] if one["kind"] == "step"]
    assert len(JUDGED) == len(steps)
    assert {one.phase for one in JUDGED} == {"decode", "training"}


def test_a_decode_step_from_a_graph_is_the_sum_of_its_kernels():
    errors = [abs(one.error) for one in of("decode") if one.mode == "graph"]
    assert len(errors) == 12
    assert max(errors) < 0.08


def test_a_training_step_is_the_sum_of_its_kernels_forward_and_backward():
    """Counted by hand in tests/core/own_run.py, after docs/microbench.md."""
    by_size = {(one.batch, one.seq_len): one for one in of("training")}
    assert by_size[1, 2048].error == pytest.approx(0, abs=0.01)
    assert by_size[1, 8192].error == pytest.approx(0, abs=0.01)
    # Between measured sizes a start and a rate are read on a line between logarithms, which lies above their sum.
    assert by_size[2, 2048].error == pytest.approx(0, abs=0.06)


def test_an_eager_step_waits_for_its_launches():
    slow_host = copy.deepcopy(ENTRY)
    for one in slow_host["measurements"]:
        if one["kind"] == "launch" and one["mode"] == "eager":
            one["time"] |= dict.fromkeys(("p10_s", "median_s", "p90_s"), 40e-6)
    judged = of("decode", judge(slow_host, profile_of(slow_host)))
    eager, graph = (
        next(one for one in judged if one.mode == mode and (one.batch, one.seq_len) == (1, 1024))
        for mode in ("eager", "graph")
    )
    # Ten kernels or more, 40 us apart, are longer than what they do; with launches of 9 us they are not.
    assert eager.predicted_s > 10 * 40e-6 > 2 * graph.predicted_s
    quick = [one.predicted_s for one in of("decode") if (one.batch, one.seq_len) == (1, 1024)]
    assert quick == pytest.approx([graph.predicted_s] * 2, rel=0.01)


def test_the_prediction_does_not_move_with_the_steps():
    slower = copy.deepcopy(ENTRY)
    for one in slower["measurements"]:
        if one["kind"] == "step":
            one["time"]["median_s"] *= 2
    again = judge(slower, profile_of(slower))
    assert [one.predicted_s for one in again] == [one.predicted_s for one in JUDGED]
    assert [one.error for one in again] == pytest.approx([(1 + one.error) / 2 - 1 for one in JUDGED])


def test_what_was_not_measured_is_not_predicted():
    no_vectors = without("vector")
    assert of("training", judge(no_vectors, profile_of(no_vectors))) == []


def test_reading_beyond_the_table_is_marked():
    longer = changed()
    for one in longer["measurements"]:
        if one["kind"] == "step" and one["phase"] == "decode":
            one["seq_len"] *= 16
    assert not any(one.inside for one in of("decode", judge(longer, PROFILE)) if one.seq_len > 32768)
    assert [one.batch for one in of("training") if one.inside] == [1, 1]  # attention was measured at one sequence


def test_another_systems_profile_is_judged_by_the_same_steps():
    decode = [one for one in of("decode", judge(ENTRY, load_profile("h200-sxm"))) if one.mode == "graph"]
    assert len(decode) == 12
    assert np.median([abs(one.error) for one in decode]) < 1.0


def test_scores_are_quantiles_of_the_errors():
    steps = [Judged("decode", "m", 1, 1, "graph", 1.0, 1.0 + error, True, ()) for error in (0.1, -0.2, 0.3, -0.4, 0.0)]
    (score,) = scores(steps)
    assert score.mode == "graph"
    assert (score.count, score.median, score.worst, score.bias) == (
        5,
        pytest.approx(0.2),
        pytest.approx(0.4),
        pytest.approx(0.0),
    )
    assert score.p90 == pytest.approx(0.36)
    assert scores([]) == ()
    apart = scores([*steps, Judged("decode", "m", 1, 1, "eager", 1.0, 3.0, True, ())])
    assert [(one.mode, one.count) for one in apart] == [("graph", 5), ("eager", 1)]


def test_a_device_without_a_datasheet_is_its_own_stand_in():
    unknown = changed(system=ENTRY["system"] | {"name": "Some Accelerator 9"})
    profile = profile_of(unknown)
    chip = stand_in(profile, 8_000_000_000)
    assert chip.hbm_bytes == 8_000_000_000
    assert chip.hbm_bytes_per_s == profile.memory_bytes_per_s
    best = max(
        2 * one["m"] * one["n"] * one["k"] / one["time"]["median_s"]
        for one in ENTRY["measurements"]
        if one["kind"] == "matmul" and one["role"] == "forward"
    )
    assert chip.peak_flops_per_s("bf16") == pytest.approx(best)
    assert len(judge(unknown, profile)) == len(JUDGED)


def test_a_device_whose_name_begins_with_a_screenful_of_spaces_is_judged_too():
    spaced = changed(system=ENTRY["system"] | {"name": " " * 150 + "x"})
    assert stand_in(profile_of(spaced), 1).name == "x"


def test_without_a_copy_there_is_no_stand_in_and_nothing_is_judged():
    bare = without("copy")
    bare["system"]["name"] = "Some Accelerator 9"
    profile = profile_of(bare)
    assert stand_in(profile, 1) is None
    assert judge(bare, profile) == ()


@pytest.mark.parametrize("qk_norm", [False, True])
def test_the_model_of_one_layer_has_the_measured_sizes(qk_norm):
    model = layer_model(LLAMA.model, 4096, 32, 8, 128, 14336, qk_norm)
    (layer,) = model.layers
    assert (model.hidden_size, layer.mixer.num_heads, layer.mixer.num_kv_heads) == (4096, 32, 8)
    assert layer.mlp.intermediate_size == 14336
    assert (layer.mixer.qk_norm == "head") is qk_norm
