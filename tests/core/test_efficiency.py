"""Defaults are shares, follow the architecture, and agree with the measurements they name."""

from dataclasses import fields

import pytest

from core.efficiency import MATMUL_SHARES, REASONS, Efficiency, Overlap
from core.hardware import load_accelerators

GPUS = load_accelerators()


@pytest.mark.parametrize("gpu", GPUS.values(), ids=list(GPUS))
def test_every_accelerator_has_shares_between_0_and_1(gpu):
    rates = Efficiency.of(gpu)
    shares = [rates.matmul_share, rates.attention_share, rates.bandwidth_share, rates.job_share]
    assert all(0 < share <= 1 for share in shares)
    assert all(0 <= getattr(rates.overlap, field.name) <= 1 for field in fields(Overlap))


def test_every_overlap_has_a_reason():
    assert list(REASONS) == [field.name for field in fields(Overlap)]


def test_shares_follow_the_architecture():
    assert Efficiency.of(GPUS["a100-sxm-80gb"]).matmul_share == MATMUL_SHARES["Ampere"]
    assert Efficiency.of(GPUS["h100-sxm"]).matmul_share == MATMUL_SHARES["Hopper"]
    assert Efficiency.of(GPUS["mi300x"]).matmul_share == Efficiency().matmul_share


# One H200, PyTorch 2.11: 670 to 780 of 989 TFLOP/s for large bf16 products; 8192 x 8192 x 8192 in 1.58 ms.
def test_hopper_multiplies_as_measured():
    share = MATMUL_SHARES["Hopper"]
    assert 670 / 989 < share < 780 / 989
    measured = 2 * 8192**3 / 1.58e-3 / 989.4e12
    assert share == pytest.approx(measured, rel=0.1)


# The same card: a product with one row reads 134 MB of weights in 35 us; its memory does 4.8 TB/s.
def test_bandwidth_share_is_that_of_a_thin_product():
    read = 2 * 8192**2 / 34.9e-6
    assert read / 4.8e12 == pytest.approx(Efficiency().bandwidth_share, abs=0.01)


# By hand in units of h for a Llama layer, MLP 3.5 h, keys and values h/8 each. Forward: around each of two parts a norm
# and a residual sum move 5; rotary positions 1.125 in and out; the gate reads two widths and writes one. Kept: the
# inputs of two norms and two parts, queries, keys and values, attention's output, three MLP widths. The backward pass
# moves twice as much as the forward pass.
def test_a_kept_activation_passes_the_memory_about_four_times():
    forward = 10 + 2 * 1.125 + 3 * 3.5
    kept = 4 + 1.25 + 1 + 3 * 3.5
    passes = Efficiency().forward_passes + Efficiency().backward_passes
    assert 3 * forward / kept == pytest.approx(passes, rel=0.05)
