"""Sizes run from what a cache holds to what it does not; a copy moves each byte twice."""

from core.microbench import copy
from tests.core.microbench.fakes import fake_bench


def test_sizes_reach_from_the_cache_to_memory():
    bench = fake_bench()
    for sizes in (copy.GPU_SIZES, copy.CPU_SIZES):
        assert list(sizes) == sorted(set(sizes))
        assert all(size % 4 == 0 for size in sizes)
    assert copy.GPU_SIZES[0] * 8 < bench.device.cache_bytes < copy.GPU_SIZES[-1] / 8


def test_an_item_asks_for_its_buffers():
    items = copy.items(fake_bench(), (1024, 4096))
    assert [(item.name, item.needs_bytes) for item in items] == [
        ("copy over size", 8192),
        ("read over size", 4096),
        ("write over size", 4096),
    ]
    assert copy.MOVED == {"copy": 2, "read": 1, "write": 1}
