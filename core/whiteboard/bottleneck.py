"""Finding the limit on the whiteboard: roofline, MFU and HFU, floors of a training step, Amdahl.

Peaks are dense 16-bit, the format of the matrix products in all of these.
"""

from __future__ import annotations

from core import flops, roofline, scaling
from core.checks import positive, share, whole
from core.hardware import Accelerator

DTYPE = "bf16"


def ridge_point(accelerator: Accelerator) -> float:
    """Intensity from which compute is the limit: dense peak over memory bandwidth. [FLOP/byte]

    Source: Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785.
    """
    return roofline.ridge_point(accelerator, DTYPE)


def attainable_flops_per_s(accelerator: Accelerator, intensity: float) -> float:
    """The roof over an intensity: bandwidth times intensity, at most the dense peak. [FLOP/s]

    Source: as :func:`ridge_point`.
    """
    return float(roofline.attainable_flops_per_s(intensity, accelerator, DTYPE))


def square_matmul_intensity(size: float) -> float:
    """Intensity of an n x n by n x n product in a 16-bit format, each matrix moved once: n/3. [FLOP/byte]

    Source: Austin et al. 2025, How to Scale Your Model, chapter Rooflines.
    """
    return float(roofline.matmul_intensity(size, size, size))


def projection_intensity(tokens: float, inputs: float, outputs: float) -> float:
    """Intensity of a 16-bit projection of ``tokens`` vectors, weights and activations moved once. [FLOP/byte]

    Source: as :func:`square_matmul_intensity`.
    """
    return float(roofline.matmul_intensity(tokens, inputs, outputs))


def crossover_tokens(accelerator: Accelerator, weight_bytes: float) -> float:
    """Tokens of a step from which products that multiply in 16 bit are bound by compute: ridge x bytes / 2. [tokens]

    Counts the reads of weights alone. Source: Austin et al. 2025, How to Scale Your Model, chapter Inference.
    """
    return float(roofline.crossover_batch(accelerator, DTYPE, weight_bytes=weight_bytes))


def mfu(num_params: float, tokens_per_s_per_gpu: float, accelerator: Accelerator) -> float:
    """Model FLOPs utilization with 6 N a token, attention's own FLOPs left out. [-]

    Source: Chowdhery et al. 2022, arXiv:2204.02311, section 4.1.
    """
    per_token = scaling.training_flops(num_params, 1)
    peak = accelerator.peak_flops_per_s(DTYPE)
    return float(flops.utilization(tokens_per_s_per_gpu, per_token, num_gpus=1, peak_flops_per_s=peak))


def mfu_of_step(num_params: float, tokens: float, num_gpus: float, step_s: float, accelerator: Accelerator) -> float:
    """Model FLOPs utilization of a step of ``tokens`` on ``num_gpus`` with 6 N a token. [-]"""
    return step_floor_s(num_params, tokens, num_gpus, accelerator) / float(positive("step_s", step_s))


def hfu_with_full_recompute(model_flops_utilization: float) -> float:
    """HFU where each forward pass runs twice and nothing else is added: 8 N of work for 6 N of model. [-]

    An upper end: nobody makes the output head again. Source: Narayanan et al. 2021, arXiv:2104.04473, equation 3.
    """
    ratio = scaling.RECOMPUTED_FLOPS_PER_PARAM / scaling.MODEL_FLOPS_PER_PARAM
    return float(positive("model_flops_utilization", model_flops_utilization)) * ratio


def executed_flops_per_param(model_flops_utilization: float, hardware_flops_utilization: float) -> float:
    """FLOP that ran for each parameter and token, as MFU and HFU imply with 6 N in the MFU. [FLOP]

    Source: both are shares of one peak in one time (Chowdhery et al. 2022, arXiv:2204.02311, section 4.1), so their
    ratio is that of the FLOPs.
    """
    ratio = hfu_over_mfu(model_flops_utilization, hardware_flops_utilization)
    return scaling.MODEL_FLOPS_PER_PARAM * ratio


def hfu_over_mfu(model_flops_utilization: float, hardware_flops_utilization: float) -> float:
    """FLOPs that ran over FLOPs that the model needs. [-] Source: as :func:`executed_flops_per_param`."""
    below = float(positive("model_flops_utilization", model_flops_utilization))
    return float(positive("hardware_flops_utilization", hardware_flops_utilization)) / below


def causal_attention_over_6n(num_params: float, num_layers: float, hidden_size: float, seq_len: float) -> float:
    """Training FLOPs of causal attention's scores and sums, as a share of 6 N: half of 12 L h T over 6 N. [-]

    Where the heads together are as wide as the model. Source: Chowdhery et al. 2022, arXiv:2204.02311, appendix B
    counts 12 L H Q T without the mask; the mask leaves half.
    """
    whole_count = scaling.palm_flops_per_token(
        num_params, num_layers=num_layers, num_heads=1, head_dim=hidden_size, seq_len=seq_len
    )
    matrices = scaling.training_flops(num_params, 1)
    return float((whole_count - matrices) / 2 / matrices)


def hfu_with_recompute_and_attention(model_flops_utilization: float, attention_over_6n: float) -> float:
    """HFU where all is recomputed, attention is executed and counted, and the MFU beside it counts 6 N alone. [-]

    Source: as :func:`hfu_with_full_recompute` and :func:`causal_attention_over_6n`.
    """
    return hfu_with_full_recompute(model_flops_utilization) * (1 + attention_over_6n)


def training_time_s(
    num_params: float, tokens: float, num_gpus: float, model_flops_utilization: float, accelerator: Accelerator
) -> float:
    """Time of a training run at an MFU: 6 N D over what the GPUs achieve. [s]

    Source: Narayanan et al. 2021, arXiv:2104.04473, section 5.1, with model FLOPs; 6 N D of Kaplan et al. 2020.
    """
    rate = accelerator.peak_flops_per_s(DTYPE) * float(positive("model_flops_utilization", model_flops_utilization))
    time = scaling.training_time_s(num_params, tokens, num_gpus=num_gpus, flops_per_s=rate, recompute=False)
    return float(time)


def step_floor_s(num_params: float, tokens: float, num_gpus: float, accelerator: Accelerator) -> float:
    """The least time of one optimizer step: 6 N times its tokens, at the dense peak of all GPUs. [s]

    Source: as :func:`training_time_s`, at an MFU of one.
    """
    return training_time_s(num_params, tokens, num_gpus, 1.0, accelerator)


def amdahl_speedup(serial_share: float, workers: float) -> float:
    """Speedup where ``serial_share`` of the time does not divide among workers and the rest does evenly. [-]

    Source: Amdahl 1967, doi:10.1145/1465482.1465560.
    """
    divided = 1 - float(share("serial_share", serial_share))
    return speedup_of_part(divided, float(whole("workers", workers)))


def speedup_of_part(part_share: float, factor: float) -> float:
    """Speedup of a whole of which one share of the time becomes ``factor`` times faster and the rest stays. [-]

    Source: as :func:`amdahl_speedup`.
    """
    part = float(share("part_share", part_share))
    return 1 / (1 - part + part / float(positive("factor", factor)))


def time_after_hiding_s(step_s: float, exposed_share: float, hidden_share: float) -> float:
    """A step after ``hidden_share`` of its exposed waiting has gone behind work that runs anyway. [s]

    Amdahl's sum with the rest unchanged, so a floor: what hides also slows what it hides behind.
    """
    gone = float(share("exposed_share", exposed_share) * share("hidden_share", hidden_share))
    return float(positive("step_s", step_s)) * (1 - gone)


def bandwidth_share(moved_bytes: float, seconds: float, accelerator: Accelerator) -> float:
    """Share of the memory's pin rate that a kernel reaches: bytes over time over bandwidth. [-]

    Source: Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785: the slope of the roof.
    """
    reached = float(positive("moved_bytes", moved_bytes)) / float(positive("seconds", seconds))
    return reached / accelerator.hbm_bytes_per_s
