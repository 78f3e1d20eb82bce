"""Precision on the whiteboard: what formats reach and cost, loss scaling, and what a loss spike costs.

Sizes of elements come in bytes here too, as all sizes do: 4 bits are half a byte.
"""

from __future__ import annotations

import math

from core.checks import positive, share, whole
from core.float_formats import FLOAT_FORMATS
from core.precision import effective_bits, quantized_bytes
from core.units import BITS_PER_BYTE
from core.whiteboard.bottleneck import speedup_of_part

INT8_LEVELS = 127  # a side; the code -128 is left out so that the grid is symmetric


def largest_loss_scale_exponent(largest_gradient: float) -> float:
    """Exponent of the largest power of two that keeps a gradient within FP16: 2^k g at most 65,504. [-]

    Source: Micikevicius et al. 2017, arXiv:1710.03740, section 3.2.
    """
    room = FLOAT_FORMATS["fp16"].largest / float(positive("largest_gradient", largest_gradient))
    return float(math.floor(math.log2(room)))


def smallest_loss_scale_exponent(gradient: float) -> float:
    """Exponent of the smallest power of two that makes a gradient a normal FP16 number: 2^k g at least 2^-14. [-]

    Source: Micikevicius et al. 2017, arXiv:1710.03740, section 3.2.
    """
    short = FLOAT_FORMATS["fp16"].smallest_normal / float(positive("gradient", gradient))
    return float(math.ceil(math.log2(short)))


def powers_above_bf16_floor(gradient: float) -> float:
    """Powers of two between a gradient and BF16's smallest normal number, 2^-126. [-]

    Source: Kalamkar et al. 2019, arXiv:1905.12322 (the exponent of FP32).
    """
    return math.log2(float(positive("gradient", gradient)) / FLOAT_FORMATS["bf16"].smallest_normal)


def e4m3_multiplier(largest_value: float) -> float:
    """What a tensor is multiplied by so that its largest magnitude becomes E4M3's, 448. [-]

    Libraries often keep the inverse. Source: Micikevicius et al. 2022, arXiv:2209.05433, section 3 and table 1.
    """
    return FLOAT_FORMATS["e4m3"].largest / float(positive("largest_value", largest_value))


def e5m2_multiplier(largest_value: float) -> float:
    """What a tensor is multiplied by so that its largest magnitude becomes E5M2's, 57,344. [-] Source: as above."""
    return FLOAT_FORMATS["e5m2"].largest / float(positive("largest_value", largest_value))


def stored_element_bytes(element_bytes: float, scale_bytes: float, block_size: float) -> float:
    """What one element occupies with its share of its block's scale. [bytes]

    Source: identity; OCP Microscaling Formats (MX) Specification 1.0, section 5, for blocks of 32.
    """
    bits = effective_bits(element_bytes * BITS_PER_BYTE, scale_bits=scale_bytes * BITS_PER_BYTE, block_size=block_size)
    return float(bits) / BITS_PER_BYTE


def quantized_weight_bytes(num_params: float, element_bytes: float, scale_bytes: float, block_size: float) -> float:
    """All of a model's weights in such a format. [bytes] Embeddings and norms too, which published files leave wide."""
    return float(
        quantized_bytes(
            num_params,
            element_bytes * BITS_PER_BYTE,
            scale_bits=scale_bytes * BITS_PER_BYTE,
            block_size=block_size,
        )
    )


def int8_step(largest_value: float) -> float:
    """Distance between neighbours of a symmetric INT8 grid that ends at the largest magnitude. [-]

    Source: Wu et al. 2020, arXiv:2004.09602, section 3.1.2.
    """
    return float(positive("largest_value", largest_value)) / INT8_LEVELS


def int8_rounding_rms(largest_value: float) -> float:
    """Root mean square error of rounding to that grid: step / sqrt(12), for errors spread evenly over a step. [-]

    Source: Gray and Neuhoff 1998, doi:10.1109/18.720541.
    """
    return int8_step(largest_value) / math.sqrt(12)


def bf16_lost_increase(weight: float) -> float:
    """The largest increase that a BF16 weight rounds away, the weight a power of two: half a spacing. [-]

    The tie goes to the even mantissa, which a power of two has. Source: IEEE 754-2019, section 4.3.1 (ties to even).
    """
    return FLOAT_FORMATS["bf16"].spacing(weight) / 2


def faster_matmul_speedup(matmul_share: float, matmul_speedup: float) -> float:
    """Speedup of a step of which only the matrix products run faster. [x] Source: Amdahl 1967."""
    part = share("matmul_share", matmul_share)
    return speedup_of_part(float(part), float(positive("matmul_speedup", matmul_speedup)))


def steps_to_grow(doublings: float, growth_interval: float) -> float:
    """Steps without an overflow after which a dynamic loss scale has grown so many times. [steps]

    One overflow sets the count to zero. Source: PyTorch documentation, torch.amp.GradScaler.
    """
    return float(whole("doublings", doublings) * whole("growth_interval", growth_interval))


def adam_contribution(gradient_ratio: float, beta1: float, beta2: float) -> float:
    r"""What one gradient of r times the usual size adds to Adam's update in its own step, in learning rates. [-]

    With :math:`v = g^2` until then, and what earlier gradients left in the first moment not counted:
    :math:`(1-\beta_1) r / \sqrt{\beta_2 + (1-\beta_2) r^2}`, at most :math:`(1-\beta_1)/\sqrt{1-\beta_2}`.
    Source: Kingma and Ba 2014, arXiv:1412.6980, algorithm 1 and section 2.1.
    """
    ratio, first, second = (
        float(positive(name, value))
        for name, value in (("gradient_ratio", gradient_ratio), ("beta1", beta1), ("beta2", beta2))
    )
    return (1 - first) * ratio / math.sqrt(second + (1 - second) * ratio**2)


def half_life_steps(beta: float) -> float:
    """Steps after which an exponential average has forgotten half of what it held: log(1/2) over log(beta). [steps]

    Source: identity.
    """
    return math.log(0.5) / math.log(float(positive("beta", beta)))


def repeated_work_share(events: float, repeated_steps: float, total_steps: float) -> float:
    """Steps that are run twice over all steps of a run, if each spike goes back by so many. [-]

    Batches that are skipped cost data and no time: others take their place. Source: identity; the procedure is that of
    Chowdhery et al. 2022, arXiv:2204.02311, section 5.1.
    """
    again = float(whole("events", events) * positive("repeated_steps", repeated_steps))
    return again / float(positive("total_steps", total_steps))
