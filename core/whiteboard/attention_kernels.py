"""Attention and kernels on the whiteboard: scores and their traffic, tiles, FLOPs, launches, fusion.

Bytes are those of 16-bit elements. Traffic counts no cache unless it says so, times are floors.
"""

from __future__ import annotations

from core import launches
from core.attention_cost import tiled_flops
from core.attention_io import hbm_bytes, least_bytes, score_bytes
from core.attention_shapes import AttentionShape
from core.checks import positive, share, whole
from core.hardware import Accelerator
from core.online_softmax import online_softmax
from core.roofline import time_floor_s
from core.whiteboard.bottleneck import speedup_of_part
from core.whiteboard.hardware import move_floor_s

ELEMENT_BYTES = 2
DTYPE = "bf16"
PARAMS_PER_SQUARE = 12  # of a GPT layer, in h^2: 4 around attention and 8 in an MLP of 4 h


def score_matrix_bytes(seq_len: float, heads: float = 1, batch: float = 1) -> float:
    """The size of one matrix of scores for each head and sequence: 2 s^2 each. [bytes]

    A size; the traffic is several passes over it. Source: Dao et al. 2022, arXiv:2205.14135, algorithm 0.
    """
    return float(score_bytes(seq_len, heads=heads, batch=batch))


def unfused_forward_bytes(seq_len: float, head_dim: float, heads: float = 1) -> float:
    """HBM traffic of one sequence's forward pass with scores written out: 4 passes, and Q, K, V, O once. [bytes]

    No mask, no dropout. Source: Dao et al. 2022, arXiv:2205.14135, algorithm 0.
    """
    return float(hbm_bytes(seq_len, head_dim, heads=heads, tiled=False))


def unfused_training_bytes(seq_len: float, head_dim: float, heads: float = 1) -> float:
    """The same forward and backward: 11 passes over score-sized matrices. [bytes]

    Source: Dao et al. 2022, arXiv:2205.14135, algorithms 0 and 3.
    """
    return float(hbm_bytes(seq_len, head_dim, heads=heads, tiled=False, backward=True))


def scores_held_bytes(seq_len: float, heads: float = 1, batch: float = 1) -> float:
    """What an unfused forward pass holds at its peak: the scores and their softmax. [bytes]

    Source: Dao et al. 2022, arXiv:2205.14135, algorithm 0, which writes both.
    """
    return 2 * score_matrix_bytes(seq_len, heads, batch)


def tiled_bound_bytes(seq_len: float, head_dim: float, query_rows: float, heads: float = 1) -> float:
    """HBM traffic of a tiled forward pass if no cache helps: an upper bound. [bytes]

    Each tile of queries stays on the chip while keys and values pass: Q and O once, K and V s / rows times. No mask.
    Source: Dao 2023, arXiv:2307.08691, algorithm 1.
    """
    one = float(whole("seq_len", seq_len) * whole("head_dim", head_dim))
    visits = seq_len / float(whole("query_rows", query_rows))
    return ELEMENT_BYTES * float(whole("heads", heads)) * (2 * one + 2 * one * visits)


def tiled_floor_bytes(seq_len: float, head_dim: float, heads: float = 1) -> float:
    """HBM traffic of a tiled forward pass if caches catch every reread: each operand and one statistic a row. [bytes]

    Source: Dao 2023, arXiv:2307.08691, section 3.1.
    """
    return float(least_bytes(seq_len, head_dim, heads=heads))


def least_traffic_ratio(seq_len: float, head_dim: float, query_rows: float) -> float:
    """Traffic unfused over tiled with no cache's help for the tiled kernel: a lower bound on the saving. [-]"""
    return unfused_forward_bytes(seq_len, head_dim) / tiled_bound_bytes(seq_len, head_dim, query_rows)


def statistic_bytes(seq_len: float, heads: float = 1) -> float:
    """What a tiled kernel keeps for the backward pass beside its output: one FP32 log-sum-exp a row. [bytes]

    Source: Dao 2023, arXiv:2307.08691, section 3.1.1.
    """
    return 4 * float(whole("seq_len", seq_len) * whole("heads", heads))


def tile_bytes(query_rows: float, key_rows: float, head_dim: float) -> float:
    """A tile of queries, one of keys and one of values on the chip; sums and scores lie in registers. [bytes]"""
    rows = whole("query_rows", query_rows) + 2 * whole("key_rows", key_rows)
    return ELEMENT_BYTES * float(rows * whole("head_dim", head_dim))


def attention_flops(seq_len: float, heads: float, head_dim: float, batch: float = 1, causal: float = 0) -> float:
    """FLOPs of a layer's two forward products, scores and weighted values: 4 s^2 a d, half under a causal mask. [FLOP]

    Source: Dao 2023, arXiv:2307.08691, section 4.1.
    """
    pairs = float(whole("seq_len", seq_len)) ** 2 * float(whole("heads", heads) * whole("batch", batch))
    return 4 * pairs * float(whole("head_dim", head_dim)) / (2 if causal else 1)


def attention_share(seq_len: float, hidden_size: float) -> float:
    """Causal attention's FLOPs over those of a GPT layer's matrices: 2 s h over 24 h^2. [-]

    Heads together as wide as the model, all with keys of their own, an MLP of 4 h.
    Source: Narayanan et al. 2021, arXiv:2104.04473, appendix, where s/(6h) is without the mask.
    """
    matrices = 2 * PARAMS_PER_SQUARE * hidden_size**2  # FLOP a token, forward
    return attention_flops(seq_len, 1, hidden_size, causal=1) / seq_len / matrices


def crossing_tokens(hidden_size: float) -> float:
    """Length at which that share is one: 12 h. [tokens]"""
    return 1 / attention_share(1, hidden_size)


def rescale(old_max: float, new_max: float) -> float:
    """Factor on all that an online softmax has summed when the maximum rises: exp(old - new). [-]

    Source: Milakov and Gimelshein 2018, arXiv:1805.02867, algorithm 3.
    """
    *_, last = online_softmax([old_max, new_max], [0.0, 0.0], tile=1)
    return float(last.rescale[0])


def tiled_training_flops(forward_flops: float) -> float:
    """A tiled kernel's products forward and backward, from the forward ones: 2 and 5 of equal size. [FLOP]

    Source: Dao 2023, arXiv:2307.08691, section 4.1: the backward pass counts 2.5 forward ones.
    """
    one = AttentionShape("full attention", heads=1, kv_heads=1, head_dim=1, v_head_dim=1)
    forward, backward = (float(tiled_flops(one, 1, batch=1, backward=b, causal=False)) for b in (False, True))
    return forward_flops * (forward + backward) / forward


def unfused_training_flops(forward_flops: float) -> float:
    """The same with scores kept: 2 products forward and 4 backward, as none is made again. [FLOP]

    Source: Dao et al. 2022, arXiv:2205.14135, algorithms 0 and 3.
    """
    return forward_flops * 3


def moved_floor_s(num_bytes: float, accelerator: Accelerator) -> float:
    """The least time to move bytes through the main memory, at its pin rate. [s]"""
    return move_floor_s(num_bytes, accelerator.hbm_bytes_per_s)


def kernel_floor_s(flops: float, num_bytes: float, accelerator: Accelerator) -> float:
    """The least time of one kernel: products at the dense 16-bit peak or bytes at the pin rate. [s]

    Exponentials are left out. Source: Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785.
    """
    peak = accelerator.peak_flops_per_s(DTYPE)
    return float(time_floor_s(flops, num_bytes, peak_flops_per_s=peak, bytes_per_s=accelerator.hbm_bytes_per_s))


def graph_gain(kernels: float, launch_s: float, work_s: float, graph_launch_s: float) -> float:
    """A step's speedup when one graph replaces a queue of launches. [-]

    Before, the later of two runners, the queue or the GPU; after, one launch and then the GPU without gaps.
    Source: NVIDIA, CUDA Graph Best Practice for PyTorch; :func:`core.launches.step_s`.
    """
    after = float(positive("work_s", work_s) + positive("graph_launch_s", graph_launch_s))
    return float(launches.step_s(work_s, kernels, launch_s=launch_s)) / after


def fusion_gain(touched_share: float, factor: float) -> float:
    """A step's speedup when fusion makes a share of it ``factor`` times faster. [-] Source: Amdahl 1967."""
    return speedup_of_part(float(share("touched_share", touched_share)), factor)
