"""Pictures of one run: what stands in them are the measured numbers, and the words say the same."""

import json

import numpy as np
import pytest

from core.charts import own_run
from core.display import show_seconds
from core.layer_prediction import judge, scores
from core.microbench.recorded import recorded
from core.own_profile import profile_of
from core.own_views import attention_pairs, bandwidth, launch_view
from core.units import GB, MICROSECOND, MILLISECOND
from tests.core.own_run import ENTRY, changed, without

PROFILE = profile_of(ENTRY)
FORWARD = attention_pairs(ENTRY)[0]


def traces(figure):
    return {trace.get("name"): trace for trace in figure.payload()["figure"]["data"]}


def test_bandwidth_stands_at_its_sizes_with_the_cache_and_the_datasheet():
    found = bandwidth(ENTRY, 4.8e12)
    figure = own_run.bandwidth(found)
    assert traces(figure)["copy"]["y"] == pytest.approx(list(found.curves[0].median / GB))
    assert [(limit.axis, limit.at) for limit in figure.limits] == [("x", 52_428_800), ("y", pytest.approx(4800))]
    assert figure.alt == ["At the largest buffer copy: 4.00 TB/s, 83.3% of the datasheet."]
    assert len(own_run.bandwidth(bandwidth(ENTRY)).limits) == 1


def test_both_curves_of_attention_and_the_gain():
    drawn = traces(own_run.attention_times(FORWARD))
    assert set(drawn) == {"scores written out", "fused kernel"}
    assert drawn["fused kernel"]["y"] == pytest.approx(list(FORWARD.seconds["fused"].median / MICROSECOND))
    assert "9.0 times as fast at 512 tokens and 9.0 times at 8,192" in own_run.attention_text(FORWARD)
    peaks = own_run.attention_memory(FORWARD, "GB")
    assert traces(peaks)["fused kernel"]["y"] == pytest.approx([2**20 / GB] * 3)
    assert "0.268 GB at 8,192 tokens" in peaks.alt[0]


def test_one_curve_alone_is_said():
    alone = changed(measurements=[one for one in ENTRY["measurements"] if one.get("variant") != "unfused"])
    pair = attention_pairs(alone)[0]
    assert "only one of the two curves" in own_run.attention_text(pair)
    assert set(traces(own_run.attention_times(pair))) == {"fused kernel"}


def test_kernels_are_bars_under_the_line_of_a_launch():
    view = launch_view(ENTRY)
    figure = own_run.launches(view)
    assert figure.limits[0].at == pytest.approx(9)
    assert figure.limits[1].at == pytest.approx(1.2)
    (bars,) = figure.payload()["figure"]["data"]
    assert bars["customdata"] == pytest.approx([kernel.seconds / MICROSECOND for kernel in view.kernels])
    low, high = figure.payload()["figure"]["layout"]["xaxis"]["range"]
    assert low == 0
    assert high > 9
    launch = show_seconds(view.eager_s)
    said = f"Of the {len(view.kernels)} kinds of kernel in the smallest decode step {view.shorter} take less than the"
    assert f"{said} {launch} of a launch." in figure.alt[0]


def test_only_buffers_beyond_the_cache_are_said_to_come_from_memory():
    # The recorded sets: 4.29 GB over a cache of 62.9 MB on the H200, 16.8 MB over one of 33.6 MB on the CPU.
    notes = {
        name: own_run.bandwidth_note(bandwidth(recorded(name).model_dump())) for name in ("h200-full", "cpu-quick")
    }
    assert "the last ones come from memory" in notes["h200-full"]
    assert "No buffer is larger than the last-level cache of 33.6 MB" in notes["cpu-quick"]


def test_a_run_without_kernels_says_what_a_launch_takes_and_no_more():
    bare = changed(measurements=[one for one in ENTRY["measurements"] if one["kind"] == "launch"])
    assert own_run.launch_text(launch_view(bare)).endswith("inside a graph.")


def test_what_a_graph_gains_is_said():
    view = launch_view(ENTRY)
    ((name, eager, graph),) = view.steps
    times = f"{eager / graph:.1f}"
    said = f"the same decode step of one layer is {times} to {times} times as fast; most with {name}."
    assert own_run.graph_text(view) == f"Launched from a graph, {said}"


def test_a_launch_that_was_only_measured_in_a_graph_is_said():
    graph = changed(measurements=[one for one in ENTRY["measurements"] if one.get("mode") != "eager"])
    assert own_run.launch_text(launch_view(graph)).startswith("Inside a graph")
    assert len(own_run.launches(launch_view(graph)).limits) == 1


def test_steps_stand_at_measured_and_predicted_time():
    judged = judge(ENTRY, PROFILE)
    figure = own_run.predictions(judged)
    drawn = traces(figure)
    decode = [one for one in judged if one.phase == "decode"]
    assert drawn["decode"]["x"] == pytest.approx([one.measured_s / MILLISECOND for one in decode])
    assert drawn["decode"]["y"] == pytest.approx([one.predicted_s / MILLISECOND for one in decode])
    ideal = drawn["prediction = measurement"]
    assert ideal["x"] == ideal["y"]
    near = sum(abs(one.error) <= 0.2 for one in judged)
    assert f"{near} lie within 20%" in figure.alt[0]


def test_a_score_says_to_which_side_predictions_fall():
    decode, _, training = map(own_run.score_text, scores(judge(ENTRY, PROFILE)))
    assert decode.startswith("Decode, launched from a graph, 12 steps: median error")
    assert "too long" in training or "too short" in training


@pytest.mark.parametrize("kinds", [(), ("vector",), ("matmul",)], ids=str)
def test_every_picture_is_json(kinds):
    entry = without(*kinds)
    figures = [own_run.bandwidth(bandwidth(entry)), own_run.launches(launch_view(entry))]
    figures += [own_run.attention_times(pair) for pair in attention_pairs(entry)]
    for figure in figures:
        assert np.all(json.dumps(figure.payload()))
