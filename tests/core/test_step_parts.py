"""Parts of a step add up in every view of them, and survive being rebuilt."""

import numpy as np
import pytest

from core.axis_traffic import AXES
from core.step_parts import StepTime, rebuilt

TIME = StepTime(
    matrix_s=np.array(10.0),
    mixing_s=np.array(3.0),
    moved_s=np.array(2.0),
    tensor_s=np.array(1.0),
    context_s=np.array(0.5),
    expert_s=np.array(0.25),
    pipeline_s=np.array(0.125),
    data_s=np.array(0.125),
    bubble_s=np.array(4.0),
    optimizer_s=np.array(1.0),
    hidden_s={axis: np.array(float(place)) for place, axis in enumerate(AXES)},
    sent_bytes={axis: np.array(1e9 * place) for place, axis in enumerate(AXES)},
    slowest_stage=np.array(3.0),
)


def test_the_step_is_the_sum_of_its_parts_in_words_and_by_limit():
    assert TIME.step_s == 22
    assert sum(TIME.parts().values()) == pytest.approx(22)
    assert sum(TIME.by_limit().values()) == pytest.approx(22)


def test_waiting_for_other_gpus_is_communication_and_moving_states_is_bandwidth():
    assert TIME.by_limit() == {"compute": 13, "communication": 2 + 4, "bandwidth": 2 + 1}


def test_what_is_hidden_costs_no_time():
    assert sum(TIME.hidden_s.values()) == 10
    assert TIME.communication_s == sum(TIME.exposed_s.values()) == 2


def test_a_rebuilt_time_has_every_array_in_its_place():
    twice = rebuilt(lambda read: 2 * np.asarray(read(TIME)))
    assert twice.step_s == 44
    assert twice.sent_bytes["data"] == 8e9
    assert twice.hidden_s["context"] == 2
    assert twice.slowest_stage == 6
