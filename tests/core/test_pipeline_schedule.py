"""Schedules played pass by pass wait and keep as much as the formulas say, and never break an order of work."""

import itertools

import numpy as np
import pytest

from core.parallelism import SCHEDULES, in_flight_micro_batches, pipeline_bubble, schedule_bubble
from core.pipeline_schedule import pipeline_schedule

SHAPES = [(1, 4, 1), (2, 2, 1), (4, 8, 1), (8, 64, 1), (6, 7, 1), (4, 8, 2), (8, 32, 4), (2, 6, 3), (4, 4, 3)]
LENGTHS = [(1.0, 2.0, 1.0), (1.0, 2.0, 0.8), (2.0, 3.0, 1.0), (1.5, 2.5, 1.0)]


CASES = [
    (kind, p, m, v)
    for kind, (p, m, v) in itertools.product(SCHEDULES, SHAPES)
    if v == 1 or (kind == "interleaved" and m % p == 0)
]


@pytest.mark.parametrize(("kind", "p", "m", "v"), CASES)
@pytest.mark.parametrize(("forward", "backward", "weight"), LENGTHS)
def test_the_played_bubble_is_the_formulas(kind, p, m, v, forward, backward, weight):
    lengths = {"forward": forward, "backward": backward, "weight_part": weight}
    played = pipeline_schedule(p, m, kind, virtual_stages=v, **lengths)
    bubble = schedule_bubble(kind, p, m, virtual_stages=v, **lengths)
    assert played.bubble_of_ideal == pytest.approx(bubble.of_ideal, abs=1e-12)
    assert played.bubble_of_total == pytest.approx(bubble.of_total, abs=1e-12)


@pytest.mark.parametrize(("kind", "p", "m", "v"), CASES)
def test_every_pass_runs_once_in_order_and_alone(kind, p, m, v):
    played = pipeline_schedule(p, m, kind, virtual_stages=v)
    phases = 3 if kind == "zb-h1" else 2
    assert len({slot[:4] for slot in played.slots}) == len(played.slots) == phases * p * m * v
    end = {slot[:4]: slot.end for slot in played.slots}
    for slot in played.slots:
        place = slot.chunk * p + slot.stage
        if slot.phase == "forward" and place > 0:
            assert slot.start >= end[(place - 1) % p, slot.micro_batch, (place - 1) // p, "forward"]
        if slot.phase == "backward":
            assert slot.start >= end[slot.stage, slot.micro_batch, slot.chunk, "forward"]
            if place < p * v - 1:
                assert slot.start >= end[(place + 1) % p, slot.micro_batch, (place + 1) // p, "backward"]
        if slot.phase == "weight":
            assert slot.start >= end[slot.stage, slot.micro_batch, slot.chunk, "backward"]
    for stage in range(p):
        own = [slot for slot in played.slots if slot.stage == stage]
        assert all(a.end <= b.start + 1e-12 for a, b in itertools.pairwise(own))


@pytest.mark.parametrize(("p", "m"), [(4, 8), (8, 64), (8, 2), (1, 4)])
def test_1f1b_keeps_what_the_formula_says(p, m):
    played = pipeline_schedule(p, m)
    assert [played.in_flight(i) for i in range(p)] == list(in_flight_micro_batches(p, m, stage=np.arange(p)))


@pytest.mark.parametrize(("p", "m", "v"), [(4, 8, 2), (8, 32, 4), (2, 8, 3)])
def test_interleaving_keeps_what_the_formula_says(p, m, v):
    played = pipeline_schedule(p, m, "interleaved", virtual_stages=v)
    kept = in_flight_micro_batches(p, m, stage=np.arange(p), virtual_stages=v)
    assert [played.in_flight(i) for i in range(p)] == pytest.approx(kept)


def test_gpipe_keeps_every_micro_batch():
    assert pipeline_schedule(4, 8, "gpipe").in_flight(0) == 8


# Qi et al. 2024, arXiv:2401.10241, table 1: ZB-H1 keeps as much as 1F1B's first stage, on every stage.
def test_zero_bubble_h1_keeps_p_everywhere():
    played = pipeline_schedule(8, 32, "zb-h1")
    assert [played.in_flight(i) for i in range(8)] == [8] * 8


# The same paper, section 2.1: with equal passes the bubble is a third of that of 1F1B.
def test_zero_bubble_h1_waits_a_third_as_long():
    assert schedule_bubble("zb-h1", 8, 32).of_ideal == pytest.approx(schedule_bubble("1f1b", 8, 32).of_ideal / 3)


def test_1f1b_and_interleaving_agree_with_the_older_formula():
    for kind, v in (("1f1b", 1), ("gpipe", 1), ("interleaved", 4)):
        assert schedule_bubble(kind, 8, [8, 64], virtual_stages=v).of_total == pytest.approx(
            pipeline_bubble(8, [8, 64], virtual_stages=v).of_total
        )


def test_more_micro_batches_than_stages_or_fewer():
    assert schedule_bubble("zb-h1", 8, 3).of_ideal == pytest.approx(pipeline_schedule(8, 3, "zb-h1").bubble_of_ideal)
    assert schedule_bubble("1f1b", 8, 3).of_ideal == pytest.approx(pipeline_schedule(8, 3).bubble_of_ideal)


def test_a_first_pass_starts_at_zero_and_the_last_stage_follows():
    starts = [min(s.start for s in pipeline_schedule(4, 8).slots if s.stage == i) for i in range(4)]
    assert starts == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((4, 6, "interleaved"), {"virtual_stages": 2}, r"stages=4 does not divide micro_batches=6.* choose 4 or 8"),
        ((4, 2, "interleaved"), {"virtual_stages": 2}, "so choose 4$"),
        ((4, 8, "1f1b"), {"virtual_stages": 2}, "choose kind='interleaved'"),
        ((4, 8, "zb-h9"), {}, "kind='zb-h9' is not known"),
        ((0, 8), {}, "stages=0 must be a whole number"),
        ((4, 8), {"forward": 0}, "forward=0 must be greater than 0"),
    ],
)
def test_a_bad_input_is_refused_in_words(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        pipeline_schedule(*arguments, **options)


def test_a_weight_part_beyond_the_backward_pass_is_refused():
    with pytest.raises(ValueError, match="weight_part is a part of backward"):
        schedule_bubble("zb-h1", 4, 8, weight_part=3)
