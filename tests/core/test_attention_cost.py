"""What a layer of attention costs: a chain that adds up, a tiled kernel between two bounds, floors by hand."""

import numpy as np
import pytest

from core.attention_cost import METHODS, Chip, pass_cost, tiled_bytes, tiled_flops, unfused_kernels
from core.attention_io import PAPER_SRAM_BYTES, hbm_bytes
from core.attention_shapes import AttentionShape, layer_shapes
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.operators import model_operators
from tests.shapes import gqa

CARDS, MODELS = load_accelerators(), load_models()
H100, H200 = Chip.of(CARDS["h100-sxm"]), Chip.of(CARDS["h200-sxm"])
LLAMA = AttentionShape("full attention", 64, 8, 128, 128)
NARROW = AttentionShape("latent attention", 16, 16, 192, 128)


def both(shape, n, chip, method, batch=1):
    return sum_of(*(pass_cost(shape, n, batch=batch, chip=chip, method=method, backward=b) for b in (False, True)))


def sum_of(first, second):
    return first + second


@pytest.mark.parametrize("shape", [LLAMA, NARROW])
@pytest.mark.parametrize("backward", [False, True])
def test_the_kernels_of_the_chain_add_up_to_its_traffic(shape, backward):
    n = np.array([512.0, 4096.0])
    kernels = [
        kernel
        for part in ((False, True) if backward else (False,))
        for kernel in unfused_kernels(shape, n, batch=2, backward=part)
    ]
    moved = hbm_bytes(
        n,
        shape.head_dim,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        v_head_dim=shape.v_head_dim,
        batch=2,
        tiled=False,
        backward=backward,
    )
    assert sum(kernel.moved_bytes for kernel in kernels) == pytest.approx(moved)


# The same FLOPs as core.operators counts for the whole model.
@pytest.mark.parametrize(("method", "options"), [("tiled", {"causal": True}), ("tiled, no mask", {"causal": False})])
def test_flops_are_those_of_the_operators(method, options):
    (operator,) = [
        o
        for o in model_operators(gqa(24, 16, 64), "training", seq_len=1024, batch=4, **options)
        if o.kind == "attention"
    ]
    shape = AttentionShape("full attention", 16, 16, 64, 64)
    assert 24 * both(shape, 1024, H100, method, batch=4).flops == pytest.approx(operator.flops)


def test_the_chain_makes_six_products_and_a_tiled_kernel_seven():
    product = 2 * 4096**2 * 128 * 64
    assert both(LLAMA, 4096, H100, "unfused").flops == 6 * product
    assert both(LLAMA, 4096, H100, "tiled, no mask").flops == 7 * product
    assert both(LLAMA, 4096, H100, "tiled").flops == pytest.approx(3.5 * product, rel=0.001)
    # With 192 and 128: two products of each width in the chain's backward pass, three and two in a tiled one.
    assert tiled_flops(NARROW, 512, batch=1, backward=True, causal=False) == 2 * 512**2 * 16 * (3 * 192 + 2 * 128)


# Llama 3.1 70B, 4,096 tokens, one H100. Scores of one layer: 64 x 4096^2 x 2 = 2.147 GB; 4 passes at 3.35 TB/s take
# 2.56 ms, and Q, K, V, O with them 0.05 ms; two products at 989 TFLOP/s are shorter than the passes they overlap.
def test_the_floor_of_the_chain_by_hand():
    cost = pass_cost(LLAMA, 4096, batch=1, chip=H100, method="unfused", backward=False)
    scores = 64 * 4096**2 * 2
    vectors = 2 * 2 * 4096 * 128 * (64 + 8)
    assert cost.moved_bytes == 4 * scores + vectors
    assert cost.time_s == pytest.approx((4 * scores + vectors) / 3.35e12)


def test_a_tiled_kernel_is_bound_by_its_products():
    cost = pass_cost(LLAMA, 4096, batch=1, chip=H100, method="tiled, no mask", backward=False)
    assert cost.time_s == pytest.approx(4 * 4096**2 * 128 * 64 / H100.flops_per_s)
    assert cost.least_bytes == 2 * 2 * 4096 * 128 * (64 + 8) + 4 * 64 * 4096
    assert cost.least_bytes < cost.moved_bytes


# One H200, PyTorch 2.11, forward, 8,192 tokens and 32 heads of 128: unfused at least 12.6 ms, tiled kernels 1.7 to
# 3.1 ms. The recorded run, which scales and masks in kernels of their own, has 23.0 and 1.8 (core/catalog/measured).
def test_measured_times_lie_above_the_floors():
    shape = AttentionShape("full attention", 32, 32, 128, 128)
    floor = {m: pass_cost(shape, 8192, batch=1, chip=H200, method=m, backward=False).time_s for m in METHODS}
    assert floor["unfused"] < 12.6e-3
    assert floor["tiled"] < floor["tiled, no mask"] < 1.7e-3


def test_where_bandwidth_is_plenty_and_heads_are_wide_making_scores_again_costs_time():
    wide = AttentionShape("full attention", 8, 8, 256, 256)
    h20, h100 = (both(wide, 8192, Chip.of(CARDS[name]), "tiled, no mask").time_s for name in ("h20", "h100-sxm"))
    assert h20 > both(wide, 8192, Chip.of(CARDS["h20"]), "unfused").time_s
    assert h100 < both(wide, 8192, H100, "unfused").time_s


@pytest.mark.parametrize("model_id", [*MODELS])
def test_for_every_catalog_model_rereads_only_add(model_id):
    n = np.array([512.0, 5000.0, 131_072.0])
    for shape in layer_shapes(MODELS[model_id]):
        for method in METHODS:
            cost = both(shape, n, H100, method)
            assert np.all(cost.least_bytes <= cost.moved_bytes)
            assert np.all(cost.time_s > 0)
            assert np.all(np.isfinite(cost.time_s))


@pytest.mark.parametrize("card", [*CARDS.values()], ids=[*CARDS])
def test_every_accelerator_has_a_chip(card):
    chip = Chip.of(card)
    assert chip.sram_known == (card.shared_memory_per_block_max_bytes is not None)
    assert chip.sram_bytes == (card.shared_memory_per_block_max_bytes or PAPER_SRAM_BYTES)
    assert chip.floor_s(1e12, 1e9) >= 1e9 / chip.bytes_per_s
    if card.half_dtype is None:
        assert chip.floor_s(1e30, 1e9) == 1e9 / chip.bytes_per_s


def test_a_chunk_is_a_sequence_of_its_own():
    chunks = AttentionShape("chunked attention", 8, 8, 64, 64, window=1024, chunked=True)
    run = {"batch": 1, "sram_bytes": 100_000, "causal": True, "backward": True}
    assert tiled_bytes(chunks, 8192, **run) == 8 * tiled_bytes(chunks, 1024, **run)
    whole = AttentionShape("full attention", 8, 8, 64, 64)
    assert tiled_bytes(chunks, 1024, **run) == tiled_bytes(whole, 1024, **run)
    # Queries of one chunk see 1 to 1,024 of its tokens.
    assert tiled_flops(chunks, 8192, batch=1, backward=False, causal=True) == 8 * tiled_flops(
        whole, 1024, batch=1, backward=False, causal=True
    )


def test_layers_add_up():
    one = pass_cost(LLAMA, 4096, batch=1, chip=H100, method="tiled", backward=False)
    three = one.times(3)
    assert (three.flops, three.time_s) == (3 * one.flops, 3 * one.time_s)
    assert (one + one).moved_bytes == 2 * one.moved_bytes
