"""Data is larger than the cache, sizes are powers, and a dtype that torch lacks is refused."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from core.microbench.bench import CACHES, MOST_COPIES, powers
from core.microbench.item import Unsupported
from tests.core.microbench.fakes import fake_bench


@pytest.mark.parametrize("num_bytes", [2**20, 10**7, 5 * 10**7, 10**8, 5 * 10**8])
def test_copies_together_are_larger_than_the_cache(num_bytes):
    bench = fake_bench()
    copies = bench.copies(num_bytes)
    assert copies * num_bytes >= min(CACHES * bench.device.cache_bytes, MOST_COPIES * num_bytes)
    assert (copies - 1) * num_bytes <= CACHES * bench.device.cache_bytes


def test_powers_end_at_the_highest():
    assert powers(1, 256, 4) == (1, 4, 16, 64, 256)
    assert powers(3, 20) == (3, 6, 12)


def test_a_dtype_that_torch_lacks_is_refused(monkeypatch):
    torch = ModuleType("torch")
    torch.__version__ = "2.0.0"
    torch.bfloat16 = "bfloat16"
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert fake_bench().torch_dtype() == "bfloat16"
    with pytest.raises(Unsupported, match=r"torch 2\.0\.0 has no float8_e4m3fn"):
        fake_bench().torch_dtype("fp8")


def test_beside_cuda_no_peak_is_counted():
    assert fake_bench(kind="cpu").peak_bytes(lambda: None) is None
