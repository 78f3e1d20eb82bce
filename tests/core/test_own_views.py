"""What the pictures of one run show, against the made-up machine's own formulas."""

import numpy as np
import pytest

from core.microbench.recorded import recorded
from core.own_views import attention_pairs, bandwidth, host_rows, launch_view, product_note, shapes_of
from tests.core.own_run import ENTRY, PEAK_BYTES, changed, without
from tests.core.test_own_profile import BYTES, LLAMA, prefill_attention_s, product_s, vector_s


def test_bandwidth_is_bytes_over_the_median_with_its_spread():
    found = bandwidth(ENTRY, 4.8e12)
    (curve,) = found.curves
    assert curve.name == "copy"
    assert curve.x.tolist() == [2**20, 2**32]
    assert curve.median == pytest.approx([BYTES, BYTES])
    assert found.memory_bytes_per_s == {"copy": pytest.approx(BYTES)}
    assert (found.cache_bytes, found.datasheet_bytes_per_s) == (52_428_800, 4.8e12)


def test_a_slow_tail_lowers_the_lower_end_of_a_rate():
    slow = changed()
    for one in slow["measurements"]:
        if one["kind"] == "copy":
            one["time"]["p90_s"] *= 2
    (curve,) = bandwidth(slow).curves
    assert curve.low == pytest.approx(curve.median / 2)
    assert curve.high == pytest.approx(curve.median)


def test_attentions_two_curves_and_how_far_they_lie_apart():
    pairs = {pair.direction: pair for pair in attention_pairs(ENTRY)}
    assert set(pairs) == {"forward", "training"}
    forward = pairs["forward"]
    assert forward.heads == "32 heads over 8 of 128, bf16"
    assert forward.seconds["fused"].median == pytest.approx([prefill_attention_s(n) for n in (512, 2048, 8192)])
    x, times = forward.speedup
    assert x.tolist() == [512, 2048, 8192]
    assert times == pytest.approx([9, 9, 9])
    assert forward.peak_bytes["unfused"][1].tolist() == [PEAK_BYTES["unfused"]] * 3
    assert pairs["training"].peak_bytes == {}


def test_a_missing_curve_leaves_no_speedup_and_says_why():
    alone = changed(measurements=[one for one in ENTRY["measurements"] if one.get("variant") != "unfused"])
    forward = attention_pairs(alone)[0]
    assert forward.speedup[0].size == 0
    assert forward.missing == ("attention unfused forward, 32/8 heads: needs 80.0 GB of memory.",)


def test_lengths_that_only_one_was_measured_at_are_left_out_of_the_speedup():
    def keeps(one):
        return one["kind"] != "attention" or one["variant"] == "fused" or one["seq_len"] > 512

    some = changed(measurements=[one for one in ENTRY["measurements"] if keeps(one)])
    assert attention_pairs(some)[0].speedup[0].tolist() == [2048, 8192]


def test_kernels_of_the_smallest_step_stand_beside_their_launch():
    view = launch_view(ENTRY)
    assert (view.eager_s, view.graph_s) == (9e-6, 1.2e-6)
    times = {kernel.name: kernel.seconds for kernel in view.kernels}
    assert times["qkv product, 6,144 x 4,096"] == pytest.approx(product_s(1, 6144, 4096))
    assert times["norm"] == pytest.approx(vector_s("norm", 1))
    assert len(times) == 4 + 5 + 1  # products, kernels between, attention at the shortest context
    assert [kernel.seconds for kernel in view.kernels] == sorted(times.values(), reverse=True)
    assert view.shorter == sum(seconds < 9e-6 for seconds in times.values()) > 0


def test_kernels_of_other_models_are_no_part_of_that_step():
    more = changed()
    other = next(one for one in more["measurements"] if one["kind"] == "matmul" and one["m"] == 1)
    more["measurements"] = (*more["measurements"], other | {"n": 12345})
    assert launch_view(more).kernels == launch_view(ENTRY).kernels
    nothing = changed(run=ENTRY["run"] | {"models": ()})
    assert launch_view(nothing).kernels == ()


def test_a_step_in_both_modes_shows_what_a_graph_gains():
    ((name, eager, graph),) = launch_view(ENTRY).steps
    assert name == f"{LLAMA.model}, batch 1, context 1,024"
    assert eager == 1e-3
    assert graph < 1e-3


def test_transfers_come_in_order_of_size_pinned_first():
    rows = host_rows(ENTRY)
    assert [(row.pinned, row.num_bytes) for row in rows] == [
        (True, 2**16),
        (True, 2**26),
        (False, 2**16),
        (False, 2**26),
    ]
    assert rows[0].bytes_per_s == pytest.approx(50e9)


def test_shapes_are_those_of_a_format():
    assert set(shapes_of(ENTRY, "bf16")) == set(LLAMA.matrices.values())
    assert shapes_of(ENTRY, "fp8") == ()


def test_what_was_not_measured_is_none():
    assert bandwidth(without("copy")) is None
    assert launch_view(without("launch")) is None
    assert attention_pairs(without("attention")) == ()
    assert host_rows(without("host_link")) == ()


def test_without_kernels_a_launch_still_shows():
    view = launch_view(without("matmul", "vector", "attention_decode", "step"))
    assert (view.kernels, view.steps, view.shorter) == ((), (), 0)
    assert np.isfinite(view.eager_s)


def test_the_note_on_products_says_what_the_record_proves():
    """Of the recorded H200: 2 x 8,192^3 FLOP in 1.635 and 1.68 ms; its power and clocks while running are not held."""
    entry = recorded("h200-full").model_dump()
    note = product_note(entry, "bf16")
    assert "x @ w.t(), reached 672 TFLOP/s at 8,192 rows by 8,192 x 8,192" in note
    assert "our own measurement there 654 TFLOP/s" in note
    assert "power limit, 700 W, and its highest clock, 1.98 GHz, but not the clock and power" in note
    assert product_note(entry, "fp8") == "", "no plain call in it"
    unknown = entry | {"system": entry["system"] | {"power_limit_w": None}}
    assert "power" not in product_note(unknown, "bf16")
    alone = entry | {"measurements": [one for one in entry["measurements"] if one["kind"] == "reference"]}
    assert "our own" not in product_note(alone, "bf16")
