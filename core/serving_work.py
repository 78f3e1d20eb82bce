"""What one GPU has to read, multiply and send in a decode step or a prefill: bytes and FLOPs, no times yet."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, whole
from core.kv_cache import kv_bytes
from core.kv_reads import kv_read_bytes, picks_tokens, state_traffic_bytes
from core.mixer_matrices import EXPANSION
from core.model_spec import ModelSpec
from core.paged_attention import MOST_TOKENS
from core.sequence_state import MOST_GPUS, MOST_SEQUENCES
from core.serving_weights import ServingFormats, served_matrices, weight_read_bytes
from core.token_mixing import View, mixing

_ACTIVATION_BYTES = 2.0  # an element of what GPUs send each other


@dataclass(frozen=True, slots=True)
class ServingWork:
    """One GPU's share of one step; each array has the broadcast shape of the inputs."""

    weight_bytes: Floats  # read
    kv_bytes: Floats  # read, or written by prefill
    state_bytes: Floats  # read and written; prefill writes the last ones
    matmul_flops: dict[str, Floats]  # by the format in which the weights are stored
    attention_flops: Floats  # scores, values, an indexer's choice, states
    tokens: Floats  # that run
    token_message_bytes: float  # all channels of one token, which an all-reduce adds up
    num_messages: int  # all-reduces of a step
    num_layers: int
    num_matmuls: int
    num_mixers: int

    @property
    def flops(self) -> Floats:
        """All FLOPs together. [FLOP per GPU]"""
        return sum(self.matmul_flops.values(), np.zeros(())) + self.attention_flops

    @property
    def message_bytes(self) -> Floats:
        """What one all-reduce adds up. [bytes]"""
        return self.tokens * self.token_message_bytes

    @property
    def moved_bytes(self) -> Floats:
        """All memory traffic together. [bytes per GPU]"""
        return self.weight_bytes + self.kv_bytes + self.state_bytes


def decode_work(
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    tokens_per_sequence: ArrayLike = 1,
    **formats: Unpack[ServingFormats],
) -> ServingWork:
    """One decode step of ``batch`` sequences at ``seq_len`` tokens.

    Args:
        model: the model.
        seq_len: tokens of each sequence, the new one included. [tokens]
        batch: sequences. [sequences]
        tensor_parallel: GPUs that share the step. [GPUs]
        tokens_per_sequence: tokens checked at once: in speculative decoding the draft and one more. [tokens]
        formats: see :class:`core.serving_weights.ServingFormats`.

    The weights are read once for any batch, each sequence's cache once for all its heads and tokens. Leaves out
    activations and the new token's own cache entry.
    Source: Pope et al. 2022, arXiv:2211.05102, section 2.1.
    """
    context, gpus = _tokens("seq_len", seq_len), _gpus(tensor_parallel)
    sequences = _sequences(batch)
    tokens = sequences * whole("tokens_per_sequence", tokens_per_sequence)
    layout = formats.get("layout", "latent")
    kv = kv_read_bytes(
        model,
        context,
        batch=sequences,
        tensor_parallel=gpus,
        kv_dtype=formats.get("kv_dtype", "bf16"),
        layout=layout,
        indexer_dtype=formats.get("indexer_dtype"),
    )
    attention = tokens * _mixing_flops(model, context, "last", gpus, absorbed=layout == "latent")
    return _work(model, gpus, sequences, (tokens, tokens, tokens), kv, attention, formats, decodes=True)


def prefill_work(
    model: ModelSpec,
    prompt_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    cached_tokens: ArrayLike = 0,
    **formats: Unpack[ServingFormats],
) -> ServingWork:
    """Prefill of ``batch`` prompts, of which a prefix cache already holds the first tokens.

    Args:
        model: the model.
        prompt_len: tokens of each prompt. [tokens]
        batch: prompts. [sequences]
        tensor_parallel: GPUs that share the work. [GPUs]
        cached_tokens: of each prompt, found in the cache; fewer than the prompt, whose last token must run. [tokens]
        formats: see :class:`core.serving_weights.ServingFormats`.

    Each new token attends to all before it, cached ones too; logits are made for the last one only. Keys and values of
    cached latents are made once more, unless sparse attention reads latents themselves. The weights are read once, as
    by one pass over all prompts; chunked prefill reads them once a chunk.
    Source: Pope et al. 2022, arXiv:2211.05102, section 2.1; vLLM, v1/attention/backends/mla/common.py (cached latents).
    """
    prompt, cached = np.broadcast_arrays(
        _tokens("prompt_len", prompt_len), whole("cached_tokens", cached_tokens, low=0)
    )
    if np.any(cached >= prompt):
        raise ValueError("cached_tokens must be less than prompt_len: the last token runs to give the first answer")
    sequences, gpus = _sequences(batch), _gpus(tensor_parallel)
    # The mean over 1..n times n is the sum over all tokens; that over the cached ones is taken off.
    every = prompt * _mixing_flops(model, prompt, "causal", gpus, absorbed=False)
    known = cached * _mixing_flops(model, np.maximum(cached, 1), "causal", gpus, absorbed=False)
    kv = kv_bytes(
        model,
        prompt,
        batch=sequences,
        tensor_parallel=gpus,
        kv_dtype=formats.get("kv_dtype", "bf16"),
        layout=formats.get("layout", "latent"),
    )
    tokens = sequences * (prompt - cached)
    attention = sequences * (every - known)
    latents = formats.get("layout", "latent") == "latent" and not any(map(picks_tokens, model.mixers))
    made = sequences * prompt if latents else tokens
    return _work(model, gpus, sequences, (tokens, made, sequences), kv, attention, formats, decodes=False)


def _work(
    model: ModelSpec,
    gpus: Floats,
    sequences: Floats,
    tokens: tuple[Floats, Floats, Floats],  # that run, whose latents become keys and values, and that are sampled from
    kv: Floats,
    attention: Floats,
    formats: ServingFormats,
    *,
    decodes: bool,
) -> ServingWork:
    """What decode and prefill have in common: matrices, states, messages."""
    run, made, sampled = tokens
    flops: dict[str, Floats] = defaultdict(lambda: np.zeros(()))
    matmuls = 0
    absorbed = decodes and formats.get("layout", "latent") == "latent"
    for one in served_matrices(model, gpus, formats, absorbed=absorbed):
        meets = sampled if one.is_head else made if one.matrix.label == EXPANSION else run
        flops[one.dtype] = flops[one.dtype] + one.flops * meets
        matmuls += one.layers
    state = state_traffic_bytes(
        model,
        batch=sequences,
        state_dtype=formats.get("state_dtype", "fp32"),
        conv_dtype=formats.get("conv_dtype", "fp32"),
        tensor_parallel=gpus,
    )
    halves = sum((layer.mixer is not None) + (layer.mlp is not None) for layer in model.layers)
    return ServingWork(
        weight_bytes=weight_read_bytes(model, run, gpus, formats),
        kv_bytes=kv,
        state_bytes=state if decodes else state / 2,
        matmul_flops=dict(flops),
        attention_flops=attention,
        tokens=run,
        token_message_bytes=model.hidden_size * _ACTIVATION_BYTES,
        num_messages=halves + 1,  # after each mixer and each MLP, and of the embedding, split by vocabulary
        num_layers=model.num_layers,
        num_matmuls=matmuls,
        num_mixers=sum(layer.mixer is not None for layer in model.layers),
    )


def _mixing_flops(model: ModelSpec, tokens: Floats, view: View, gpus: Floats, *, absorbed: bool) -> Floats:
    """FLOPs of token mixing for one token of all layers, on one GPU. Sparse kernels read latents. [FLOP per token]"""
    total: Floats = 0.0 * (tokens * gpus)
    for layer, count in model.layer_counts.items():
        if layer.mixer:
            latent = absorbed or picks_tokens(layer.mixer)
            for part in mixing(layer.mixer, tokens, view, tensor_parallel=gpus, absorbed=latent):
                total = total + count * part.flops
    return total


def _tokens(name: str, value: ArrayLike) -> Floats:
    return whole(name, value, high=MOST_TOKENS)


def _sequences(batch: ArrayLike) -> Floats:
    return whole("batch", batch, high=MOST_SEQUENCES)


def _gpus(tensor_parallel: ArrayLike) -> Floats:
    return whole("tensor_parallel", tensor_parallel, high=MOST_GPUS)
