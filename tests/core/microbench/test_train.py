"""A training step asks for its weights, their gradients and what it keeps."""

from core.microbench import train
from core.microbench.layer import weight_bytes
from core.microbench.shapes import SHAPES
from tests.core.microbench.fakes import fake_bench


def test_an_item_a_model_with_room_for_weights_and_their_random_draws():
    bench = fake_bench()
    [item] = train.items(bench, SHAPES[1], train.GPU_SIZES)
    assert item.num_points == len(train.GPU_SIZES)
    assert item.needs_bytes == 2 * weight_bytes(bench, SHAPES[1])


def test_steps_are_long_enough_for_a_gpu_to_be_the_limit():
    """At 800 TFLOP/s the shortest step lasts over 3 ms; to launch its hundred kernels takes a third of that."""
    tokens = min(batch * seq_len for batch, seq_len in train.GPU_SIZES)
    assert min(6 * shape.num_weights for shape in SHAPES[:4]) * tokens / 800e12 > 3e-3
