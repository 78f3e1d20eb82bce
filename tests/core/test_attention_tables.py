"""The tables of step 4 say what core counts."""

import pytest

from core.attention import over_seq_len
from core.attention_kinds import kinds
from core.attention_tables import FIXES, kind_table, launch_table, launch_verdict, pass_table
from core.decode_launches import launch_rows
from core.model_spec import load_models
from core.scenario import changed, with_model
from core.scenario_link import default_scenario

START = default_scenario()


def test_forward_and_backward_and_both():
    sweep = over_seq_len(START.training)
    rows = pass_table(sweep, sweep.seq_len.index(4096), "GB")
    assert [row["pass"] for row in rows] == [
        "forward, unfused",
        "forward, tiled, causal",
        "backward, unfused",
        "backward, tiled, causal",
        "both, unfused",
        "both, tiled, causal",
        "both, tiled, no mask",
    ]
    # Six products against seven, 2 x 64 x 4096^2 x 128 each; 24.1 GB at 3.35 TB/s; 80 layers.
    assert (rows[4]["FLOPs"], rows[6]["FLOPs"]) == ("1.65T", "1.92T")
    assert (rows[4]["traffic"], rows[4]["time floor"]) == ("24.1 GB", "7.19 ms")
    assert rows[4]["traffic, all 80 layers"] == "1,926 GB"
    assert rows[5]["traffic"].startswith("0.455 GB to ")


def test_one_layer_is_the_only_one():
    sweep = over_seq_len(START.training)
    assert "floor, all 80 layers" in pass_table(sweep, 0, "GiB")[0]


def test_each_kind_has_a_row():
    rows = kind_table(kinds(START.model), "GB")
    assert [row["kind"] for row in rows] == ["as it is", "MHA", "GQA", "MQA", "MLA", "sliding", "sparse", "linear"]
    assert rows[1]["against MHA"] == "100%"
    assert (rows[0]["a token adds"], rows[0]["cache at 32,768"]) == ("0.328 MB", "10.7 GB")
    assert rows[5]["a token adds"] == "0.328 MB, nothing once windows are full"
    assert rows[7]["a token adds"] == "nothing; 0.359 GB once"


@pytest.mark.parametrize("model_id", [*load_models()])
def test_every_catalog_model_has_tables(model_id):
    scenario, _ = with_model(START, load_models()[model_id])
    sweep = over_seq_len(scenario.training)
    for rows in (
        pass_table(sweep, 3, "GB"),
        kind_table(kinds(scenario.model), "GB"),
        launch_table(launch_rows(scenario.serving)),
    ):
        assert all(value and "nan" not in value for row in rows for value in row.values())


def test_the_launches_say_who_waits_for_whom():
    rows = launch_table(launch_rows(START.serving))
    assert [row["it waits for"] for row in rows] == ["launches", "the GPU", "launches", "the GPU"]
    assert rows[0]["launches take"] == "38.5 ms"


def test_the_verdict_names_the_first_cure():
    assert "launches take 38.5 ms" in launch_verdict(launch_rows(START.serving))
    assert launch_verdict(launch_rows(START.serving)).endswith("the GPU is busy again.")
    busy = changed(START, batch=1024, context_len=32_768).serving
    assert launch_verdict(launch_rows(busy)).startswith("Here every way keeps the GPU busy")
    small, _ = with_model(START, load_models()["openai-community/gpt2"])
    tiny = changed(small, batch=1, context_len=64).serving
    assert launch_verdict(launch_rows(tiny)).endswith("Even fused and in a graph it waits.")


def test_each_fix_has_its_price_and_its_proof():
    assert all(list(fix) == ["when", "do", "gains", "costs", "confirm by"] for fix in FIXES)
    assert all(value for fix in FIXES for value in fix.values())
