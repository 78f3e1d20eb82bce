"""A predicted step told apart: by kind of work, and by what it rests on."""

import numpy as np
import pytest

from core.measured_step import ATTENTION, BETWEEN, MATRICES, MESSAGES, MeasuredStep, Part
from core.serving_rates import StepTime

# Weights are limited by memory, attention by compute. [s]
FLOOR = StepTime(*(np.array(seconds) for seconds in (4.0, 1.0, 2.0, 3.0, 0.5, 0.0)))
PARTS = (
    Part("projections", MATRICES, np.array(5.0), "measured"),
    Part("output head", MATRICES, np.array(1.0), "bounded", ("narrow",)),
    Part("attention", ATTENTION, np.array(6.0), "continued", ("long", "narrow")),
    Part("norms", BETWEEN, np.array(2.0), "stated"),
    Part("all-reduces", MESSAGES, np.array(1.0), "measured"),
)
STEP = MeasuredStep(PARTS, FLOOR, "somebody's table")


def test_the_shares_of_what_it_rests_on_are_one():
    shares = [float(STEP.share(basis)) for basis in ("measured", "bounded", "continued", "stated")]
    assert shares == pytest.approx([6 / 15, 1 / 15, 6 / 15, 2 / 15])


def test_the_longer_floor_has_all_of_a_kind_and_the_shorter_its_proportion():
    time = STEP.time
    assert (time.weight_s, time.matmul_s) == (6.0, 3.0)  # 6 s of matrices; compute's floor is half of memory's
    assert (time.kv_s, time.attention_s) == (2.0, 6.0)
    assert float(time.sequential_s) == pytest.approx(float(STEP.step_s)) == 15.0


def test_work_without_a_floor_is_memorys():
    none = StepTime(*(np.zeros(()) for _ in range(6)))
    time = MeasuredStep(PARTS, none, "").time
    assert (time.weight_s, time.matmul_s) == (6.0, 0.0)


def test_layers_leave_out_what_stands_before_and_behind_them():
    assert float(STEP.layers_s) == 14.0
    assert STEP.notes == ("narrow", "long"), "each sentence once"
