"""FLOPs and bytes of a product and its gradients, and what a card lacks."""

import pytest

from core.microbench import matmul
from core.microbench.matmul import Matrix
from tests.core.microbench.fakes import fake_bench


@pytest.mark.parametrize("role", matmul.ROLES)
def test_a_product_and_both_gradients_do_the_same_flops(role):
    assert Matrix(48, 32, "bf16", role).flops(7) == 2 * 7 * 48 * 32


def test_bytes_by_hand():
    m, n, k = 7, 48, 32
    assert Matrix(n, k, "bf16").num_bytes(m) == 2 * (m * k + n * k + m * n)
    assert Matrix(n, k, "bf16", "input_gradient").num_bytes(m) == 2 * (m * n + n * k + m * k)
    assert Matrix(n, k, "bf16", "weight_gradient").num_bytes(m) == 2 * (m * n + m * k + n * k)
    assert Matrix(n, k, "fp8").num_bytes(m) == m * k + n * k + 2 * m * n  # written as bf16
    assert Matrix(n, k, "int8").num_bytes(m) == m * k + n * k + 4 * m * n  # written as int32


def test_an_item_holds_copies_of_its_weights_beyond_the_cache():
    bench = fake_bench()
    item = matmul.item(bench, Matrix(4096, 4096, "bf16"), (1, 64))
    assert item.needs_bytes > 3 * bench.device.cache_bytes
    assert (item.name, item.num_points, item.lacks) == ("product bf16 4096 x 4096", 2, None)


def test_a_dtype_that_the_card_lacks_is_said():
    item = matmul.item(fake_bench(capability=(8, 0)), Matrix(64, 64, "fp8"), (64,))
    assert item.lacks is not None
    assert "no fp8 matrix units" in item.lacks


def test_limits_lie_between_rounding_and_a_wrong_product():
    """Half a unit in the last place of the output, and far below the 1 of a product that has nothing right."""
    bits = {"fp32": 24, "bf16": 8, "fp16": 11, "fp8": 8}  # fp8 products are written as bf16
    for dtype, digits in bits.items():
        assert 2.0**-digits / 2 < matmul.LIMITS[dtype] < 0.05
    assert matmul.LIMITS["int8"] == 0
