"""Measured attention beside step 4's floors: the profile's own readings, and nothing where nothing was measured."""

import pytest

from core.attention import over_seq_len
from core.attention_measured import has_launches, measured_passes, passes_workings
from core.attention_tables import launch_note, pass_table
from core.attention_time_working import launch_workings
from core.decode_launches import launch_rows
from core.measured_profile import load_profile
from core.microbench.recorded import recorded
from core.model_spec import load_models
from core.own_profile import profile_of
from core.scenario import changed, with_model
from core.scenario_link import default_scenario
from tests.core.test_working import calculate

START = default_scenario()
H100 = load_profile("h100-sxm")
OWN = profile_of(recorded("h200-full").model_dump())


def layer(model="meta-llama/Llama-3.1-70B", **values):
    scenario, _ = with_model(START, load_models()[model])
    return changed(scenario, **values).training


def test_open_data_has_the_forward_pass_alone():
    found = measured_passes(layer(seq_len=4096, tensor_parallel=8), H100)
    here = H100.attention_s("prefill", 1, 4096, heads=8, kv_heads=1, head_dim=128)
    assert found.seconds == {"forward": float(here.seconds)}
    assert found.citation == H100.citation
    assert found.in_words().startswith(f"Measured: {H100.citation}.")


def test_an_own_run_has_both_passes_and_the_backward_pass_is_their_difference():
    found = measured_passes(layer(seq_len=4096, tensor_parallel=1), OWN)
    forward, both = (
        float(OWN.attention_s(phase, 1, 4096, heads=64, kv_heads=8).seconds) for phase in ("prefill", "training")
    )
    assert found.seconds == {"forward": forward, "both": both, "backward": pytest.approx(both - forward)}
    # Silicon is no faster than its datasheet: 64 heads of 128, half of 4,096 x 4,096 scores, at 989 TFLOP/s.
    assert forward > 4 * 64 * 128 * 4096**2 / 2 / 989.4e12


@pytest.mark.parametrize("model", ["deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V4-Flash"])
def test_what_no_profile_measures_gets_no_column(model):
    assert measured_passes(layer(model), OWN) is None
    assert measured_passes(layer(model), H100) is None
    assert passes_workings(None) == []


def test_a_window_counts_once_it_hides_something():
    model = "mistralai/Mistral-7B-v0.1"  # 4,096 tokens
    assert measured_passes(layer(model, seq_len=4096), OWN) is not None
    assert measured_passes(layer(model, seq_len=8192), OWN) is None


def test_without_a_profile_there_is_no_column():
    scenario = layer()
    assert measured_passes(scenario, None) is None
    sweep = over_seq_len(scenario)
    assert "measured" not in pass_table(sweep, 0, "GB")[0]


def test_the_column_stands_beside_tiled_causal_passes_and_floors_stay():
    scenario = layer(seq_len=8192)
    sweep, found = over_seq_len(scenario), measured_passes(scenario, OWN)
    index = sweep.seq_len.index(8192)
    rows, bare = pass_table(sweep, index, "GB", found), pass_table(sweep, index, "GB")
    assert [row["pass"] for row in rows if row["measured"]] == [
        "forward, tiled, causal",
        "backward, tiled, causal",
        "both, tiled, causal",
    ]
    assert [row["time floor"] for row in rows] == [row["time floor"] for row in bare]


def test_each_working_adds_up_and_cites_its_source():
    found = measured_passes(layer(seq_len=8192), OWN)
    workings = passes_workings(found)
    assert len(workings) == 3
    for working in workings:
        assert calculate(working.substitution) == pytest.approx(working.value, rel=1e-9)
        assert working.source == OWN.citation
        assert working.assumptions


def test_launches_of_an_own_run_are_its_own():
    assert has_launches(OWN)
    assert not has_launches(H100)
    assert not has_launches(None)
    rows, stated = launch_rows(START.serving, OWN), launch_rows(START.serving)
    assert [row.launch_s for row in rows[:2]] == [OWN.file.launch_s, OWN.file.graph_launch_s]
    assert [row.work_s for row in rows] == [row.work_s for row in stated]
    assert rows[0].queue_s == pytest.approx(rows[0].kernels * OWN.file.launch_s)
    assert OWN.citation in launch_note(rows)
    assert "10.0 us a launch, 1.10 us inside a CUDA graph, measured on NVIDIA H200" in launch_note(stated)
    assert f"{OWN.file.launch_s * 1e6:.1f} us on one and 10.3 us on another" in launch_note(stated)
    assert all(OWN.citation in working.source for working in launch_workings(rows))
    assert launch_rows(START.serving, H100) == stated
