"""The KV cache on the whiteboard: bytes a token, what fits, what paging and sharing save, what a narrow cache gains."""

from __future__ import annotations

import numpy as np

from core.checks import positive, share, whole
from core.hardware import Accelerator
from core.kv_layers import GrowingCache, growing_cache
from core.model_spec import Attention, LatentAttention
from core.paged_attention import whole_pages
from core.whiteboard import serving

_ONE_GPU = np.ones(())


def token_bytes(num_layers: float, num_kv_heads: float, head_dim: float, element_bytes: float) -> float:
    """Keys and values of one token: 2 x layers x KV heads x head width x bytes of an element. [bytes]

    Source: Ainslie et al. 2023, arXiv:2305.13245, section 2.2; Kwon et al. 2023, arXiv:2309.06180, section 3.
    """
    cache = _separate(num_kv_heads, num_kv_heads, head_dim)
    return float(whole("num_layers", num_layers) * cache.elements * positive("element_bytes", element_bytes))


def cache_bytes(
    num_layers: float, num_kv_heads: float, head_dim: float, element_bytes: float, tokens: float, requests: float = 1
) -> float:
    """The cache of some requests of equal length, every token kept. [bytes] Source: as :func:`token_bytes`."""
    each = token_bytes(num_layers, num_kv_heads, head_dim, element_bytes)
    return each * float(whole("tokens", tokens) * whole("requests", requests))


def gqa_saving(num_attention_heads: float, num_kv_heads: float) -> float:
    """Cache with keys and values for each query head over one that groups share. [x]

    Source: Ainslie et al. 2023, arXiv:2305.13245, section 2.2.
    """
    return token_bytes(1, num_attention_heads, 1, 1) / token_bytes(1, num_kv_heads, 1, 1)


def latent_token_bytes(num_layers: float, latent_dim: float, rope_dim: float, element_bytes: float) -> float:
    """What multi-head latent attention keeps of a token: a latent and a shared rotary key in each layer. [bytes]

    Source: DeepSeek-AI 2024, arXiv:2405.04434, section 2.1 and table 1.
    """
    cache = _latent(latent_dim, rope_dim)
    return float(whole("num_layers", num_layers) * cache.elements * positive("element_bytes", element_bytes))


def latent_saving(num_heads: float, head_dim: float, latent_dim: float, rope_dim: float) -> float:
    """Cache of plain multi-head attention over that of latent attention, in the same layers and format. [x]

    Source: DeepSeek-AI 2024, arXiv:2405.04434, table 1: 2 n d against d_c + d_r elements.
    """
    return token_bytes(1, num_heads, head_dim, 1) / latent_token_bytes(1, latent_dim, rope_dim, 1)


def page_tail_bytes(block_tokens: float, kv_bytes_per_token: float, any_length_share: float = 1.0) -> float:
    """Empty end of a request's last block, on average over all lengths: (block - 1) / 2 tokens. [bytes]

    Args:
        block_tokens: [tokens]
        kv_bytes_per_token: [bytes]
        any_length_share: share of the requests whose length may end anywhere in a block; others fill theirs. [-]

    Source: Kwon et al. 2023, arXiv:2309.06180, section 4.3: at most one block a request is wasted.
    """
    block = float(whole("block_tokens", block_tokens, high=65_536))  # every length is counted below
    lengths = np.arange(1.0, block + 1)
    empty = float(np.mean(whole_pages(lengths, block) - lengths))
    ragged = float(share("any_length_share", any_length_share))
    return ragged * empty * float(positive("kv_bytes_per_token", kv_bytes_per_token))


def reserved_share_lost(mean_tokens: float, reserved_tokens: float) -> float:
    """Share of reserved cache that holds no token, where each request gets room for the longest one. [-]

    With the tokens held on average over a request's life, room for tokens still to come counts as empty too; with those
    held at its end, only what no token ever fills. Source: Kwon et al. 2023, arXiv:2309.06180, section 3.1.
    """
    return 1 - float(share("mean_tokens / reserved_tokens", mean_tokens / reserved_tokens))


def paged_requests(
    budget_bytes: float,
    kv_bytes_per_token: float,
    mean_tokens: float,
    block_tokens: float,
    any_length_share: float = 1.0,
) -> float:
    """Requests of a mean length that a paged cache holds at once, the empty end of a block included. [requests]

    Lengths that average out: what is held at one moment varies, and an engine keeps a margin or preempts.
    ``any_length_share`` is as in :func:`page_tail_bytes`.
    Source: Kwon et al. 2023, arXiv:2309.06180, section 4.
    """
    tail = page_tail_bytes(block_tokens, kv_bytes_per_token, any_length_share)
    each = mean_tokens * kv_bytes_per_token + tail
    return serving.requests_that_fit(budget_bytes, 0.0, each)


def shared_prefix_saved_bytes(prefix_tokens: float, requests: float, kv_bytes_per_token: float) -> float:
    """Cache that requests with a common prefix save if it is stored once: all copies but one. [bytes]

    The prefix fills whole blocks. Source: Kwon et al. 2023, arXiv:2309.06180, section 4.4.
    """
    copies = float(whole("requests", requests)) - 1
    return copies * float(whole("prefix_tokens", prefix_tokens)) * kv_bytes_per_token


def prefill_after_hits_s(
    num_params: float,
    prompt_tokens: float,
    hit_share: float,
    num_gpus: float,
    efficiency: float,
    accelerator: Accelerator,
) -> float:
    """Mean time of the forward pass over what a prefix cache did not serve: 2 N FLOP for each other token. [s]

    Attention is left out, to which served tokens still belong. Source: Zheng et al. 2023, arXiv:2312.07104.
    """
    missed = prompt_tokens * (1 - float(share("hit_share", hit_share)))
    return serving.prefill_s(num_params, missed, num_gpus, efficiency, accelerator)


def window_cache_share(seq_len: float, window: float) -> float:
    """Cache of a sliding-window layer over that of a full one at the same length: the last tokens alone are kept. [-]

    Source: Jiang et al. 2023, arXiv:2310.06825, section 2 (rolling buffer cache).
    """
    tokens = whole("seq_len", seq_len)
    full = _separate(1, 1, 1)
    rolling = growing_cache(
        Attention(num_heads=1, num_kv_heads=1, head_dim=1, v_head_dim=1, window=int(whole("window", window))),
        _ONE_GPU,
        expanded=False,
    )
    assert rolling is not None
    return float(rolling.held_tokens(tokens, uniform=False) / full.held_tokens(tokens, uniform=False))


def decode_attention_intensity(num_attention_heads: float, num_kv_heads: float, element_bytes: float) -> float:
    """FLOP for each byte of cache that attention reads in a decode step. [FLOP/byte]

    Every query head multiplies with each cached key and value element of its group once: 2 FLOP an element. Softmax,
    queries and outputs are left out, and a batch changes nothing. Source: Shazeer 2019, arXiv:1911.02150, section 3.
    """
    heads = float(whole("num_attention_heads", num_attention_heads))
    flops = 2 * float(_separate(heads, heads, 1).elements)
    return flops / token_bytes(1, num_kv_heads, 1, element_bytes)


def refetch_gain(
    num_params: float, kv_bytes_per_token: float, link_bytes_per_s: float, efficiency: float, accelerator: Accelerator
) -> float:
    """Time to compute a token's cache again over the time to fetch it from host memory. [x]

    Per GPU: where tensor parallelism splits the work, each GPU also fetches its share over its own link, so their
    number cancels, and so does the length. 2 N FLOP a token at a share of the dense 16-bit peak, attention left out.
    Source: identity; Kwon et al. 2023, arXiv:2309.06180, section 7.3, compares the two.
    """
    again = serving.prefill_s(num_params, 1.0, 1, efficiency, accelerator)
    return again / serving.kv_transfer_s(1.0, kv_bytes_per_token, link_bytes_per_s)


def tokens_that_weigh_as_much(weight_bytes: float, kv_bytes_per_token: float) -> float:
    """Cached tokens of all requests together whose cache is as large as the weights. [tokens]

    Below it a decode step reads mostly weights, above it mostly cache. Source: identity.
    """
    return float(positive("weight_bytes", weight_bytes) / positive("kv_bytes_per_token", kv_bytes_per_token))


def cache_share_of_step(weight_bytes: float, kv_bytes_per_request: float, batch: float) -> float:
    """Share of a decode step's bytes that is cache. [-] Source: Pope et al. 2022, arXiv:2211.05102, section 2.1."""
    whole_step = serving.decode_step_floor_s(weight_bytes, kv_bytes_per_request, batch, 1.0)
    return 1 - serving.decode_step_floor_s(weight_bytes, 0.0, batch, 1.0) / whole_step


def narrow_cache_speedup(weight_bytes: float, kv_bytes_per_request: float, batch: float, narrow_share: float) -> float:
    """Floor of a decode step over that with a cache of ``narrow_share`` the bytes, at the same batch. [x]

    At most 1 / narrow_share, where the weights are nothing beside the cache. Bytes alone: a kernel that widens the
    cache in a pass of its own gains nothing. Source: as :func:`cache_share_of_step`.
    """
    wide = serving.decode_step_floor_s(weight_bytes, kv_bytes_per_request, batch, 1.0)
    return wide / serving.decode_step_floor_s(weight_bytes, kv_bytes_per_request * narrow_share, batch, 1.0)


def _separate(num_attention_heads: float, num_kv_heads: float, head_dim: float) -> GrowingCache:
    """One layer of attention with keys and values of their own, as the core caches it."""
    width = int(whole("head_dim", head_dim))
    mixer = Attention(
        num_heads=int(whole("num_attention_heads", num_attention_heads)),
        num_kv_heads=int(whole("num_kv_heads", num_kv_heads)),
        head_dim=width,
        v_head_dim=width,
    )
    cache = growing_cache(mixer, _ONE_GPU, expanded=False)
    assert cache is not None
    return cache


def _latent(latent_dim: float, rope_dim: float) -> GrowingCache:
    """One layer of latent attention; what does not reach the cache is set to one."""
    mixer = LatentAttention(
        num_heads=1,
        q_lora_rank=None,
        kv_lora_rank=int(whole("latent_dim", latent_dim)),
        qk_nope_head_dim=1,
        qk_rope_head_dim=int(whole("rope_dim", rope_dim, low=0)),
        v_head_dim=1,
    )
    cache = growing_cache(mixer, _ONE_GPU, expanded=False)
    assert cache is not None
    return cache
