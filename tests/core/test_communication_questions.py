"""The two predictions of step 3, by hand."""

import pytest

from core.communication_questions import idle_share, ring_bytes
from core.prediction import matching_slip
from core.scenario import changed
from core.scenario_link import default_scenario

START = default_scenario().training
GRADIENTS = 2 * 70_553_706_496


# 2 (n - 1) / n: 1.75 tensors with 8 ranks, 1.996 with 512.
def test_a_ring_of_512_sends_hardly_more_than_one_of_8():
    ring = ring_bytes(START)
    assert ring.gradient_bytes == GRADIENTS
    assert ring.few_bytes == pytest.approx(1.75 * GRADIENTS)
    assert ring.many_bytes == pytest.approx(2 * 511 / 512 * GRADIENTS)
    assert ring.times == pytest.approx(1.1406, abs=5e-5)
    assert (ring.few_messages, ring.many_messages) == (14, 1022)


@pytest.mark.parametrize(("guess", "words"), [(64, "all GPUs together"), (0.016, "one piece shrinks"), (3, "tree")])
def test_slips_of_the_ring_are_known(guess, words):
    ring = ring_bytes(START)
    assert words in matching_slip(guess, ring.times, ring.slips).words


def test_the_ratio_does_not_depend_on_the_recipe():
    lora = ring_bytes(changed(default_scenario(), recipe="lora").training)
    assert lora.gradient_bytes < GRADIENTS
    assert lora.times == pytest.approx(ring_bytes(START).times)


# Narayanan et al. 2021, arXiv:2104.04473, section 2.2: 7 / 32 of the ideal time, 7 / 39 of all; with
# v = 4 it is 7 / 135.
def test_the_bubble_in_both_denominators():
    bubble = idle_share()
    assert bubble.of_ideal_percent == pytest.approx(21.875)
    assert bubble.percent == pytest.approx(17.949, abs=5e-4)
    assert bubble.interleaved_percent == pytest.approx(5.185, abs=5e-4)
    assert "papers quote" in matching_slip(22, bubble.percent, bubble.slips).words
    assert "micro-batches" in matching_slip(25, bubble.percent, bubble.slips).words
    assert "interleaved" in matching_slip(5, bubble.percent, bubble.slips).words
