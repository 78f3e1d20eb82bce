"""Training memory on the whiteboard: model states, activations, adapters, and what sharding them costs in time."""

from __future__ import annotations

from core.activations import activation_bytes_per_layer, logits_bytes
from core.precision import quantized_bytes
from core.rounding import rounded_up
from core.whiteboard.communication import zero3_traffic_s
from core.zero import zero_memory, zero_peak

NF4_BITS = 4
QUANTIZED_SCALE_BITS = 8
FP32_BITS = 32


def zero_states_bytes(num_params: float, data_parallel: float, stage: float) -> float:
    """States of mixed-precision Adam on one GPU, 2 + 2 + 12 bytes a parameter before sharding. [bytes]

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 5 and figure 1.
    """
    return float(zero_memory(num_params, data_parallel, stage=stage).total_bytes)


def zero_saving(data_parallel: float, stage: float) -> float:
    """Unsharded states over sharded ones: 4 and 8 at stages 1 and 2 are limits for many GPUs. [-]

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 5.
    """
    return zero_states_bytes(1.0, 1, 0) / zero_states_bytes(1.0, data_parallel, stage)


def min_data_parallel(num_params: float, budget_bytes: float) -> float:
    """Fewest GPUs among which ZeRO-3 leaves each no more states than a budget. [GPUs]

    Source: identity from 16 bytes a parameter, Rajbhandari et al. 2020, arXiv:1910.02054, section 5.3.
    """
    return float(rounded_up(zero_states_bytes(num_params, 1, 3) / budget_bytes))


def fp32_gradient_states_bytes(num_params: float, data_parallel: float) -> float:
    """States on one GPU under ZeRO-3 when the only gradient kept is in FP32: 2 + 4 + 12 bytes. [bytes]

    Source: Megatron Core, guide "Distributed Optimizer", row of 16-bit parameters with fp32 gradients.
    """
    return float(zero_memory(num_params, data_parallel, stage=3, optimizer="adam-fp32-grads").total_bytes)


def eight_bit_adam_states_bytes(num_params: float, data_parallel: float) -> float:
    """States on one GPU under ZeRO-3 with 8-bit moments and an FP32 master: 2 + 2 + 4 + 2 (1 + 4/256) bytes. [bytes]

    Source: Dettmers et al. 2021, arXiv:2110.02861; blocks of 256 as in the library today.
    """
    return float(zero_memory(num_params, data_parallel, stage=3, optimizer="adam-8bit").total_bytes)


def one_momentum_states_bytes(num_params: float, data_parallel: float) -> float:
    """States on one GPU under ZeRO-3 with one FP32 momentum and an FP32 master: 2 + 2 + 4 + 4 bytes. [bytes]

    SGD with momentum and Muon keep this. Muon leaves embeddings, head and vectors to Adam, so a real model needs a
    little more. Source: Liu et al. 2025, arXiv:2502.16982, section 2.3.
    """
    return float(zero_memory(num_params, data_parallel, stage=3, optimizer="sgd-momentum").total_bytes)


def kept_layer_bytes(seq_len: float, micro_batch_size: float, hidden_size: float, num_attention_heads: float) -> float:
    """What one GPT layer keeps on one GPU, nothing recomputed, scores stored: s b h (34 + 5 a s / h). [bytes]

    Source: Korthikanti et al. 2022, arXiv:2205.05198, equation 1.
    """
    return float(
        activation_bytes_per_layer(
            seq_len=seq_len,
            micro_batch_size=micro_batch_size,
            hidden_size=hidden_size,
            num_attention_heads=num_attention_heads,
        )
    )


def selective_layer_bytes(
    seq_len: float, micro_batch_size: float, hidden_size: float, tensor_parallel: float, sequence_parallel: float = 1
) -> float:
    """What one GPT layer keeps on one GPU without its scores: 34 s b h / t with sequence parallelism. [bytes]

    Without it s b h (10 + 24 / t): norms and dropout stay whole.
    Selective recomputation drops the scores, and tiled attention never stores them; heads then do not count.
    Source: Korthikanti et al. 2022, arXiv:2205.05198, table 2.
    """
    return float(
        activation_bytes_per_layer(
            seq_len=seq_len,
            micro_batch_size=micro_batch_size,
            hidden_size=hidden_size,
            num_attention_heads=tensor_parallel,
            tensor_parallel=tensor_parallel,
            sequence_parallel=bool(sequence_parallel),
            recompute="selective",
        )
    )


def selective_model_bytes(
    seq_len: float, micro_batch_size: float, hidden_size: float, num_layers: float, tensor_parallel: float = 1
) -> float:
    """What all layers keep on one GPU without their scores, sequence parallelism on: 34 s b h / t a layer. [bytes]

    Source: :func:`selective_layer_bytes`.
    """
    return num_layers * selective_layer_bytes(seq_len, micro_batch_size, hidden_size, tensor_parallel)


def full_recompute_bytes(
    seq_len: float, micro_batch_size: float, hidden_size: float, num_layers: float, tensor_parallel: float = 1
) -> float:
    """What all layers keep if each is made again from its input: 2 s b h a layer. [bytes]

    With ``tensor_parallel`` above 1 the inputs are split along the sequence too (sequence parallelism).
    Source: Korthikanti et al. 2022, arXiv:2205.05198, table 2.
    """
    return num_layers * float(
        activation_bytes_per_layer(
            seq_len=seq_len,
            micro_batch_size=micro_batch_size,
            hidden_size=hidden_size,
            num_attention_heads=tensor_parallel,
            tensor_parallel=tensor_parallel,
            sequence_parallel=tensor_parallel > 1,
            recompute="full",
        )
    )


def logits_tensor_bytes(seq_len: float, micro_batch_size: float, vocab_size: float) -> float:
    """One FP32 copy of the logits of a micro-batch, vocabulary unsplit: 4 s b V. [bytes]

    Source: Korthikanti et al. 2022, arXiv:2205.05198, section 4.3.
    """
    return float(logits_bytes(seq_len=seq_len, micro_batch_size=micro_batch_size, vocab_size=vocab_size))


def accumulation_steps(global_batch: float, micro_batch_size: float, data_parallel: float) -> float:
    """Micro-batches that each rank runs before one optimizer step. [steps]

    Source: identity, global batch = micro-batch x ranks x steps.

    Raises:
        ValueError: the batch is no whole number of such rounds.
    """
    steps, rest = divmod(global_batch, micro_batch_size * data_parallel)
    if rest:
        raise ValueError(f"{global_batch=} is no multiple of {micro_batch_size * data_parallel:g} sequences a round")
    return float(steps)


def lora_states_bytes(rank: float, hidden_size: float, num_matrices: float) -> float:
    """Weights, gradients and Adam's states of adapters beside square matrices: 16 x 2 r h each, unsharded. [bytes]

    Source: Hu et al. 2021, arXiv:2106.09685, section 4.1: two matrices, h x r and r x h.
    """
    adapters = 2 * rank * hidden_size * num_matrices
    return zero_states_bytes(adapters, 1, 0)


def qlora_base_bytes(num_params: float, block_size: float, scale_block_size: float) -> float:
    """A frozen base in NF4 with double quantization. [bytes]

    4 bits a weight, an 8-bit scale a block of weights, an FP32 scale a block of scales.
    As if every weight were quantized; embeddings, head and norms stay in 16 bits in practice.
    Source: Dettmers et al. 2023, arXiv:2305.14314, section 3.
    """
    scale_bits = QUANTIZED_SCALE_BITS + FP32_BITS / scale_block_size
    return float(quantized_bytes(num_params, NF4_BITS, scale_bits=scale_bits, block_size=block_size))


def gathered_layers_bytes(num_params: float, data_parallel: float, num_layers: float) -> float:
    """What ZeRO-3 holds whole for a moment: weights of two layers, and one layer's gradients. [bytes]

    One layer is at work, one is fetched ahead. 16-bit tensors; layers are taken as equal shares of the model.
    Source: DeepSpeed's page "Memory Requirements" (largest layer's weights and gradients), and one layer of prefetch.
    """
    peak = zero_peak(num_params, data_parallel, stage=3, unit_params=num_params / num_layers)
    return float(peak.gathered_weight_bytes + peak.gradient_bucket_bytes)


def zero3_traffic_floor_s(num_params: float, data_parallel: float, bytes_per_s: float) -> float:
    """Least time in which one GPU sends what ZeRO-3 moves for one micro-batch: 3 passes over 16-bit weights. [s]

    ``bytes_per_s`` is one GPU's rate into the ring, one way. Full rate, no latency.
    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 7.2.2.
    """
    return zero3_traffic_s(num_params, data_parallel, bytes_per_s)


def tensor_zero1_states_bytes(num_params: float, data_parallel: float, tensor_parallel: float) -> float:
    """States on one GPU when tensor parallelism splits the model and ZeRO-1 the optimizer. [bytes]

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 5.1, on one tensor-parallel share.
    """
    return zero_states_bytes(num_params / tensor_parallel, data_parallel, 1)
