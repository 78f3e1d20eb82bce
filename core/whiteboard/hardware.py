"""The machine on the whiteboard: what memory, links, launches and power allow.

Capacities come in as arguments: a drill shows the label's decimal GB, which is a little less than the card holds.
"""

from __future__ import annotations

import math

from core import launches, roofline, scaling
from core.attention_io import tile_sizes
from core.checks import positive, share, whole
from core.hardware import Accelerator
from core.units import BITS_PER_BYTE
from core.whiteboard.parallelism import hidden_bytes, tensor_layer_bytes

BF16_BYTES = 2


def move_floor_s(num_bytes: float, bytes_per_s: float) -> float:
    """The least time to move some bytes: bytes over bandwidth. [s]

    A floor: the printed rate from the first byte on. Source: Williams et al. 2009, doi:10.1145/1498765.1498785.
    """
    return float(roofline.time_floor_s(0.0, num_bytes, peak_flops_per_s=1.0, bytes_per_s=bytes_per_s))


def weight_read_floor_s(
    num_params: float, bytes_per_param: float, num_gpus: float, bytes_per_s_per_gpu: float
) -> float:
    """The least time of a decode step that reads all weights once, spread evenly over GPUs. [s]

    Source: Pope et al. 2022, arXiv:2211.05102, section 2.1.
    """
    rate = float(whole("num_gpus", num_gpus) * positive("bytes_per_s_per_gpu", bytes_per_s_per_gpu))
    return move_floor_s(float(positive("num_params", num_params) * positive("bytes_per_param", bytes_per_param)), rate)


def gpus_for_weights(num_params: float, bytes_per_param: float, capacity_bytes: float, usable_share: float) -> float:
    """The fewest GPUs whose usable memory together holds the weights. [GPUs]

    Capacity alone: whether heads and layers divide by that number is another question, and so is room for a cache.
    Source: the sum itself; models are stored as parameters times bytes.
    """
    usable = float(positive("capacity_bytes", capacity_bytes) * share("usable_share", usable_share))
    return math.ceil(float(positive("num_params", num_params) * positive("bytes_per_param", bytes_per_param)) / usable)


def link_ratio(both_ways_bytes_per_s: float, port_bits_per_s: float) -> float:
    """How many times a port's rate the scale-up link has in one direction. [-]

    Args:
        both_ways_bytes_per_s: of the scale-up link as datasheets print it, both directions together. [bytes/s]
        port_bits_per_s: of the network port, which is printed in bits and for one direction. [bit/s]

    Source: NVIDIA datasheets (NVLink); InfiniBand and Ethernet rates.
    """
    one_way = float(positive("both_ways_bytes_per_s", both_ways_bytes_per_s)) / 2
    return one_way / (float(positive("port_bits_per_s", port_bits_per_s)) / BITS_PER_BYTE)


def key_block_rows(sram_bytes: float, head_dim: float) -> float:
    """Rows of keys in a tile of FlashAttention in a 16-bit format: M / (4 d), M the elements that fit. [rows]

    Source: Dao et al. 2022, arXiv:2205.14135, algorithm 1, line 1.
    """
    return float(tile_sizes(head_dim, sram_bytes, element_bytes=BF16_BYTES).key_rows)


def elementwise_floor_s(elements: float, tensors: float, accelerator: Accelerator) -> float:
    """The least time of an elementwise kernel in BF16 that moves ``tensors`` tensors (inputs and outputs) once. [s]

    Source: NVIDIA, GPU Performance Background: elementwise operations are bound by memory.
    """
    moved = float(positive("elements", elements) * whole("tensors", tensors)) * BF16_BYTES
    return move_floor_s(moved, accelerator.hbm_bytes_per_s)


def add_floor_s(elements: float, accelerator: Accelerator) -> float:
    """The least time of a sum of two BF16 tensors: two are read, one is written. [s] Source: as above."""
    return elementwise_floor_s(elements, 3, accelerator)


def unary_chain_floor_s(elements: float, operations: float, accelerator: Accelerator) -> float:
    """The least time of a chain of unary BF16 kernels: each reads and writes the tensor. [s] Source: as above."""
    return elementwise_floor_s(elements, 2 * float(whole("operations", operations)), accelerator)


def fusion_traffic_ratio(operations: float) -> float:
    """Traffic of a chain of unary operations over that of one fused kernel: 2 k passes over 2. [-]

    Source: Dao et al. 2022, arXiv:2205.14135, section 2.1: fusion loads the input once for several operations.
    """
    unfused_passes = 2 * float(whole("operations", operations))  # each reads its input and writes its output
    return unfused_passes / 2


def launch_share(kernels: float, launch_s: float, step_s: float) -> float:
    """The host's time for launches as a share of a step's time. [-]

    Exposed only where kernels are shorter than launches; see :mod:`core.launches`.
    """
    return float(launches.queue_s(kernels, launch_s=launch_s)) / float(positive("step_s", step_s))


def wave_efficiency(rows: float, columns: float, tile: float, num_sms: float) -> float:
    """Share of tile slots that a product's output fills: tiles over waves times SMs, one tile an SM and wave. [-]

    Source: NVIDIA, Matrix Multiplication Background, sections on tile and wave quantization.
    """
    edge, slots = float(whole("tile", tile)), float(whole("num_sms", num_sms))
    tiles = math.ceil(float(whole("rows", rows)) / edge) * math.ceil(float(whole("columns", columns)) / edge)
    return tiles / (math.ceil(tiles / slots) * slots)


def energy_cost(num_gpus: float, watts_per_gpu: float, seconds: float, price_per_joule: float) -> float:
    """The bill for a run's energy. [money]

    Args:
        num_gpus: all of them. [GPUs]
        watts_per_gpu: with its share of host, network and cooling. [W]
        seconds: of the run. [s]
        price_per_joule: a price per kWh over 3.6e6. [money/J]
    """
    power = float(whole("num_gpus", num_gpus) * positive("watts_per_gpu", watts_per_gpu))
    return power * float(positive("seconds", seconds)) * float(positive("price_per_joule", price_per_joule))


def hidden_state_bytes(tokens: float, hidden_size: float) -> float:
    """The 16-bit hidden states of some tokens: what an all-reduce sums and a pipeline stage hands on. [bytes]"""
    return hidden_bytes(float(whole("tokens", tokens)), 1, float(whole("hidden_size", hidden_size)))


def tensor_parallel_sent_bytes(tokens: float, hidden_size: float, tensor_parallel: float) -> float:
    """What a GPU sends for tensor parallelism in a layer's forward pass: two ring all-reduces of hidden states. [bytes]

    Source: Shoeybi et al. 2019, arXiv:1909.08053, section 3; ring volume as nccl-tests counts it.
    """
    return tensor_layer_bytes(
        float(whole("tokens", tokens)), 1, float(whole("hidden_size", hidden_size)), tensor_parallel
    )


def layer_forward_floor_s(
    layer_params: float, tokens: float, tensor_parallel: float, accelerator: Accelerator
) -> float:
    """The least time of a layer's matrix products forward: 2 FLOP a parameter and token, at the dense 16-bit peak. [s]

    Attention's scores are left out. Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1.
    """
    forward = float(scaling.training_flops(layer_params, tokens)) / 3  # of 6 N, backward makes 4
    return forward / (float(whole("tensor_parallel", tensor_parallel)) * accelerator.peak_flops_per_s("bf16"))


def peak_share_of_batch(batch: float, accelerator: Accelerator) -> float:
    """Share of the dense peak that a decode product can reach at a batch, 16-bit weights read once. [-]

    Batch over ridge point, at most one: each 2-byte weight makes 2 FLOP for each sequence. Activations left out.
    Source: Austin et al. 2025, How to Scale Your Model, chapter Inference.
    """
    return min(1.0, float(positive("batch", batch) / roofline.crossover_batch(accelerator, "bf16")))
