"""What a sequence keeps whatever its length: states of linear attention and Mamba-2, and convolution tails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from core.checks import Floats, whole
from core.dtypes import bytes_per_element
from core.kv_layers import heads_per_gpu, mixer_counts
from core.model_spec import LinearAttention, ModelSpec, StateSpace

MOST_SEQUENCES = 10**9
MOST_GPUS = 10**6


@dataclass(frozen=True, slots=True)
class StateParts:
    """The constant part by name; each field has the broadcast shape of the inputs."""

    recurrent_bytes: Floats
    conv_bytes: Floats

    @property
    def total_bytes(self) -> Floats:
        """Both together. [bytes per GPU]"""
        return self.recurrent_bytes + self.conv_bytes


def state_parts(
    model: ModelSpec,
    *,
    batch: ArrayLike = 1,
    state_dtype: str = "fp32",
    conv_dtype: str = "fp32",
    tensor_parallel: ArrayLike = 1,
) -> StateParts:
    """Bytes on one GPU that ``batch`` sequences keep whatever their length: recurrent states, and convolution tails.

    A linear attention head keeps one key_head_dim x value_head_dim matrix and a Mamba-2 head one head_dim x state_size,
    in fp32, as configs ask that name a format (``mamba_ssm_dtype``). The short convolution keeps its last kernel - 1
    inputs: llama.cpp in fp32, vLLM in the model's 16 bits (``conv_dtype="bf16"``); transformers keeps one input more.

    Args:
        model: the model.
        batch: sequences held at once on this GPU. [sequences]
        state_dtype: format of recurrent states.
        conv_dtype: format of the convolutions' tails.
        tensor_parallel: GPUs that split the heads; bytes are those of the fullest one. [GPUs]

    Returns:
        [bytes per GPU], in the broadcast shape of the inputs.

    Sources: Dao and Gu 2024, arXiv:2405.21060 (Mamba-2); Yang et al. 2024, arXiv:2412.06464 (gated delta rule).
    """
    sequences = whole("batch", batch, high=MOST_SEQUENCES)
    gpus = whole("tensor_parallel", tensor_parallel, high=MOST_GPUS)
    recurrent = conv = 0.0 * gpus
    for mixer, count in mixer_counts(model).items():
        state, tail = _state_elements(mixer, gpus)
        recurrent = recurrent + count * state
        conv = conv + count * tail
    return StateParts(
        recurrent_bytes=sequences * recurrent * bytes_per_element(state_dtype),
        conv_bytes=sequences * conv * bytes_per_element(conv_dtype),
    )


def state_bytes(
    model: ModelSpec,
    *,
    batch: ArrayLike = 1,
    state_dtype: str = "fp32",
    conv_dtype: str = "fp32",
    tensor_parallel: ArrayLike = 1,
) -> Floats:
    """Bytes on one GPU that ``batch`` sequences keep whatever their length: the sum of :func:`state_parts`."""
    return state_parts(
        model, batch=batch, state_dtype=state_dtype, conv_dtype=conv_dtype, tensor_parallel=tensor_parallel
    ).total_bytes


def _state_elements(mixer: Any, gpus: Floats) -> tuple[Floats, Floats]:
    """Elements of the recurrent state and of the convolution's tail. [elements]"""
    match mixer:
        case LinearAttention():
            keys = heads_per_gpu(mixer.num_key_heads, gpus) * mixer.key_head_dim
            values = heads_per_gpu(mixer.num_value_heads, gpus) * mixer.value_head_dim
            # One key by value matrix for each value head; queries, keys and values all pass the convolution.
            return values * mixer.key_head_dim, (2 * keys + values) * max(mixer.conv_kernel - 1, 0)
        case StateSpace():
            channels = heads_per_gpu(mixer.num_heads, gpus) * mixer.head_dim
            groups = heads_per_gpu(mixer.num_groups, gpus) * mixer.state_size
            # Inputs, and B and C of each group, pass the convolution.
            return channels * mixer.state_size, (channels + 2 * groups) * (mixer.conv_kernel - 1)
    return 0.0 * gpus, 0.0 * gpus
