"""Measured kernels over one size: raw points, floors, where a curve is continued, and how two profiles differ."""

import numpy as np
import pytest

from core.measured_curves import attention_over_tokens, difference, products_over_rows
from core.measured_profile import Profile, load_profile

H200, H100, A100 = (load_profile(name) for name in ("h200-sxm", "h100-sxm", "a100-sxm-80gb"))


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
    curves = products_over_rows([H200, A100], 8192, 8192, "fp8")
    assert len(curves.curves) == 1
    assert curves.missing == ("A100 SXM 80GB, open data",)
    nothing = products_over_rows([A100], 8192, 8192, "fp8")
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


def test_without_a_datasheet_there_is_no_floor():
    bare = Profile(H200.file.model_copy(update={"accelerator": None}))
    curves = products_over_rows([bare], 8192, 8192)
    assert np.isnan(curves.floor_s).all()
