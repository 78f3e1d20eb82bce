"""Attention traffic, typed into a calculator."""

import pytest

from core.attention_io import hbm_bytes, score_bytes
from core.attention_io_working import hbm_working, score_working
from tests.core.test_working import holds


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("tiled", [False, True])
@pytest.mark.parametrize(("seq_len", "head_dim", "sram"), [(8192, 128, 192 * 1024), (1000, 64, 100_000), (16, 64, 1e6)])
def test_traffic(seq_len, head_dim, sram, tiled, backward):
    run = {"heads": 32, "batch": 4, "tiled": tiled, "sram_bytes": sram, "backward": backward}
    holds(hbm_working(seq_len, head_dim, **run), hbm_bytes(seq_len, head_dim, **run))


def test_unfused_traffic_reads_as_on_a_whiteboard():
    working = hbm_working(8192, 64, tiled=False)
    assert working.substitution == "2 × 1 × 1 × 4 × 8,192 × 8,192 + 2 × 1 × 1 × 4 × 8,192 × 64"
    assert working.lines[-1] == "= 541,065,216 bytes"


def test_the_size_of_the_scores():
    holds(score_working(65_536), score_bytes(65_536))
    holds(score_working(8192, heads=32, batch=2), score_bytes(8192, heads=32, batch=2))


def test_a_sweep_has_no_single_derivation():
    with pytest.raises(ValueError, match="2 values"):
        hbm_working([1, 2], 64, tiled=True)
