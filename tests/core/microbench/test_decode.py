"""The grid of decode steps, and how it lies beside that of the kernels which predict them."""

from core.microbench import attention_decode, decode
from core.microbench.shapes import SHAPES
from tests.core.microbench.fakes import fake_bench


def test_steps_reach_over_batch_1_to_256_and_context_512_to_32k():
    assert (decode.GPU_BATCHES[0], decode.GPU_BATCHES[-1]) == (1, 256)
    assert (decode.GPU_CONTEXTS[0], decode.GPU_CONTEXTS[-1]) == (512, 32768)


def test_a_prediction_interpolates_and_never_extrapolates():
    for steps, kernels in (
        (decode.GPU_BATCHES, attention_decode.GPU_BATCHES),
        (decode.GPU_CONTEXTS, attention_decode.GPU_CONTEXTS),
    ):
        assert (steps[0], steps[-1]) == (kernels[0], kernels[-1])
        assert not set(steps[1:-1]) & set(kernels[1:-1])


def test_graphs_everywhere_and_some_points_eager_too():
    [item] = decode.items(fake_bench(), SHAPES[0], decode.GPU_BATCHES, decode.GPU_CONTEXTS)
    assert item.num_points == 25 + 6
    [item] = decode.items(fake_bench("fp32", kind="cpu"), SHAPES[0], (1, 8), (256,))
    assert item.num_points == 2
