"""Who takes part, which items there are, and what a MIG slice cannot do; two real ranks are in tests/microbench_cpu."""

from __future__ import annotations

import pytest

from core.collectives import OPS as CORE_OPS
from core.microbench import collectives
from core.microbench.collectives import Group, ranks_in_environment
from tests.core.microbench.fakes import fake_bench


@pytest.mark.parametrize(
    ("environment", "ranks"),
    [
        ({}, (0, 1, 0)),
        ({"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1"}, (3, 4, 1)),
        ({"WORLD_SIZE": "0"}, (0, 1, 0)),
    ],
)
def test_ranks_are_those_of_torchrun(environment, ranks):
    assert ranks_in_environment(environment) == ranks


def test_ops_are_named_as_in_the_core():
    assert set(collectives.OPS) <= set(CORE_OPS)


def test_nccl_is_measured_eager_and_from_graphs_gloo_eager():
    names = [item.name for item in collectives.items(fake_bench(), Group(0, 2, "nccl"), (4096, 8192))]
    assert names[:4] == [f"{op} over 2 ranks, eager" for op in collectives.OPS]
    assert names[4:] == [f"{op} over 2 ranks, graph" for op in collectives.OPS]
    gloo = collectives.items(fake_bench("fp32", kind="cpu"), Group(0, 2, "gloo"), (4096,))
    assert len(gloo) == len(collectives.OPS)


def test_a_mig_slice_cannot_take_part():
    items = collectives.items(fake_bench(is_slice=True), Group(0, 2, "nccl"), (4096,))
    assert {item.lacks for item in items} == {"MIG slices cannot reach each other through NCCL"}


def test_points_name_the_whole_tensor():
    item = collectives.items(fake_bench(), Group(1, 2, "nccl"), (4096, 8192))[0]
    assert [point.settings for point in item.points()] == [
        {"op": "all_reduce", "ranks": 2, "backend": "nccl", "mode": "eager", "tensor_bytes": size, "dtype": "bf16"}
        for size in (4096, 8192)
    ]
