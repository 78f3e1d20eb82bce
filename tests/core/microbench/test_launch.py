"""Launches are measured one by one, and on CUDA from a graph."""

import pytest

from core.microbench import launch
from tests.core.microbench.fakes import fake_bench


@pytest.mark.parametrize(("kind", "modes"), [("cuda", ["eager", "graph"]), ("cpu", ["eager"]), ("xpu", ["eager"])])
def test_modes(kind, modes):
    [item] = launch.items(fake_bench(kind=kind))
    assert [point.settings["mode"] for point in item.points()] == modes
    assert item.num_points == len(modes)
