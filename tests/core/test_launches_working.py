"""A step and its launches, typed into a calculator."""

import pytest

from core.launches import EAGER_LAUNCH_S, GRAPH_LAUNCH_S, step_s
from core.launches_working import step_working
from tests.core.test_working import holds


@pytest.mark.parametrize(("launch_s", "longer"), [(EAGER_LAUNCH_S, "launches"), (GRAPH_LAUNCH_S, "work")])
def test_the_longer_of_work_and_launches(launch_s, longer):
    working = step_working(3.2e-3, 1546, launch_s=launch_s)
    holds(working, step_s(3.2e-3, 1546, launch_s=launch_s))
    assert working.terms[0].label == longer
    assert "hide" in working.assumptions[0]


def test_a_sweep_has_no_single_derivation():
    with pytest.raises(ValueError, match="2 values"):
        step_working(1.0, [1, 2], launch_s=1.0)
