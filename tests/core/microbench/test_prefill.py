"""FLOPs of a pass over whole prompts, against the core's operators."""

import pytest

from core.microbench import prefill
from core.microbench.shapes import SHAPES
from core.model_spec import load_models
from core.operators import model_operators
from tests.core.microbench.fakes import fake_bench


@pytest.mark.parametrize("shape", SHAPES[:4], ids=lambda shape: shape.model)
def test_forward_flops_are_those_of_the_cores_operators(shape):
    model, seq_len = load_models()[shape.model], 2048
    operators = model_operators(model, "prefill", seq_len=seq_len, batch=1)
    counted = sum(float(o.flops) for o in operators if o.kind not in ("head", "embedding", "elementwise", "norm"))
    assert prefill.forward_flops(shape, 1, seq_len) * model.num_layers == pytest.approx(counted, rel=0.01)


def test_two_sequences_are_twice_one():
    shape = SHAPES[0]
    assert prefill.forward_flops(shape, 2, 512) == 2 * prefill.forward_flops(shape, 1, 512)
    assert prefill.forward_flops(shape, 1, 1024) > 2 * prefill.forward_flops(shape, 1, 512)


def test_an_item_a_model():
    [item] = prefill.items(fake_bench(), SHAPES[0], prefill.GPU_SIZES)
    assert item.num_points == len(prefill.GPU_SIZES)
    assert prefill.settings(fake_bench(), SHAPES[0], "prefill", 1, 512)["phase"] == "prefill"
