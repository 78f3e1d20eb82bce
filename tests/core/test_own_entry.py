"""A measurement's median, from plain values."""

from core.own_entry import median_s
from tests.core.own_run import RESULT


def test_the_median_is_that_of_the_validated_result():
    measurements = RESULT.model_dump()["measurements"]
    assert [median_s(one) for one in measurements] == [one.time.median_s for one in RESULT.measurements]
