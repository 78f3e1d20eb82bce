"""Constant states worked out by hand and against an engine's log."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.model_spec import from_hf_config
from core.sequence_state import state_bytes, state_parts
from core.units import MIB
from tests.shapes import GPT_OSS_120B, QWEN_27B

CONFIGS = Path(__file__).parents[1] / "data/configs"

# Recurrent elements and convolution elements of one sequence: layers x (heads x key width x value width), and
# layers x channels of queries, keys and values (or inputs, B and C) x 3 of the kernel's 4 inputs.
BY_HAND = {
    "Qwen--Qwen3.5-27B": (48 * 48 * 128 * 128, 48 * (2 * 16 * 128 + 48 * 128) * 3),
    "qwen3-next-80B-A3B": (36 * 32 * 128 * 128, 36 * (2 * 16 * 128 + 32 * 128) * 3),
    "moonshotai--Kimi-K3": (69 * 96 * 128 * 128, 69 * (3 * 96 * 128) * 3),
    # Mamba-2: 64 heads of 64 with a state of 128, 8 groups; 256 heads of 64 with a state of 256, 8 groups
    "nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (23 * 64 * 64 * 128, 23 * (64 * 64 + 2 * 8 * 128) * 3),
    "nvidia--Nemotron-H-56B-Base-8K": (54 * 256 * 64 * 256, 54 * (256 * 64 + 2 * 8 * 256) * 3),
    "meta-llama--Meta-Llama-3.1-8B": (0, 0),
    "deepseek-ai--DeepSeek-V3": (0, 0),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_real_configs_match_the_hand_count(name):
    parts = state_parts(from_hf_config(json.loads((CONFIGS / f"{name}.json").read_text())))
    recurrent, conv = BY_HAND[name]
    assert (parts.recurrent_bytes, parts.conv_bytes) == (recurrent * 4, conv * 4)


def test_qwen_27b_matches_the_engine_log():
    # lmstudio-bug-tracker 1862, Qwen3.6-27B: 149.6 MiB a sequence, 598.5 MiB for 4 slots, all fp32
    assert state_bytes(QWEN_27B) / MIB == pytest.approx(149.6, abs=0.05)
    assert state_bytes(QWEN_27B, batch=4) / MIB == pytest.approx(598.5, abs=0.05)


def test_a_16_bit_tail_is_half_of_an_fp32_one():
    fp32, bf16 = state_parts(QWEN_27B), state_parts(QWEN_27B, conv_dtype="bf16")
    assert fp32.conv_bytes == 2 * bf16.conv_bytes
    assert fp32.recurrent_bytes == bf16.recurrent_bytes


def test_the_state_has_no_length_and_grows_with_the_batch():
    batches = np.array([1, 2, 64])
    assert (state_bytes(QWEN_27B, batch=batches) == batches * state_bytes(QWEN_27B)).all()
    assert (state_bytes(GPT_OSS_120B, batch=batches) == [0, 0, 0]).all()


def test_heads_are_split_over_gpus():
    parts = state_parts(QWEN_27B, batch=[[1], [2]], tensor_parallel=[1, 2, 16])
    assert parts.total_bytes.shape == (2, 3)
    assert (parts.total_bytes[0] * [1, 2, 16] == state_bytes(QWEN_27B)).all()


@pytest.mark.parametrize("bad", [0, -1, float("nan"), 1e30])
def test_bad_counts_are_refused_by_name(bad):
    with pytest.raises(ValueError, match="batch="):
        state_bytes(QWEN_27B, batch=bad)
    with pytest.raises(ValueError, match="tensor_parallel="):
        state_bytes(QWEN_27B, tensor_parallel=bad)
