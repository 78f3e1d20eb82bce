"""What pictures of profiles show: raw points, roofs as measured, fits, and how two profiles differ."""

import numpy as np
import pytest

from core.collective_time import bus_bytes_per_s
from core.display import show_rate
from core.measured_file import CollectiveRow
from core.measured_profile import Profile, load_profile, load_profiles
from core.measured_views import (
    at_the_roofline,
    attention_over_tokens,
    best_at_the_other,
    best_product,
    collective_over_bytes,
    difference,
    fit_collective,
    products_over_rows,
    reached,
)
from core.microbench.recorded import recorded
from core.own_profile import profile_of

PROFILES = load_profiles()
H200, H100 = PROFILES["h200-sxm"], PROFILES["h100-sxm"]


def scaled(profile, factor):
    """The same with every product so many times as long."""
    tables = tuple(
        table.model_copy(
            update={
                "seconds": tuple(
                    tuple(tuple(t and factor * t for t in line) for line in plane) for plane in table.seconds
                )
            }
        )
        for table in profile.file.matmul
    )
    return Profile(profile.file.model_copy(update={"matmul": tables}))


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


def test_a_measured_shape_shows_its_raw_points_and_another_does_not():
    exact, between = (products_over_rows([H200], n, 8192).curves[0] for n in (8192, 5120))
    assert exact.points_x.tolist() == [2**i for i in range(16)]
    assert exact.points_s[0] == pytest.approx(34.9e-6, rel=0.01)
    assert between.points_x.size == 0
    assert not between.outside.any()


def test_products_have_their_floor_and_their_share_of_it():
    curves = products_over_rows([H200], 8192, 8192)
    (curve,) = curves.curves
    assert curves.floor_s[0] == pytest.approx(2 * (8192**2 + 2 * 8192) / 4.8e12)
    share = curves.share(curve)
    assert np.all(share < 1)
    assert curves.reached(curve).max() == pytest.approx(2 * 4096 * 8192**2 / 664.0e-6, rel=0.001)


def test_a_profile_without_the_format_is_named_as_missing():
    curves = products_over_rows([H200, PROFILES["a100-sxm-80gb"]], 8192, 8192, "fp8")
    assert len(curves.curves) == 1
    assert curves.missing == ("A100 SXM 80GB, open data",)
    nothing = products_over_rows([PROFILES["a100-sxm-80gb"]], 8192, 8192, "fp8")
    assert (nothing.curves, nothing.differences) == ((), ())


@pytest.mark.parametrize(("phase", "batch"), [("decode", 16), ("prefill", 4)])
def test_attention_is_drawn_over_tokens_with_its_floor(phase, batch):
    curves = attention_over_tokens([H200, H100], phase, heads=32, kv_heads=8, batch=batch)
    assert len(curves.curves) == 2
    for curve in curves.curves:
        assert curve.points_x.size > 5
    share = curves.share(curves.curves[0])
    assert np.all(share < 1)
    assert share[-1] > 0.5, "long ones come near"
    assert curves.unit == {"decode": "B", "prefill": "FLOP"}[phase]


def test_a_decode_curve_says_where_it_is_continued():
    (curve,) = attention_over_tokens([H200], "decode", heads=32, kv_heads=8, batch=128).curves
    assert not curve.outside[curve.x <= 4095].any()
    assert curve.outside[curve.x > 4096].all()


def test_the_difference_of_a_profile_a_quarter_slower_is_a_quarter():
    curves = products_over_rows([H200, scaled(H200, 1.25)], 8192, 8192)
    (found,) = curves.differences
    assert (found.least, found.middle, found.most) == pytest.approx((1.25, 1.25, 1.25))
    assert (found.low, found.high) == (1, 32768)
    assert "1.25 times as long" in found.in_words


def test_curves_without_shared_sizes_have_no_difference():
    one, other = (products_over_rows([H200], 8192, 8192).curves[0] for _ in range(2))
    object.__setattr__(other, "outside", np.ones_like(other.outside))
    assert difference(one, other) is None


def test_a_start_and_a_rate_are_found_again():
    sizes = tuple(2**i for i in range(9, 30))
    row = CollectiveRow(op="all_reduce", ranks=8, num_bytes=sizes, seconds=tuple(2e-5 + s / 2e11 for s in sizes))
    fit = fit_collective(Profile(H200.file.model_copy(update={"collectives": (row,)})), "all_reduce", 8)
    assert fit.latency_s == pytest.approx(2e-5, rel=0.001)
    assert fit.bytes_per_s == pytest.approx(2e11, rel=0.001)
    assert fit.bus_bytes_per_s == pytest.approx(2e11 * 2 * 7 / 8, rel=0.001)
    assert fit.worst < 0.001


def test_the_fit_of_eight_h200_is_that_of_their_ends():
    curves, (fit,) = collective_over_bytes([H200], "all_reduce", 8)
    assert fit.latency_s == pytest.approx(16.0e-6, rel=0.03)
    # 512 MiB in 2.0403 ms: what nccl-tests calls bus bandwidth, start included.
    whole = bus_bytes_per_s("all_reduce", 2**29, 8, 2.0403e-3)
    assert fit.bus_bytes_per_s == pytest.approx(float(whole), rel=0.06)
    assert fit.link_bytes_per_s == 450e9
    assert curves.floor_name == "a ring at the link's raw rate"
    assert collective_over_bytes([PROFILES["gb200"]], "all_reduce", 8)[1] == ()


def test_a_single_size_has_a_rate_without_a_start():
    row = CollectiveRow(op="all_reduce", ranks=2, num_bytes=(1000,), seconds=(1e-6,))
    fit = fit_collective(Profile(H200.file.model_copy(update={"collectives": (row,)})), "all_reduce", 2)
    assert fit.bytes_per_s == pytest.approx(1e9)


def test_without_a_datasheet_there_is_no_floor():
    bare = Profile(load_profile("h200-sxm").file.model_copy(update={"accelerator": None}))
    curves = products_over_rows([bare], 8192, 8192)
    assert np.isnan(curves.floor_s).all()
    assert reached(bare, "bf16").datasheet_ridge is None


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
