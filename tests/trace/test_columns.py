"""What the columns say about themselves."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from core.trace.columns import COPIES, Kind, Trace
from tests.trace.build import TO_GPU, call, gpu, read_one


def test_gpu_events_are_told_from_the_host_s():
    trace = read_one(gpu(1, 1, device=3), gpu(5, 1, TO_GPU, device=1), call(0, 1, 9))
    assert trace.on_gpu.tolist() == [False, True, True]
    assert trace.is_kind(*COPIES).tolist() == [False, False, True]
    assert trace.is_kind(Kind.RUNTIME).tolist() == [True, False, False]
    assert trace.devices == (1, 3)


def test_a_part_of_a_rank_has_a_part_of_every_column():
    trace = read_one(gpu(1, 1), gpu(5, 1, TO_GPU), call(0, 1, 9))
    part = trace.only(trace.on_gpu)
    for field in fields(trace):
        was, now = (getattr(one, field.name) for one in (trace, part))
        if isinstance(was, np.ndarray):
            assert np.array_equal(now, was[trace.on_gpu], equal_nan=now.dtype.kind == "f")
        else:
            assert now == was


def test_a_trace_with_a_note_is_partial():
    assert not Trace((), ()).partial
    assert Trace((), ("The end is missing.",)).partial
