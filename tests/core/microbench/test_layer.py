"""Memory of a layer and its cache."""

from core.microbench.layer import LIMITS, kv_bytes, weight_bytes
from core.microbench.shapes import SHAPES
from tests.core.microbench.fakes import fake_bench


def test_bytes_by_hand():
    bench = fake_bench()
    assert weight_bytes(bench, SHAPES[0]) == 2 * (4096 * 6144 + 4096 * 4096 + 3 * 4096 * 14336)
    assert kv_bytes(bench, SHAPES[0], 4, 1000) == 2 * 2 * 8 * 128 * 4 * 1000
    assert weight_bytes(fake_bench("fp32"), SHAPES[0]) == 2 * weight_bytes(bench, SHAPES[0])


def test_every_dtype_of_layers_has_a_limit():
    assert set(LIMITS) == {"fp32", "bf16", "fp16"}
