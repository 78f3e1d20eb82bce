"""Ranges and spacings, held to printed tables and to NumPy's own formats."""

from __future__ import annotations

import numpy as np
import pytest

from core.float_formats import FLOAT_FORMATS


@pytest.mark.parametrize(("name", "dtype"), [("fp16", np.float16), ("fp32", np.float32)])
def test_ieee_formats_agree_with_numpy(name, dtype):
    ours, numpy = FLOAT_FORMATS[name], np.finfo(dtype)
    assert ours.largest == float(numpy.max)
    assert ours.smallest_normal == float(numpy.smallest_normal)
    assert ours.smallest == float(numpy.smallest_subnormal)
    for value in (1.0, 1.7, 2.0, 100.0):
        assert ours.spacing(value) == float(np.spacing(dtype(value)))


# Micikevicius et al. 2022, arXiv:2209.05433, table 1: largest, smallest normal, smallest subnormal number.
@pytest.mark.parametrize(
    ("name", "largest", "normal", "subnormal"), [("e4m3", 448, -6, -9), ("e5m2", 57_344, -14, -16)]
)
def test_fp8_as_printed(name, largest, normal, subnormal):
    row = FLOAT_FORMATS[name]
    assert (row.largest, row.smallest_normal, row.smallest) == (largest, 2.0**normal, 2.0**subnormal)


def test_fp4_reaches_from_a_half_to_six():
    # OCP MX specification 1.0, section 5.3.3: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
    row = FLOAT_FORMATS["e2m1"]
    assert (row.largest, row.smallest_normal, row.smallest) == (6.0, 1.0, 0.5)
    assert (row.spacing(1.0), row.spacing(2.0), row.spacing(4.0)) == (0.5, 1.0, 2.0)


def test_bf16_has_the_range_of_fp32_and_steps_65536_times_as_wide():
    bf16, fp32 = FLOAT_FORMATS["bf16"], FLOAT_FORMATS["fp32"]
    assert bf16.smallest_normal == fp32.smallest_normal == pytest.approx(1.18e-38, rel=3e-3)
    assert bf16.largest == pytest.approx(3.39e38, rel=1e-3)  # (2 - 2^-7) 2^127
    assert bf16.spacing(1.0) / fp32.spacing(1.0) == 2**16


def test_subnormals_do_not_get_finer():
    fp16 = FLOAT_FORMATS["fp16"]
    assert fp16.spacing(1e-7) == fp16.spacing(1e-5) == 2.0**-24
    with pytest.raises(ValueError, match="value"):
        fp16.spacing(0.0)
