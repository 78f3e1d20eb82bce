"""Pinned and pageable, both ways; nothing where host and device are one."""

from core.microbench import host_link
from tests.core.microbench.fakes import fake_bench


def test_a_cpu_has_no_link_to_itself():
    assert host_link.items(fake_bench(kind="cpu")) == []


def test_both_kinds_of_memory_both_ways():
    items = host_link.items(fake_bench(), (1024, 4096))
    assert [(item.name, item.num_points) for item in items] == [("host link, pinned", 4), ("host link, pageable", 4)]
