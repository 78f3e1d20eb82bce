"""Plain copies and plain products, to hold our own curves against."""

from core.microbench import reference
from tests.core.microbench.fakes import fake_bench


def test_copies_and_products():
    copies, products = reference.items(fake_bench(), 4096, (8, 32, 16))
    assert (copies.num_points, copies.needs_bytes) == (len(reference.COPIES), 8192)
    assert products.num_points == 3
    assert reference.items(fake_bench(capability=(7, 0)), 4096, (8, 32, 16))[1].lacks is not None
