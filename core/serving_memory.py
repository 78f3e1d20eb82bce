"""Memory of one GPU that serves: weights, cache, states, a step's activations, and how many sequences that leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, numbers, positive, whole
from core.constraints import tensor_parallel_choices
from core.kv_cache import kv_bytes
from core.matrices import layer_matrices
from core.model_spec import ModelSpec
from core.paged_attention import MOST_BYTES
from core.sequence_state import MOST_GPUS, MOST_SEQUENCES, state_bytes
from core.serving_weights import ServingFormats, stored_weight_bytes

CHUNK_TOKENS = 2048  # of prefill in one step; vLLM's max_num_batched_tokens unless the GPU is a large one
_ACTIVATION_BYTES = 2.0
_LOGIT_BYTES = 4.0  # logits are sampled from in fp32


@dataclass(frozen=True, slots=True)
class ServingMemory:
    """Bytes on the fullest GPU of a tensor-parallel group; each field is broadcast. [bytes per GPU]"""

    weight_bytes: Floats
    kv_bytes: Floats
    state_bytes: Floats
    working_bytes: Floats  # activations of the tokens at work
    logits_bytes: Floats
    budget_bytes: Floats  # what the engine may take
    sequence_bytes: Floats  # what one sequence more would need

    @property
    def activation_bytes(self) -> Floats:
        """All that lives for one step. [bytes per GPU]"""
        return self.working_bytes + self.logits_bytes

    @property
    def total_bytes(self) -> Floats:
        """All that is needed. [bytes per GPU]"""
        return self.weight_bytes + self.kv_bytes + self.state_bytes + self.activation_bytes

    @property
    def room_bytes(self) -> Floats:
        """What the budget leaves; negative where it does not fit. [bytes per GPU]"""
        return self.budget_bytes - self.total_bytes

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether it all stays within the budget."""
        return np.asarray(self.room_bytes >= 0)


def serving_memory(
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    budget_bytes: ArrayLike,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    chunk_tokens: ArrayLike = CHUNK_TOKENS,
    **formats: Unpack[ServingFormats],
) -> ServingMemory:
    """Memory of one GPU that holds ``batch`` sequences of ``seq_len`` tokens.

    Args:
        model: the model.
        seq_len: tokens of each sequence, prompt and answer. [tokens]
        budget_bytes: what the engine may take of each GPU: its memory times the engine's fraction. The rest is for
            the driver, communication buffers and fragmentation. [bytes per GPU]
        batch: sequences held at once. [sequences]
        tensor_parallel: GPUs that share the model. [GPUs]
        chunk_tokens: tokens of a prefill step, which set the activations, being more than a decode step's; 0 leaves
            activations out. [tokens]
        formats: see :class:`core.serving_weights.ServingFormats`.

    Returns:
        [bytes per GPU], broadcast. Activations are the residual stream and the widest product's input and output, and
        fp32 logits of every sequence; index keys of sparse attention are held, and counted.

    Source: vLLM's own split (vLLM issue 13061): utilization x memory - weights - activations is left for the cache.
    """
    tokens = whole("chunk_tokens", chunk_tokens, low=0)
    sequences = whole("batch", batch, high=MOST_SEQUENCES)
    kv = kv_bytes(
        model,
        seq_len,
        tensor_parallel=tensor_parallel,
        kv_dtype=formats.get("kv_dtype", "bf16"),
        layout=formats.get("layout", "latent"),
        indexer="included",
        indexer_dtype=formats.get("indexer_dtype"),
    )
    state = state_bytes(
        model,
        tensor_parallel=tensor_parallel,
        state_dtype=formats.get("state_dtype", "fp32"),
        conv_dtype=formats.get("conv_dtype", "fp32"),
    )
    logits = np.where(tokens > 0, model.vocab_size * _LOGIT_BYTES, 0.0)
    working = tokens * activation_bytes_per_token(model, tensor_parallel)
    return ServingMemory(
        weight_bytes=stored_weight_bytes(model, tensor_parallel, **formats),
        kv_bytes=sequences * kv,
        state_bytes=sequences * state,
        working_bytes=np.asarray(working),
        logits_bytes=np.asarray(sequences * logits),
        budget_bytes=numbers("budget_bytes", budget_bytes),
        sequence_bytes=kv + state + logits,
    )


def activation_bytes_per_token(model: ModelSpec, tensor_parallel: ArrayLike = 1) -> Floats:
    """What a token holds at the widest point of a forward pass: its residual stream, a product's input and output.

    Nothing is kept for a backward pass. Of routed experts each of the token's own counts. [bytes per token and GPU]
    """
    gpus = whole("tensor_parallel", tensor_parallel, high=MOST_GPUS)
    widest: Floats = np.zeros_like(gpus)
    for layer in model.layer_counts:
        for matrix in layer_matrices(layer, model, tensor_parallel=gpus):
            if matrix.kind != "named":  # these carry a number of weights and no shape
                widest = np.maximum(widest, (np.asarray(matrix.inputs) + matrix.outputs) * matrix.used)
    return (model.residual_streams * model.hidden_size + widest) * _ACTIVATION_BYTES


def most_sequences(memory: ServingMemory) -> NDArray[np.int64]:
    """Most sequences that fit beside weights and activations, whatever batch ``memory`` is of. [sequences]"""
    free = memory.budget_bytes - memory.weight_bytes - memory.working_bytes
    return np.floor_divide(np.clip(free, 0.0, MOST_BYTES), memory.sequence_bytes).astype(np.int64)


@dataclass(frozen=True, slots=True)
class GpusNeeded:
    """GPUs of one replica; each field is broadcast. [GPUs]"""

    by_capacity: NDArray[np.int64]  # all bytes over one GPU's memory, rounded up: nothing less can do
    to_run: NDArray[np.int64]  # the smallest tensor-parallel degree that splits the heads and fits; 0: none does


def gpus_needed(
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    gpu_bytes: ArrayLike,
    batch: ArrayLike = 1,
    degrees: Sequence[int] | None = None,
    chunk_tokens: ArrayLike = 0,
    **formats: Unpack[ServingFormats],
) -> GpusNeeded:
    """GPUs that hold a model and its sequences, by capacity alone and by what splits its heads.

    Args:
        model: the model.
        seq_len: tokens of each sequence. [tokens]
        gpu_bytes: usable memory of one GPU. [bytes per GPU]
        batch: sequences. [sequences]
        degrees: tensor-parallel degrees to choose from, ascending; None: all that split the heads evenly. Nodes of
            eight and most engines ask for powers of two: (1, 2, 4, 8, 16).
        chunk_tokens: as in :func:`serving_memory`; 0 counts weights and cache alone.
        formats: see :class:`core.serving_weights.ServingFormats`.

    70B and 32 requests of 4,096 tokens are 183 GB: three GPUs of 80 GB by capacity, four because three do not divide
    64 query heads.
    """
    choices = np.array(degrees if degrees is not None else tensor_parallel_choices(model))
    usable = positive("gpu_bytes", gpu_bytes)
    shape = {"batch": batch, "chunk_tokens": chunk_tokens, "budget_bytes": usable}
    alone = serving_memory(model, seq_len, **shape, **formats)
    spread = np.broadcast_arrays(*(np.asarray(value)[..., None] for value in (seq_len, batch, usable, chunk_tokens)))
    tokens, sequences, memory, chunk = spread
    fits = serving_memory(
        model,
        tokens,
        batch=sequences,
        budget_bytes=memory,
        tensor_parallel=choices,
        chunk_tokens=chunk,
        **formats,
    ).fits
    first = choices[np.argmax(fits, axis=-1)]
    return GpusNeeded(
        by_capacity=np.ceil(alone.total_bytes / usable).astype(np.int64),
        to_run=np.where(fits.any(axis=-1), first, 0).astype(np.int64),
    )
