"""A measurement holds what was measured and nothing else; a wrong result has no time."""

import pytest

from core.microbench.item import Measured, Wrong, refuse_wrong
from tests.core.microbench.fakes import timing


def test_what_was_not_measured_is_left_out():
    entry = Measured(timing(2e-3), num_bytes=8.0, error=0.0, more={"weight_bytes": 6}).as_dict()
    assert set(entry) == {"time", "bytes", "error", "weight_bytes"}
    assert entry["time"]["median_s"] == 2e-3


@pytest.mark.parametrize("error", [0.011, float("nan"), float("inf")])
def test_an_error_beyond_rounding_is_refused(error):
    with pytest.raises(Wrong, match=r"the product differs from float64 by .*, more than 0\.01: its time is not kept"):
        refuse_wrong(error, 0.01, "the product")


def test_rounding_is_kept():
    assert refuse_wrong(0.01, 0.01, "the product") == 0.01
    assert refuse_wrong(0.0, 0, "a copy") == 0.0
