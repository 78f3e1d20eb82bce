"""Bytes, times and ZeRO's price, against the paper and against rings that are really passed round."""

from dataclasses import dataclass

import numpy as np
import pytest

from core.collectives import OPS, bytes_per_rank, collective_time, zero_traffic
from tests.published import as_printed, rows


@dataclass(frozen=True)
class Wire:
    bytes_per_s: float = 50e9
    latency_s: float | None = 5e-6


def ring_reduce_scatter(shards):
    """Second witness: pass partial sums round a ring; shards[rank][chunk]. Returns the chunks sent by each rank."""
    n = len(shards)
    sent = [0] * n
    for step in range(n - 1):
        moving = [(rank, (rank - step) % n, shards[rank][(rank - step) % n]) for rank in range(n)]
        for rank, chunk, value in moving:
            shards[(rank + 1) % n][chunk] += value
            sent[rank] += 1
    return sent


def ring_all_gather(owned):
    n = len(owned)
    have = [{rank: owned[rank]} for rank in range(n)]
    sent = [0] * n
    for step in range(n - 1):
        moving = [(rank, (rank - step) % n) for rank in range(n)]
        for rank, chunk in moving:
            have[(rank + 1) % n][chunk] = have[rank][chunk]
            sent[rank] += 1
    assert all(len(got) == n for got in have)
    return sent


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_rings_passed_round_send_as_much(ranks):
    chunk = 1000
    data = [[float(rank * 10 + chunk) for chunk in range(ranks)] for rank in range(ranks)]
    expected = [sum(rank * 10 + chunk for rank in range(ranks)) for chunk in range(ranks)]
    scattered = ring_reduce_scatter(data)
    assert [data[(chunk - 1) % ranks][chunk] for chunk in range(ranks)] == expected
    gathered = ring_all_gather(expected)
    whole = chunk * ranks
    assert [chunk * count for count in scattered] == [bytes_per_rank("reduce_scatter", whole, ranks)] * ranks
    assert [chunk * count for count in gathered] == [bytes_per_rank("all_gather", whole, ranks)] * ranks
    assert bytes_per_rank("all_reduce", whole, ranks) == chunk * (scattered[0] + gathered[0])


def test_an_all_to_all_keeps_its_own_part():
    # 8 ranks hold 100 bytes each and send 7/8 of them.
    assert bytes_per_rank("all_to_all", 800, 8) == 87.5


def test_a_tensor_is_broadcast_and_sent_once():
    assert bytes_per_rank("broadcast", 1e9, 8) == bytes_per_rank("send", 1e9, 2) == 1e9


@pytest.mark.parametrize("op", OPS)
def test_one_rank_sends_nothing_in_no_time(op):
    assert bytes_per_rank(op, 1e9, 1) == 0
    assert collective_time(op, 1e9, 1, Wire()) == 0


# 70B bf16 gradients over 50 GB/s per GPU: nearly 2 x 140 / 50 = 5.6 s, and hardly more with more GPUs.
def test_a_ring_all_reduce_hardly_grows_with_the_gpus():
    times = collective_time("all_reduce", 140e9, [8, 64, 512], Wire(latency_s=0.0))
    assert times == pytest.approx([4.9, 5.5125, 5.5890625])


def test_small_messages_are_latency_alone():
    assert collective_time("all_reduce", 8, 8, Wire()) == pytest.approx(14 * 5e-6, rel=1e-3)
    assert collective_time("all_gather", 1e9, 8, Wire(latency_s=None)) == pytest.approx(7 / 8 * 1e9 / 50e9)


def test_sizes_by_ranks_gives_a_grid():
    assert bytes_per_rank("all_gather", np.ones((3, 1)), np.array([2, 4])).shape == (3, 2)
    assert collective_time("all_gather", np.ones((3, 1)), np.array([2, 4]), Wire()).shape == (3, 2)


@rows("zero_traffic")
def test_matches_the_volumes_of_the_zero_paper(row):
    assert zero_traffic(1.0, 64, **row["inputs"]).elements == as_printed(row)


def test_stages_1_and_2_cost_no_more_than_data_parallelism():
    traffic = zero_traffic(70e9, 64, stage=[0, 1, 2, 3])
    assert traffic.elements / 70e9 == pytest.approx([2, 2, 2, 3])
    assert traffic.total_bytes / 70e9 == pytest.approx(np.array([4, 4, 4, 6]) * 63 / 64)


# With accumulation only the sharded stages pay every micro-batch; stage 1 needs one reduce-scatter and one all-gather
# a step, not one a micro-batch.
def test_accumulation_multiplies_what_is_sharded():
    assert zero_traffic(1.0, 64, stage=[0, 1, 2, 3], accumulation_steps=8).elements == pytest.approx([2, 2, 9, 24])
    held = zero_traffic(1.0, 64, stage=2, accumulation_steps=8, reduce_each_micro_step=False)
    assert held.elements == 2


def test_micro_steps_and_the_end_of_the_step_add_up():
    traffic = zero_traffic(7e9, 8, stage=[0, 1, 2, 3], accumulation_steps=4)
    assert traffic.elements == pytest.approx(4 * traffic.micro_step_elements + traffic.step_elements)


def test_fp32_gradients_are_sent_twice_as_wide():
    narrow, wide = (zero_traffic(7e9, 8, stage=1, optimizer=o) for o in ("adam", "adam-fp32-grads"))
    assert wide.gradient_bytes == 2 * narrow.gradient_bytes
    assert wide.weight_bytes == narrow.weight_bytes


def test_traffic_is_what_the_collectives_send():
    psi, n = 7e9, 8
    assert zero_traffic(psi, n, stage=0).total_bytes == bytes_per_rank("all_reduce", 2 * psi, n)
    by_parts = bytes_per_rank("reduce_scatter", 2 * psi, n) + 2 * bytes_per_rank("all_gather", 2 * psi, n)
    assert zero_traffic(psi, n, stage=3).total_bytes == pytest.approx(by_parts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("all_reduced", 1, 2), "op='all_reduced' is not known; choose one of"),
        (("all_reduce", -1, 2), "num_bytes=-1 must be 0 or greater"),
        (("all_reduce", 1, 0), "ranks=0 must be a whole number"),
    ],
)
def test_a_bad_input_is_refused_in_words(arguments, message):
    with pytest.raises(ValueError, match=message):
        bytes_per_rank(*arguments)
