"""Which kernels, over which tokens, and the elements that each moves."""

from core.microbench import vector
from core.microbench.shapes import SHAPES
from tests.core.microbench.fakes import fake_bench


def test_widths_by_hand():
    """Llama 3.1 8B: 32 query, 8 key and 8 value heads of 128."""
    assert vector.widths(SHAPES[0]) == {
        "norm": (4096, 4096),
        "heads": (48 * 128, 40 * 128),
        "swiglu": (2 * 14336, 14336),
        "add": (2 * 4096, 4096),
        "append": (16 * 128, 16 * 128),
    }


def test_only_decode_sizes_write_to_a_cache_and_only_some_sizes_train():
    items = {
        item.name.split(",")[0]: item.num_points
        for item in vector.items(fake_bench(), SHAPES[0], (1, 256, 8192), (8192,))
    }
    assert items == {
        "norm forward": 3,
        "heads forward": 3,
        "swiglu forward": 3,
        "add forward": 3,
        "append forward": 2,
        "norm training": 1,
        "heads training": 1,
        "swiglu training": 1,
        "add training": 1,
    }
