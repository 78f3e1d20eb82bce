"""Pipeline bubble, stages and micro-batches in flight."""

import numpy as np
import pytest

from core.parallelism import in_flight_micro_batches, layer_stages, pipeline_bubble, stage_layers
from tests.published import as_printed, rows


@rows("pipeline_bubble")
def test_matches_the_megatron_formula(row):
    assert pipeline_bubble(**row["inputs"]).of_ideal == as_printed(row)


def schedule_1f1b(stages, micro_batches):
    """Second witness: run 1F1B step by step, one unit a forward and two a backward pass; idle share and most kept."""
    done_forward = np.full((stages, micro_batches), np.inf)
    done_backward = np.full((stages, micro_batches), np.inf)
    orders = []
    for stage in range(stages):
        warm = min(stages - stage - 1, micro_batches)
        order = [("F", m) for m in range(warm)]
        for m in range(micro_batches - warm):
            order += [("F", warm + m), ("B", m)]
        orders.append(order + [("B", m) for m in range(micro_batches - warm, micro_batches)])
    clock, place = np.zeros(stages), [0] * stages
    while any(place[s] < len(orders[s]) for s in range(stages)):
        for stage in range(stages):
            while place[stage] < len(orders[stage]):
                kind, m = orders[stage][place[stage]]
                if kind == "F":
                    ready = 0.0 if stage == 0 else done_forward[stage - 1, m]
                else:
                    ready = done_forward[stage, m] if stage == stages - 1 else done_backward[stage + 1, m]
                if ready == np.inf:
                    break
                clock[stage] = max(clock[stage], ready) + (1 if kind == "F" else 2)
                (done_forward if kind == "F" else done_backward)[stage, m] = clock[stage]
                place[stage] += 1
    kept = []
    for order in orders:
        alive = np.cumsum([1 if kind == "F" else -1 for kind, _ in order])
        kept.append(int(alive.max()))
    return clock.max() / (3 * micro_batches) - 1, kept


@pytest.mark.parametrize(("stages", "micro_batches"), [(1, 4), (2, 2), (4, 8), (4, 3), (8, 64), (8, 2)])
def test_a_played_schedule_waits_and_keeps_as_much(stages, micro_batches):
    idle, kept = schedule_1f1b(stages, micro_batches)
    bubble = pipeline_bubble(stages, micro_batches)
    assert idle == pytest.approx(bubble.of_ideal)
    assert idle / (1 + idle) == pytest.approx(bubble.of_total)
    assert kept == list(in_flight_micro_batches(stages, micro_batches, stage=np.arange(stages)))


# Korthikanti et al. 2022, section 4.2.3: interleaving multiplies the first stage's activations by 1 + (p-1)/(p v).
@pytest.mark.parametrize(("stages", "virtual"), [(8, 3), (35, 3), (4, 2), (2, 5)])
def test_interleaving_keeps_more_at_the_first_stage(stages, virtual):
    kept = in_flight_micro_batches(stages, 1000, virtual_stages=virtual)
    assert kept / stages == pytest.approx(1 + (stages - 1) / (stages * virtual))


def test_one_stage_keeps_one_micro_batch_interleaved_or_not():
    assert in_flight_micro_batches(1, 64, virtual_stages=[1, 4]) == pytest.approx([1, 1])


def test_never_more_in_flight_than_there_are():
    assert in_flight_micro_batches(16, [1, 4, 64]) == pytest.approx([1, 4, 16])


def test_the_bubble_of_a_grid_of_stages_and_micro_batches():
    bubble = pipeline_bubble(np.array([[2], [4]]), [8, 16, 32])
    assert bubble.of_ideal.shape == bubble.of_total.shape == (2, 3)


def test_first_stages_take_the_layers_left_over():
    assert list(stage_layers(126, 16)) == [8] * 14 + [7] * 2
    assert list(stage_layers(80, 8)) == [10] * 8
    assert stage_layers(61, 16).sum() == 61


def test_interleaved_chunks_go_round():
    assert list(layer_stages(8, 2, virtual_stages=2)) == [0, 0, 1, 1, 0, 0, 1, 1]


def test_more_stages_than_layers_are_refused():
    with pytest.raises(ValueError, match="pipeline_parallel=9 times virtual_stages=1 needs 9 layers"):
        stage_layers(8, 9)
    with pytest.raises(ValueError, match="stages=0 must be a whole number"):
        pipeline_bubble(0, 8)
    with pytest.raises(ValueError, match="stage counts from 0"):
        in_flight_micro_batches(4, 8, stage=4)
