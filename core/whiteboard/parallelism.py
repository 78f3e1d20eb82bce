"""Parallelism on the whiteboard: bubbles, degrees of a mesh, and what each axis sends."""

from __future__ import annotations

import numpy as np

from core.collectives import bytes_per_rank
from core.hardware import Accelerator
from core.kv_layers import heads_per_gpu
from core.parallelism import in_flight_micro_batches, pipeline_bubble
from core.rounding import rounded_up
from core.scaling import training_time_s
from core.whiteboard.communication import data_parallel_bytes
from core.zero import zero_memory

ELEMENT_BYTES = 2  # activations, keys and values in 16 bits


def bubble_share(stages: float, micro_batches: float) -> float:
    """Idle share of a stage's whole step under GPipe or 1F1B: (p - 1) / (m + p - 1). [-]

    Source: Huang et al. 2019, arXiv:1811.06965, section 2.3.
    """
    return float(pipeline_bubble(stages, micro_batches).of_total)


def interleaved_bubble(stages: float, micro_batches: float, virtual_stages: float) -> float:
    """Idle time over ideal time when each stage holds v chunks of layers: (p - 1) / (v m). [-]

    Source: Narayanan et al. 2021, arXiv:2104.04473, section 2.2.2.
    """
    return float(pipeline_bubble(stages, micro_batches, virtual_stages=virtual_stages).of_ideal)


def min_micro_batches(stages: float, largest_share: float) -> float:
    """Fewest micro-batches whose bubble takes no more than a share of the step, without interleaving. [micro-batches]

    Source: :func:`bubble_share` solved for m: (p - 1) (1 - x) / x.
    """
    return float(max(1, rounded_up((stages - 1) * (1 - largest_share) / largest_share)))


def replicas(num_gpus: float, tensor_parallel: float, pipeline_parallel: float, context_parallel: float = 1) -> float:
    """Data-parallel degree: GPUs over those that one copy of the model takes. [replicas]

    Source: identity; Narayanan et al. 2021, arXiv:2104.04473, section 3: p t d = n.

    Raises:
        ValueError: a copy's GPUs do not divide the cluster.
    """
    copy = tensor_parallel * pipeline_parallel * context_parallel
    count, rest = divmod(num_gpus, copy)
    if rest or count < 1:
        raise ValueError(f"{num_gpus=} is no multiple of a copy's {copy:g} GPUs")
    return float(count)


def micro_batches_per_replica(global_batch: float, num_replicas: float) -> float:
    """Micro-batches of one sequence that each replica's pipeline runs in a step. [micro-batches]

    Source: identity. Raises ValueError where the batch does not divide.
    """
    count, rest = divmod(global_batch, num_replicas)
    if rest:
        raise ValueError(f"{num_replicas=} does not divide {global_batch=}")
    return float(count)


def hidden_bytes(seq_len: float, micro_batch_size: float, hidden_size: float) -> float:
    """One 16-bit hidden tensor, 2 s b h: what crosses a pipeline boundary, and what tensor parallelism reduces. [bytes]

    Source: Narayanan et al. 2021, arXiv:2104.04473, section 3.2.
    """
    return ELEMENT_BYTES * seq_len * micro_batch_size * hidden_size


def tensor_layer_bytes(seq_len: float, micro_batch_size: float, hidden_size: float, tensor_parallel: float) -> float:
    """What one GPU sends in one layer's forward pass for tensor parallelism: two ring all-reduces. [bytes]

    With sequence parallelism each becomes a reduce-scatter and an all-gather of the same volume.
    Source: Shoeybi et al. 2019, arXiv:1909.08053, section 3; Korthikanti et al. 2022, arXiv:2205.05198, section 4.2.2.
    """
    size = hidden_bytes(seq_len, micro_batch_size, hidden_size)
    return 2 * float(bytes_per_rank("all_reduce", size, tensor_parallel))


def tensor_step_bytes(
    seq_len: float, sequences: float, hidden_size: float, num_layers: float, tensor_parallel: float
) -> float:
    """What one GPU sends for tensor parallelism in a step, forward and backward, over its own layers. [bytes]

    A layer that is recomputed whole sends a third time, which is left out. Source: :func:`tensor_layer_bytes`.
    """
    return 2 * num_layers * tensor_layer_bytes(seq_len, sequences, hidden_size, tensor_parallel)


def pipeline_step_bytes(seq_len: float, sequences: float, hidden_size: float, tensor_parallel: float = 1) -> float:
    """What a GPU of an inner stage sends in a step, not interleaved: activations on, gradients back. [bytes]

    Each of the tensor-parallel GPUs sends its slice of the boundary.
    Source: Narayanan et al. 2021, arXiv:2104.04473, sections 3.2 and 4.1 (scatter/gather).
    """
    return 2 * hidden_bytes(seq_len, sequences, hidden_size) / tensor_parallel


def tensor_layer_floor_s(
    seq_len: float, micro_batch_size: float, hidden_size: float, tensor_parallel: float, accelerator: Accelerator
) -> float:
    """Those bytes over the accelerator's scale-up rate, one way: a floor. [s]

    Raises:
        ValueError: the accelerator has no scale-up link.
    """
    if accelerator.scale_up_bytes_per_s is None:
        raise ValueError(f"{accelerator.name} has no scale-up link")
    sent = tensor_layer_bytes(seq_len, micro_batch_size, hidden_size, tensor_parallel)
    return sent / accelerator.scale_up_bytes_per_s


def layer_forward_floor_s(
    seq_len: float, micro_batch_size: float, hidden_size: float, tensor_parallel: float, accelerator: Accelerator
) -> float:
    """Least time of one GPT layer's forward products on one of t GPUs, at dense 16-bit peak. [s]

    24 b s h^2 FLOPs in matrices and 2 b s^2 h in causal attention.
    Source: Narayanan et al. 2021, arXiv:2104.04473, appendix (24 B s h^2 + 4 B s^2 h); a causal mask halves the second.
    """
    tokens = seq_len * micro_batch_size
    flops = 24 * tokens * hidden_size**2 + 2 * tokens * seq_len * hidden_size
    return flops / tensor_parallel / accelerator.peak_flops_per_s("bf16")


def ring_hop_bytes(seq_len: float, context_parallel: float, num_kv_heads: float, head_dim: float) -> float:
    """16-bit keys and values of one rank's chunk, which ring attention passes on at each hop of a layer. [bytes]

    Source: Liu, Zaharia and Abbeel 2023, arXiv:2310.01889, section 3; fewer KV heads as in Ainslie et al. 2023.
    """
    return 2 * ELEMENT_BYTES * seq_len / context_parallel * num_kv_heads * head_dim


def ring_hidden_chunk(
    accelerator: Accelerator, bytes_per_s: float, hidden_size: float, kv_width: float, causal: float = 0
) -> float:
    """Tokens a rank from which a hop of ring attention takes no longer than the scores that it feeds. [tokens]

    A chunk of c queries against c keys is 4 c^2 h FLOPs, its keys and values are 4 c w bytes: c = peak w / (rate h).
    A causal mask balanced over the ranks halves the work and doubles c.
    Source: Liu, Zaharia and Abbeel 2023, arXiv:2310.01889, section 3: c at least peak over bandwidth, for w = h.
    """
    chunk = accelerator.peak_flops_per_s("bf16") / bytes_per_s * kv_width / hidden_size
    return chunk * (2 if causal else 1)


def kv_copies(tensor_parallel: float, num_kv_heads: float) -> float:
    """Copies of each KV head's cache within a tensor-parallel group: 1 until the heads run out. [-]

    Source: Pope et al. 2022, arXiv:2211.05102, section 3.3; vLLM divides KV heads, then replicates them.
    """
    held = heads_per_gpu(int(num_kv_heads), np.asarray(tensor_parallel, dtype=np.float64))
    return float(held * tensor_parallel / num_kv_heads)


def expert_exchange_bytes(experts_per_token: float, hidden_size: float, expert_parallel: float) -> float:
    """What one token sends through both all-to-alls of a MoE layer, in 16 bits, evenly routed. [bytes]

    A copy of the token goes to each of its experts and comes back; one in ``expert_parallel`` stays on its GPU.
    Source: Lepikhin et al. 2020, arXiv:2006.16668, section 3.
    """
    copies = experts_per_token * hidden_size * ELEMENT_BYTES
    one_way = bytes_per_rank("all_to_all", copies * expert_parallel, expert_parallel)  # a token on each rank
    return 2 * float(one_way)


def hybrid_shard_states_bytes(num_params: float, shard_group: float) -> float:
    """Adam's states on one GPU when they are sharded in a group and replicated over groups: 16 N / group. [bytes]

    Source: Zhao et al. 2023, arXiv:2304.11277, section 3.2.2.
    """
    return float(zero_memory(num_params, shard_group, stage=3).total_bytes)


def mesh_states_bytes(
    num_params: float, tensor_parallel: float, pipeline_parallel: float, data_parallel: float, stage: float
) -> float:
    """Adam's states on one GPU of a mesh, its share of the parameters then sharded by a ZeRO stage. [bytes]

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 1 (ZeRO beside model parallelism).
    """
    share = num_params / (tensor_parallel * pipeline_parallel)
    return float(zero_memory(share, data_parallel, stage=stage).total_bytes)


def first_stage_bytes(
    layer_bytes: float, num_layers: float, stages: float, micro_batches: float, virtual_stages: float = 1
) -> float:
    """Activations of the first pipeline stage under 1F1B, from what one layer keeps of one micro-batch. [bytes]

    Source: Korthikanti et al. 2022, arXiv:2205.05198, section 4.2.3.
    """
    in_flight = in_flight_micro_batches(stages, micro_batches, stage=0, virtual_stages=virtual_stages)
    return layer_bytes * num_layers / stages * float(in_flight)


def data_reduce_bytes(num_params: float, data_parallel: float) -> float:
    """What one GPU sends to reduce 16-bit gradients of its parameters over a ring, once a step. [bytes]

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 7.1.
    """
    return data_parallel_bytes(num_params, data_parallel, 0)


def step_compute_floor_s(
    num_params: float, tokens: float, num_gpus: float, accelerator: Accelerator, recompute: float = 0
) -> float:
    """Least time of one step's products, 6 N a token, or 8 N where every layer is recomputed, at dense 16-bit peak. [s]

    Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1; Narayanan et al. 2021, arXiv:2104.04473, section 5.1.
    """
    peak = accelerator.peak_flops_per_s("bf16")
    return float(training_time_s(num_params, tokens, num_gpus=num_gpus, flops_per_s=peak, recompute=bool(recompute)))
