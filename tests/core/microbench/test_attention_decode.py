"""An item a context, over batch."""

from core.microbench import attention_decode
from core.microbench.shapes import SHAPES
from tests.core.microbench.fakes import fake_bench


def test_an_item_a_context():
    items = attention_decode.items(fake_bench(), SHAPES[3], (1, 4), (512, 2048))
    assert [item.name for item in items] == [
        "decode attention 32/32 heads, context 512",
        "decode attention 32/32 heads, context 2048",
    ]
    assert all(item.num_points == 2 for item in items)
