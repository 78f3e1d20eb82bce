"""Prefix caching: prompts that begin alike share their cache, which saves prefill and memory."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, whole
from core.kv_cache import KvOptions, kv_bytes
from core.model_spec import ModelSpec
from core.paged_attention import MOST_TOKENS
from core.serving_work import prefill_work


def cached_tokens(prompt_len: ArrayLike, hit_share: ArrayLike, *, block_tokens: ArrayLike = 16) -> Floats:
    """Tokens of a prompt that a prefix cache serves.

    Args:
        prompt_len: tokens of the prompt. [tokens]
        hit_share: share of them that an earlier prompt began with, 0 to 1. [-]
        block_tokens: only whole blocks are shared; 16 is vLLM's default, 1 shares any length. [tokens]

    Returns:
        [tokens], broadcast: whole blocks, and never the last token, which runs to give the first answer.

    Source: Zheng et al. 2023, arXiv:2312.07104 (reuse of shared prefixes); vLLM's page "Automatic Prefix Caching".
    """
    prompt, share = np.broadcast_arrays(
        whole("prompt_len", prompt_len, high=MOST_TOKENS), not_negative("hit_share", hit_share)
    )
    if np.any(share > 1):
        raise ValueError(f"hit_share={float(share[share > 1].flat[0]):.12g} must be a share from 0 to 1")
    block = whole("block_tokens", block_tokens, high=MOST_TOKENS)
    return np.asarray(np.minimum(np.floor(prompt * share), prompt - 1) // block * block)


def prefill_saved_share(model: ModelSpec, prompt_len: ArrayLike, cached: ArrayLike) -> Floats:
    """Share of a prompt's FLOPs that its cached tokens save: less than their share, for later tokens attend to them."""
    return 1 - prefill_work(model, prompt_len, cached_tokens=cached).flops / prefill_work(model, prompt_len).flops


def shared_prefix_bytes(
    model: ModelSpec, prefix_len: ArrayLike, sequences: ArrayLike, **options: Unpack[KvOptions]
) -> Floats:
    """Cache that sequences with a common prefix save on each GPU: all copies of it but one.

    Args:
        model: the model. Windows and constant states save what they hold at the prefix's end, if the engine keeps it.
        prefix_len: tokens that all sequences begin with. [tokens]
        sequences: held at once. [sequences]
        options: conventions, see :class:`core.kv_cache.KvOptions`.

    Returns:
        (n - 1) x cache of the prefix [bytes per GPU], broadcast.
    """
    copies = whole("sequences", sequences) - 1
    return np.asarray(copies * kv_bytes(model, prefix_len, **options))
