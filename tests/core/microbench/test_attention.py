"""FLOPs of causal attention, forward and backward, against the core's own count."""

import pytest

from core.flops import train_flops_per_token
from core.microbench import attention
from core.microbench.shapes import SHAPES
from core.model_spec import load_models
from tests.core.microbench.fakes import fake_bench


@pytest.mark.parametrize("shape", SHAPES[:4], ids=lambda shape: shape.model)
def test_forward_flops_are_those_of_the_core(shape):
    """The core counts forward and backward as three forwards; what causality changes per token is attention alone."""
    model, seq_len = load_models()[shape.model], 4096
    full = train_flops_per_token(model, seq_len, causal=False)
    half = train_flops_per_token(model, seq_len, causal=True)
    per_layer = float(full - half) * seq_len / model.num_layers / 3
    assert attention.flops(shape, seq_len, "forward", fused=True) == pytest.approx(per_layer, rel=1e-3)


def test_the_fused_backward_pass_computes_the_scores_again():
    forward = attention.flops(SHAPES[0], 1024, "forward", fused=True)
    assert attention.flops(SHAPES[0], 1024, "training", fused=True) == 3.5 * forward  # arXiv:2307.08691, section 4.1
    assert attention.flops(SHAPES[0], 1024, "training", fused=False) == 3 * forward


def test_an_item_a_variant_and_direction():
    items = attention.items(fake_bench(), SHAPES[0], (512, 1024))
    assert [item.name for item in items] == [
        f"attention {variant} {direction}, 32/8 heads"
        for variant in ("fused", "unfused")
        for direction in ("forward", "training")
    ]
    assert attention.items(fake_bench(capability=(7, 0)), SHAPES[0], (512,))[0].lacks is not None
