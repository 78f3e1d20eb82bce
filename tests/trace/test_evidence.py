"""The sentences behind a limit carry the numbers of the trace."""

from __future__ import annotations

import pytest

from core.trace.evidence import evidence
from core.trace.reading import read_trace
from core.trace.report import report
from core.trace.verdict import LIMITS
from tests.trace.build import ALL_REDUCE, TO_GPU, as_bytes, call, gpu, host, read, step

NAMED = {"Collective name": "allreduce", "In msg nelems": 1_000_000, "dtype": "BFloat16"}
EVENTS = [
    step(7, 0, 1000),
    call(10, 6, 1),
    gpu(20, 100, launch=1),
    call(130, 6, 2, "cudaMemcpyAsync"),
    gpu(140, 50, TO_GPU, launch=2),
    call(200, 6, 3),
    gpu(210, 400, ALL_REDUCE, launch=3, **NAMED),
    host(615, 20, "gloo:barrier"),
    call(640, 6, 4),
    gpu(650, 4, launch=4),
    call(660, 40, 5, "cudaDeviceSynchronize"),
]


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("kernels", "matrix products 100%, attention 0%, element-wise and other 0%"),
        ("kernels", "52.0 us on average, run 2 times"),
        ("communication", "Of 400 us of communication, compute hides 0%."),
        ("communication", "Most exposed: AllReduce on rank 0, once, 2.00 MB, 400 us of 400 us exposed there."),
        ("communication", "For 20.0 us the GPU idled while the host itself communicated"),
        ("launch", "nothing queued for 54.0 us, and paused between queued events for 0 us"),
        ("launch", "Launches on one rank: 4. The median call takes 6.00 us, its event on the GPU 75.0 us; 25%"),
        ("launch", "stopped once to wait for the GPU, 40.0 us in all"),
        ("input", "For 6.00 us a GPU idled"),
        ("copies", f"Longest in all: {TO_GPU}, 50.0 us on average, once."),
        ("unknown", "Of 4 GPU events"),
    ],
)
def test_numbers_are_those_of_the_trace(limit, words):
    assert words in " ".join(evidence(limit, report(read(*EVENTS))))


@pytest.mark.parametrize("limit", LIMITS)
def test_every_limit_has_words_even_for_a_trace_with_next_to_nothing(limit):
    sentences = evidence(limit, report(read(gpu(0, 1, "Memset (Device)"))))
    assert sentences[-1] == "The trace has no ProfilerStep#, so it is judged as a whole."
    assert all(sentence.endswith(".") for sentence in sentences)


def test_steps_are_counted():
    assert evidence("input", report(read(*EVENTS)))[-1].startswith("1 step ProfilerStep#7: median 634 us")


def test_a_sum_over_ranks_and_one_ranks_share_are_told_apart_and_a_mean_is_called_one():
    """Two ranks: the first sends 2 and 4 MB in 100 us each, the second 2 MB in 300 us."""
    small, large = NAMED, NAMED | {"In msg nelems": 2_000_000}
    first = [step(7, 0, 1000), gpu(0, 100, ALL_REDUCE, **small), gpu(200, 100, ALL_REDUCE, **large)]
    second = [step(7, 0, 1000), gpu(0, 300, ALL_REDUCE, **small)]
    both = read_trace([("0.json", as_bytes(first, 0, 2)), ("1.json", as_bytes(second, 1, 2))])
    words = " ".join(evidence("communication", report(both)))
    assert "Of 500 us of communication, 2 GPUs together, compute hides 0%." in words
    assert "Most exposed: AllReduce on rank 1, once, 2.00 MB, 300 us of 300 us exposed there." in words
    alone = " ".join(evidence("communication", report(read(*first))))
    assert "AllReduce on rank 0, 2 times, 3.00 MB on average, 200 us of 200 us exposed there." in alone
