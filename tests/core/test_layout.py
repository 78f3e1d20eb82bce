"""A layout's counts, by hand, and what it refuses."""

import numpy as np
import pytest

from core.layout import Layout


def test_tokens_and_gpus_of_a_layout():
    layout = Layout.of(
        seq_len=8192,
        data_parallel=[64, 128],
        tensor_parallel=8,
        context_parallel=2,
        pipeline_parallel=16,
        micro_batch_size=2,
        num_micro_batches=32,
    )
    assert list(layout.num_gpus.ravel()) == [64 * 8 * 2 * 16, 128 * 8 * 2 * 16]
    assert list(layout.step_tokens.ravel()) == [64 * 32 * 2 * 8192, 128 * 32 * 2 * 8192]
    assert layout.micro_batch_tokens == 8192  # two sequences, each split over two
    assert layout.hidden_bytes(4096) == 2 * 8192 * 4096
    assert layout.shape == (2,)


def test_sequence_parallelism_splits_what_tensor_parallelism_leaves_whole():
    off, on = (Layout.of(seq_len=1024, tensor_parallel=8, sequence_parallel=switch) for switch in (False, True))
    assert off.token_split == 1
    assert on.token_split == 8


def test_numbers_broadcast_and_keep_a_last_axis_for_stages():
    layout = Layout.of(seq_len=np.array([[1024], [2048]]), data_parallel=[1, 2, 4], pipeline_parallel=4)
    assert layout.shape == (2, 3)
    assert layout.seq_len.shape == (2, 1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seq_len": 0}, "seq_len=0 must be a whole number"),
        ({"seq_len": 8, "zero_stage": 4}, "zero_stage=4 must be a whole number from 0 to 3"),
        ({"seq_len": 8, "pipeline_parallel": [1, 2]}, "pipeline_parallel has 2 values"),
        ({"seq_len": 8, "recompute": "some"}, "recompute='some' is not known"),
        ({"seq_len": 8, "offload": "all"}, "offload='all' is not known"),
        ({"seq_len": 8, "tensor_parallel": 1.5}, "tensor_parallel=1.5 must be a whole number"),
    ],
)
def test_a_bad_layout_is_refused_in_words(options, message):
    with pytest.raises(ValueError, match=message):
        Layout.of(**options)
