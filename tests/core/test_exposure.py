"""What hides and what does not, on hand-made times."""

import numpy as np

from core.axis_traffic import AXES, Flow
from core.efficiency import Overlap
from core.exposure import PassTime, ends_exposed, fill_exposed, pass_exposed, step_exposed
from core.flow_time import TimedFlow

WORK = PassTime(matrix_s=np.array([6.0]), mixing_s=np.array([3.0]), moved_s=np.array([1.0]))
ALL = Overlap(tensor=1.0, expert=1.0)


def talk(axis, call, calls=1.0, *, when="forward", op="all_gather", beside=False):
    one = np.ones(1)
    return TimedFlow(Flow(axis, axis, "x", op, when, one, 2 * one, calls * one, one, beside=beside), call * one)


def exposed(*flows, overlap=None):
    found = pass_exposed(flows, WORK, ("forward",), overlap or Overlap())
    assert list(found) == list(AXES)
    return {axis: float(np.max(value)) for axis, value in found.items()}


def test_tensor_sums_are_waited_for_and_gathers_beside_them_are_not():
    found = exposed(talk("tensor", 2.0, 2), talk("tensor", 1.0, 3, beside=True))
    assert found["tensor"] == 4


def test_keys_and_values_hide_behind_attention_alone():
    assert exposed(talk("context", 2.0))["context"] == 0
    assert exposed(talk("context", 5.0))["context"] == 2  # attention takes 3
    assert exposed(talk("context", 5.0), overlap=Overlap(context=0.0))["context"] == 5


def test_experts_are_waited_for_unless_a_schedule_hides_them():
    assert exposed(talk("expert", 4.0))["expert"] == 4
    assert exposed(talk("expert", 4.0), overlap=ALL)["expert"] == 0


def test_work_hides_only_as_much_as_it_lasts_and_only_once():
    assert exposed(talk("data", 14.0))["data"] == 4
    both = exposed(talk("pipeline", 8.0), talk("data", 8.0))
    assert (both["pipeline"], both["data"]) == (0, 6)


def test_traffic_of_other_passes_does_not_count():
    assert exposed(talk("tensor", 2.0, when="backward"))["tensor"] == 0


def step(*flows, overlap=None):
    return float(step_exposed(flows, np.array([5.0]), np.array([10.0]), overlap or Overlap()))


def test_the_last_bucket_of_gradients_and_the_first_of_weights_are_seen():
    gradients = talk("data", 1.0, 8, when="step", op="reduce_scatter")
    weights = talk("data", 1.0, 4, when="step")
    assert step(gradients) == 1
    assert step(gradients, weights) == 2


def test_what_the_pass_cannot_hide_is_seen():
    assert step(talk("data", 1.0, 25, when="step", op="all_reduce")) == 15
    assert step(talk("data", 1.0, 25, when="step", op="all_reduce"), overlap=Overlap(data=0.0)) == 25


def test_the_first_gather_and_the_last_reduction_of_a_step_are_seen_however_much_work_there_is():
    gather, again = talk("data", 1.0, 4), talk("data", 1.0, 4, when="backward")
    reduction = talk("data", 2.0, 4, when="backward", op="reduce_scatter")
    assert [float(end) for end in ends_exposed((gather, again, reduction))] == [1.0, 2.0]
    assert [float(end) for end in ends_exposed((again, talk("tensor", 3.0)))] == [0.0, 0.0]


def test_a_pipeline_fills_and_drains_over_its_boundaries():
    flows = (talk("pipeline", 0.5, op="send"), talk("pipeline", 0.5, op="send", when="backward"))
    assert fill_exposed(flows, 4) == 3.0
    assert fill_exposed((), 1) == 0
