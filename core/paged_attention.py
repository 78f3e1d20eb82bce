"""KV memory in pages: the room that whole pages take, how many fit, and what the last one wastes.

Source: Kwon et al. 2023, arXiv:2309.06180, sections 3.1 and 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, numbers, positive, whole

MOST_TOKENS = 10**9  # the longest published context is ten million
MOST_BYTES = 2.0**53  # 9 PB, more than any node has; whole numbers are exact up to here


def whole_pages(tokens: ArrayLike, page_tokens: ArrayLike) -> Floats:
    """Tokens that the pages of ``tokens`` have room for: rounded up to whole pages. [tokens]"""
    page = np.asarray(page_tokens, dtype=np.float64)
    return np.ceil(np.asarray(tokens, dtype=np.float64) / page) * page


def num_blocks(
    budget_bytes: ArrayLike, bytes_per_token: ArrayLike, *, block_tokens: ArrayLike = 16
) -> NDArray[np.int64]:
    """Whole blocks that a KV budget holds, each with ``block_tokens`` tokens of every layer. [blocks]

    Args:
        budget_bytes: memory for the cache on one GPU; none, if weights leave a negative amount. [bytes]
        bytes_per_token: cache of one token on that GPU: ``kv_bytes_per_token`` with ``reservation="uniform"``. [bytes]
        block_tokens: tokens of one block; 16 is vLLM's default. [tokens]

    Returns:
        floor(budget / (block tokens x bytes a token)), in the broadcast shape of the inputs.

    Source: Kwon et al. 2023, arXiv:2309.06180, section 4.2.
    """
    budget = numbers("budget_bytes", budget_bytes)
    rate = positive("bytes_per_token", bytes_per_token)
    block = whole("block_tokens", block_tokens, high=MOST_TOKENS)
    return np.floor_divide(np.clip(budget, 0.0, MOST_BYTES), block * rate).astype(np.int64)


def waste(seq_len: ArrayLike, *, block_tokens: ArrayLike = 16) -> Floats:
    """Share of a sequence's blocks that holds no token: the empty end of the last one. [-]

    On average (block - 1) / 2 tokens, whatever the length: the longer the sequence, the smaller the share.

    Source: Kwon et al. 2023, arXiv:2309.06180, figure 2: under 4%.
    """
    tokens = whole("seq_len", seq_len, high=MOST_TOKENS)
    room = whole_pages(tokens, whole("block_tokens", block_tokens, high=MOST_TOKENS))
    return (room - tokens) / room
