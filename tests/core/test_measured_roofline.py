"""Measured products at the roofline: roofs as they were reached, points as they were measured, the best product."""

import numpy as np
import pytest

from core.display import show_rate
from core.measured_profile import Profile, load_profile, load_profiles
from core.measured_roofline import (
    at_the_roofline,
    best_at_the_other,
    best_product,
    reached,
    ridge_beside_datasheet,
)
from core.microbench.recorded import recorded
from core.own_profile import join, profile_of

PROFILES = load_profiles()
H200 = PROFILES["h200-sxm"]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_no_roof_as_measured_stands_above_the_datasheet(profile):
    for dtype in profile.dtypes:
        best = reached(profile, dtype)
        if best.datasheet_flops_per_s is not None:
            assert 0.38 < best.flops_per_s / best.datasheet_flops_per_s < 1
        assert 0.55 < best.bytes_per_s / best.datasheet_bytes_per_s < 1


def test_the_ridge_of_h200_really_is_where_measured_rates_meet():
    best = reached(H200, "bf16")
    # By hand: the best cell, and 65,536 x 16,384 or wider weights read by few rows.
    assert best.flops_per_s == pytest.approx(932e12, rel=0.01)
    assert best.bytes_per_s == pytest.approx(4.30e12, rel=0.01)
    assert best.ridge == pytest.approx(932 / 4.30, rel=0.01)
    assert best.datasheet_ridge == pytest.approx(989.4 / 4.8)
    assert reached(PROFILES["a100-sxm-80gb"], "fp8") is None


def test_without_a_datasheet_there_is_no_ridge_of_one():
    bare = Profile(H200.file.model_copy(update={"accelerator": None}))
    assert reached(bare, "bf16").datasheet_ridge is None


def test_points_at_the_roofline_are_the_products():
    placed = at_the_roofline(H200, [(8192, 8192), (4096, 14336)])
    assert placed.labels == ("8,192 x 8,192", "4,096 x 14,336")
    rows = placed.rows[0].tolist()
    at = rows.index(8192)
    assert placed.flops_per_s[0, at] == pytest.approx(2 * 8192**3 / 1.6404e-3, rel=1e-3)
    assert placed.intensity[0, at] == pytest.approx(8192 / 3)
    assert np.all(placed.flops_per_s <= placed.reached.flops_per_s)
    assert at_the_roofline(H200, [(8192, 8192)], "fp4") is None


def test_points_at_the_roofline_stand_as_measured_where_a_larger_call_was_faster():
    # The recorded run on the H200: 64 rows by 4,096 x 4,096 took 11.3 us, 32 rows 12.9 us.
    result = recorded("h200-full")
    (one,) = (m for m in result.measurements if (m.kind, *_sizes(m)) == ("matmul", 64, 4096, 4096, "bf16", "forward"))
    placed = at_the_roofline(profile_of(result.model_dump()), [(4096, 4096)])
    at = placed.rows[0].tolist().index(64)
    assert placed.flops_per_s[0, at] == pytest.approx(2 * 64 * 4096**2 / one.time.median_s)
    assert placed.flops_per_s[0, at] == pytest.approx(190e12, rel=0.005)


def _sizes(one):
    return tuple(getattr(one, name, None) for name in ("m", "n", "k", "dtype", "role"))


def test_the_best_product_is_a_measured_cell_and_is_read_from_the_other():
    own = profile_of(recorded("h200-full").model_dump())
    best = best_product(own, "bf16")
    assert (best.n, best.k, best.m) == (8192, 28672, 4096)
    assert best.flops_per_s == reached(own, "bf16").flops_per_s
    theirs, ours = best_at_the_other([load_profile("h200-sxm"), own], "bf16")
    # Open data's best has 65,536 inputs, twice what the run went to.
    assert "H200 SXM, open data is 932 TFLOP/s at 512 rows by 8,192 x 65,536, a call of 590 us." in theirs
    assert "own run did not measure that far; continued, it reads" in theirs
    assert "own run is 707 TFLOP/s at 4,096 rows by 8,192 x 28,672" in ours
    there = 2 * 4096 * 8192 * 28672 / float(load_profile("h200-sxm").matmul_s(4096, 8192, 28672).seconds)
    assert f"There H200 SXM, open data reads {show_rate(there, 'FLOP')}." in ours


def test_one_profile_or_a_format_of_one_has_no_other():
    own = profile_of(recorded("h200-full").model_dump())
    assert best_at_the_other([own], "bf16") == ()
    assert best_product(own, "nvfp4") is None
    assert best_at_the_other([own, load_profile("b200-sxm")], "nvfp4") == ()


def partial(num_products, *, slower=1.0, skipped=()):
    """The recorded run on a CPU, stopped after so many of its forward fp32 products; its plain calls come first."""
    entry = recorded("cpu-quick").model_dump()
    products = [one for one in entry["measurements"] if (one["kind"], one.get("role")) == ("matmul", "forward")]
    products = [one for one in products if one["dtype"] == "fp32"][:num_products]
    for one in products:
        one["time"] = {name: value * slower if name.endswith("_s") else value for name, value in one["time"].items()}
    rest = [one for one in entry["measurements"] if one["kind"] != "matmul"]
    listed = [{"item": name, "reason": "the time bound of 5 s was reached", "settings": None} for name in skipped]
    return entry | {
        "status": "partial",
        "stopped": "cancelled",
        "measurements": [*rest, *products],
        "skipped": listed,
    }


def test_two_products_of_a_run_that_stopped_tell_no_ridge_and_a_faster_plain_call_is_the_roof():
    best = reached(profile_of(partial(2, slower=10.0)), "fp32")
    plain = max(
        one.flops / one.time.median_s for one in recorded("cpu-quick").measurements if one.kind == "reference" and one.k
    )
    assert (best.measured_weights, best.planned_weights, best.row_counts) == (1, 4, 2), "the layer has four products"
    assert not best.tells_ridge
    assert best.product_flops_per_s < best.flops_per_s == best.plain_flops_per_s == pytest.approx(plain)


def test_half_of_the_planned_weights_tell_a_ridge_and_skipped_ones_are_planned():
    # Three row counts for each of the layer's weights.
    assert reached(profile_of(partial(6)), "fp32").tells_ridge
    more = partial(6, skipped=("product fp32 1024 x 1024", "product fp32 7 x 7, input gradient", "plain products"))
    best = reached(profile_of(more), "fp32")
    assert (best.measured_weights, best.planned_weights, best.tells_ridge) == (2, 5, False)


def test_one_count_of_rows_tells_no_ridge():
    assert not reached(profile_of(recorded("cpu-quick").model_dump()), "bf16").tells_ridge


def test_joined_runs_keep_the_plain_calls_and_plan_of_the_products_that_are_taken():
    short, whole = profile_of(partial(2)), profile_of(recorded("cpu-quick").model_dump())
    assert reached(join([short, whole]), "fp32").planned_weights == 4
    assert reached(join([whole, short]), "fp32").planned_weights == 5
    assert join([whole, short]).file.plain_flops_per_s == whole.file.plain_flops_per_s


def test_the_measured_ridge_stands_beside_the_datasheets_where_both_are_known():
    own = profile_of(recorded("h200-full").model_dump())
    said = ridge_beside_datasheet(own, "bf16")
    # By hand: 707 TFLOP/s over 4.45 TB/s, and 989.4 over 4.8.
    assert "bf16 ridge at 206 FLOP/byte" in said
    assert said.endswith("reaches, 707 TFLOP/s and 4.45 TB/s, it lies at 159.")
    assert ridge_beside_datasheet(own, "nvfp4") == ""
    assert ridge_beside_datasheet(profile_of(partial(2)), "fp32") == ""
