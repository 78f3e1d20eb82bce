"""One kept tensor and the run that shares it, by hand."""

import numpy as np
import pytest

from core.activations import layer_tensors
from core.kept_tensors import Kept, Run
from core.model_spec import Attention, Layer
from tests.core.test_working import calculate


def test_fewer_key_heads_than_gpus_are_copied():
    layer = Layer(mixer=Attention(num_heads=64, num_kv_heads=8, head_dim=128, v_head_dim=128))
    keys = {
        gpus: next(
            float(tensor.bytes(Run.of(seq_len=1, tensor_parallel=gpus)))
            for tensor in layer_tensors(layer, 8192, seq_len=1, tensor_parallel=gpus)
            if tensor.label == "keys"
        )
        for gpus in (1, 8, 16)
    }
    assert keys == {1: 2 * 8 * 128, 8: 2 * 128, 16: 2 * 128}


# 2 bytes x 4,096 tokens x 3 sequences x 1,024 elements, over 8 GPUs.
def test_a_tensor_as_arithmetic_is_its_bytes():
    run = Run.of(seq_len=4096, micro_batch_size=3, tensor_parallel=8)
    tensor = Kept("keys", 1024, run.split, "gradient of Q")
    assert tensor.bytes(run) == 3_145_728
    term = tensor.term(run)
    assert term.expression == "2 × 4,096 × 3 × 1,024 / 8"
    assert calculate(term.expression) == term.value == 3_145_728


def test_a_tensor_of_its_own_format_ignores_that_of_the_run():
    run = Run.of(seq_len=10, element_bytes=1)
    assert Kept("mask", 7, 1, "dropped").bytes(run) == 70
    assert Kept("statistics", 7, 1, "scores", element_bytes=4).bytes(run) == 280


def test_a_sweep_is_counted_and_has_no_single_term():
    run = Run.of(seq_len=[1024, 2048])
    tensor = Kept("queries", 8, 1, "gradient of K")
    assert list(tensor.bytes(run)) == [16_384, 32_768]
    with pytest.raises(ValueError, match="seq_len has 2 values"):
        tensor.term(run)


# Korthikanti et al. 2022, section 4.2.2: what tensor parallelism leaves whole, sequence parallelism splits.
def test_sequence_parallelism_splits_what_tensor_parallelism_leaves_whole():
    run = Run.of(seq_len=1, tensor_parallel=8, context_parallel=2, sequence_parallel=np.array([False, True]))
    assert list(run.whole) == [2, 16]
    assert run.split == 16


def test_a_split_expert_sees_the_tokens_of_all_gpus_that_share_it():
    assert Run.of(seq_len=1, tensor_parallel=8).expert_tokens == 1
    assert Run.of(seq_len=1, tensor_parallel=8, expert_tensor_parallel=1).expert_tokens == 8
    assert Run.of(seq_len=1, tensor_parallel=8, expert_tensor_parallel=2, context_parallel=4).expert_tokens == 16


@pytest.mark.parametrize(("gpus", "load", "busiest"), [(1, 1.5, 1), (8, 1.5, 1.5), (8, 0.5, 1), (8, 20, 8)])
def test_the_busiest_gpu_has_between_its_share_and_everything(gpus, load, busiest):
    assert Run.of(seq_len=1, expert_parallel=gpus, expert_load=load).expert_load == busiest


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"micro_batch_size": 1.5}, "micro_batch_size=1.5 must be a whole number"),
        ({"expert_tensor_parallel": 0}, "expert_tensor_parallel=0 must be a whole number"),
        ({"expert_load": -1}, "expert_load=-1"),
    ],
)
def test_an_option_of_no_use_is_refused_in_words(changed, message):
    with pytest.raises(ValueError, match=message):
        Run.of(seq_len=1, **changed)
