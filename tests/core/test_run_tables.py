"""Rows beside the pictures: the same numbers, with units, and nothing left out silently."""

import pytest

from core import run_tables
from core.layer_memory import judge_memory, memory_score
from core.layer_prediction import judge, scores
from core.measured_collectives import collective_over_bytes
from core.measured_curves import attention_over_tokens, products_over_rows
from core.measured_profile import load_profile
from core.measured_roofline import at_the_roofline
from core.microbench.recorded import recorded
from core.own_profile import profile_of
from core.own_views import attention_pairs, bandwidth, host_rows, launch_view, shapes_of
from tests.core.own_run import ENTRY, RESULT

PROFILE = profile_of(ENTRY)


def test_the_roofline_table_has_each_measured_product_once():
    placed = at_the_roofline(PROFILE, shapes_of(ENTRY, "bf16"), "bf16")
    rows = run_tables.roofline_rows(placed)
    products = [one for one in ENTRY["measurements"] if one["kind"] == "matmul" and one["role"] == "forward"]
    assert len(rows) == len(products)
    assert rows[0] | {"FLOP/byte": ""} == {
        "weights": "6,144 x 4,096",
        "rows": "1",
        "FLOP/byte": "",
        "reached": "3.23 TFLOP/s",  # 50.3 MFLOP in a start of 3 us and 50.3 MB at 4 TB/s: 15.6 us
        "of the datasheet": "0.326%",  # of 989 TFLOP/s
    }


def test_a_continued_point_is_in_no_roofline_table():
    placed = at_the_roofline(PROFILE, [(4096, 14336), (4096, 4096)], "bf16")
    assert not placed.outside.any()
    wide = at_the_roofline(PROFILE, [(65536, 65536)], "bf16")
    assert wide.outside.all()
    assert run_tables.roofline_rows(wide) == []


def test_bandwidth_rows_have_units_and_the_datasheets_share():
    rows = run_tables.bandwidth_rows(bandwidth(ENTRY, 4.8e12))
    assert rows[-1] == {
        "what": "copy",
        "buffer": "4.29 GB",
        "median": "4.00 TB/s",
        "p10 to p90": "4.00 TB/s to 4.00 TB/s",
        "of the datasheet": "83.3%",
    }
    assert "of the datasheet" not in run_tables.bandwidth_rows(bandwidth(ENTRY))[0]


def test_attention_rows_have_both_times_and_peaks():
    forward = attention_pairs(ENTRY)[0]
    row = run_tables.attention_rows(forward, "GB")[1]
    assert row["tokens"] == "2,048"
    assert row["unfused, peak memory"] == "0.268 GB"
    assert set(row) == {"tokens", "unfused", "fused", "unfused, peak memory", "fused, peak memory"}


def test_launch_and_step_rows():
    view = launch_view(ENTRY)
    assert len(run_tables.launch_rows(view)) == len(view.kernels)
    assert run_tables.launch_rows(view)[-1]["in launches"] == "0.33"  # a tiny kernel's start of 3 us over 9 us
    assert run_tables.step_rows(view)[0]["launched one by one"] == "1.00 ms"


def test_host_rows():
    rows = host_rows(ENTRY)
    table = run_tables.host_table(rows)
    assert [row["size"] for row in table] == ["65.5 kB", "67.1 MB"], "a card a size on a phone, not one a transfer"
    assert table[0] == {
        "size": "65.5 kB",
        "to device, pinned": "1.31 us, 50.0 GB/s",
        "to device, pageable": "1.31 us, 50.0 GB/s",
    }
    without = run_tables.host_table([row for row in rows if row.pinned or row.num_bytes < 10**6])
    assert without[1]["to device, pageable"] == "not measured"


def test_one_thread_is_no_threads():
    one = ENTRY | {"system": ENTRY["system"] | {"cpu_count": 32, "cpu_threads": 1}}
    host = next(row["is"] for row in run_tables.fact_rows(one) if row["of the run"] == "host")
    assert host.endswith("32 CPUs, 1 thread")


def test_curve_rows_are_measured_cells_or_say_that_they_are_read():
    measured = run_tables.curve_rows(products_over_rows([PROFILE], 6144, 4096), "rows")
    assert {row["how"] for row in measured} == {"measured"}
    assert len(measured) == 14
    read = run_tables.curve_rows(products_over_rows([PROFILE], 5000, 4096), "rows")
    assert {row["how"] for row in read} == {"read between others"}
    both = run_tables.curve_rows(
        attention_over_tokens([PROFILE, load_profile("h200-sxm")], "decode", heads=32, kv_heads=8), "tokens"
    )
    assert {row["system"] for row in both} == {"H200 SXM, own run", "H200 SXM, open data"}


def test_fit_rows_find_start_and_rate():
    _, fits = collective_over_bytes([PROFILE], "all_reduce", 2)
    (row,) = run_tables.fit_rows("all_reduce", fits)
    assert (row["collective"], row["each GPU sends"], row["link, one way"]) == ("all-reduce", "300 GB/s", "450 GB/s")


def test_scores_and_steps():
    judged = judge(ENTRY, PROFILE)
    rows = run_tables.score_rows(scores(judged))
    assert [(row["phase"], row["launched"]) for row in rows] == [
        ("decode", "from a graph"),
        ("decode", "one by one"),
        ("training", "one by one"),
    ]
    rows = run_tables.judged_rows(judged)
    assert len(rows) == len(judged)
    assert all(row["error"][0] in "+-" and row["error"].endswith("%") for row in rows)


def test_columns_have_one_entry_for_every_measurement():
    columns = run_tables.measurement_columns(ENTRY)
    assert {len(column) for column in columns.values()} == {len(ENTRY["measurements"])}
    assert {"kind", "median_s", "p10_s", "p90_s", "op", "n", "phase"} <= set(columns)


def test_facts_and_what_was_skipped():
    facts = {row["of the run"]: row["is"] for row in run_tables.fact_rows(ENTRY)}
    assert facts["device"] == "NVIDIA H200, 150 GB of memory"
    assert facts["when"] == "2026-11-30 01:00 UTC, 5.00 min"
    assert "torch 2.11.0" in facts["versions"]
    assert facts["measured"] == f"{len(RESULT.measurements):,} points, 3 skipped"
    skipped = run_tables.skipped_rows(ENTRY)
    assert skipped[1] == {"item": "product fp8 4096 x 4096", "points": "2", "why it was not measured": "no fp8 here"}


@pytest.mark.parametrize(
    "profile", [PROFILE, load_profile("h100-sxm"), load_profile("a100-sxm-80gb")], ids=lambda p: p.name
)
def test_where_tables_end_names_every_kind_that_a_profile_has(profile):
    kinds = {row["kind"] for row in run_tables.table_ends(profile)}
    assert {f"products in {dtype}" for dtype in profile.dtypes} <= kinds
    assert {f"{one.table.phase} attention" for one in profile.attention} <= kinds
    assert {op.replace("_", "-") for op, _ in profile.messages} <= kinds
    assert ("routed experts" in kinds) == bool(profile.experts)
    assert ("kernels between" in kinds) == bool(profile.vectors)


def test_memory_rows_have_both_sides_and_never_a_false_zero():
    judged = judge_memory(recorded("h200-full").model_dump())
    row = run_tables.memory_rows(judged, "GB")[0]
    assert row == {
        "model": "meta-llama/Llama-3.1-8B",
        "batch": "1",
        "tokens": "2,048",
        "kept, measured": "0.365 GB",
        "kept, predicted": "0.365 GB",
        "peak, measured": "0.617 GB",
        "peak, predicted": "0.617 GB",
        "error of the peak": "under 0.01%",
        "peaks in the backward pass of": "gate and up projections",
    }
    assert run_tables.memory_score_row(memory_score(judged))["worst"] == "0.10%"
    qwen = next(one for one in run_tables.memory_rows(judged, "GiB") if one["model"] == "Qwen/Qwen3-14B")
    assert qwen["error of the peak"] == "-0.05%"
