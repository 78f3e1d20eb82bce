"""Every benchmark really measures on a CPU, gets right results, and notices wrong ones. Needs torch."""

from __future__ import annotations

import math

import pytest
import torch

from core.microbench import (
    attention,
    attention_decode,
    copy,
    decode,
    kernels,
    launch,
    layer,
    matmul,
    prefill,
    reference,
    train,
    vector,
)
from core.microbench.bench import Bench
from core.microbench.device import find_device
from core.microbench.item import Item, Unsupported, Wrong
from core.microbench.record import Record
from core.microbench.runner import Runner
from core.microbench.shapes import LayerShape
from core.microbench.timing import Bounds, Timer

QUICK = Bounds(point_s=0.002, warm_up_s=0.0, sample_s=1e-4, fewest=3, most=5)
GROUPED = LayerShape("test/grouped", 64, 4, 2, 16, 96, qk_norm=True)
ALL_HEADS = LayerShape("test/all-heads", 64, 4, 4, 16, 96)
SHAPES = pytest.mark.parametrize("shape", [GROUPED, ALL_HEADS], ids=["grouped", "all heads"])


@pytest.fixture(autouse=True)
def _same_numbers_each_time():
    torch.manual_seed(0)


@pytest.fixture
def bench() -> Bench:
    device = find_device("cpu")
    return Bench(device, Timer(device, QUICK), "fp32")


def measured(bench: Bench, *items: Item) -> list[dict]:
    """Everything that the items measure; nothing may be skipped."""
    record = Record({}, {})
    Runner(bench.device, record, lambda record: None, lambda event: None, max_seconds=60).run(items)
    assert record.stopped is None
    assert record.skipped == []
    assert len(record.measurements) == sum(item.num_points for item in items)
    for entry in record.measurements:
        assert 0 < entry["time"]["p10_s"] <= entry["time"]["median_s"] <= entry["time"]["p90_s"]
        assert math.isfinite(entry["error"])
    return record.measurements


def test_copies(bench):
    entries = measured(bench, *copy.items(bench, (4096, 65536)))
    assert [entry["bytes"] for entry in entries] == [8192, 131072, 4096, 65536, 4096, 65536]


@pytest.mark.parametrize("role", matmul.ROLES)
def test_products_and_their_gradients(bench, role):
    entries = measured(bench, matmul.item(bench, matmul.Matrix(48, 32, "fp32", role), (1, 8)))
    assert [entry["m"] for entry in entries] == [1, 8]
    assert all(entry["error"] < 1e-6 for entry in entries)


@pytest.mark.parametrize("dtype", ["bf16", "int8"])
def test_products_in_other_dtypes(bench, dtype):
    [entry] = measured(bench, matmul.item(bench, matmul.Matrix(48, 64, dtype), (32,)))
    assert entry["error"] == 0 if dtype == "int8" else 0 < entry["error"] < 1e-2


@pytest.mark.parametrize("variant", ["fused", "unfused"])
@SHAPES
def test_attention(bench, shape, variant):
    entries = measured(bench, *attention.items(bench, shape, (8, 24), (variant,)))
    assert {entry["direction"] for entry in entries} == {"forward", "training"}


@SHAPES
def test_decode_attention(bench, shape):
    measured(bench, *attention_decode.items(bench, shape, (1, 3), (8, 16)))


@SHAPES
def test_kernels_of_a_layer(bench, shape):
    entries = measured(bench, *vector.items(bench, shape, (1, 8), (8,)))
    assert {entry["op"] for entry in entries} == {*vector.OPS, "append"}


@SHAPES
def test_steps(bench, shape):
    entries = measured(
        bench,
        *decode.items(bench, shape, (1, 2), (8,)),
        *prefill.items(bench, shape, ((1, 8), (2, 8))),
        *train.items(bench, shape, ((1, 8),)),
    )
    assert [entry["phase"] for entry in entries] == ["decode", "decode", "prefill", "prefill", "training"]


def test_limits_leave_room_for_the_rounding_of_bf16():
    """At heads and lengths as on a GPU, errors stay below half of what is allowed."""
    device = find_device("cpu")
    bench = Bench(device, Timer(device, QUICK), "bf16")
    shape = LayerShape("test/wide", 512, 8, 2, 128, 1536, qk_norm=True)
    entries = measured(
        bench,
        *attention.items(bench, shape, (512,)),
        *attention_decode.items(bench, shape, (2,), (2048,)),
        *vector.items(bench, shape, (1, 64), (64,)),
        *prefill.items(bench, shape, ((1, 64),)),
    )
    for entry in entries:
        limits = {"vector": vector.LIMITS, "step": layer.LIMITS}.get(entry["kind"], kernels.ATTENTION_LIMITS)
        assert entry["error"] < limits["bf16"] / 2, entry


def test_launches_and_plain_calls(bench):
    measured(bench, *launch.items(bench), *reference.items(bench, 65536, (8, 32, 16)))


def not_rotated(values, rotation):
    """Wrong in the layer's own precision alone, so that the reference, in float64, stays right."""
    return RIGHT_ROTATE(values, rotation) if values.dtype == torch.float64 else values


RIGHT_ROTATE = kernels.rotate
# Each wrong in a way that its time would not show.
WRONG = {
    "rotate": not_rotated,
    "append": lambda cache, keys, values, position: None,
    "attend": lambda queries, keys, values, causal: queries.clone(),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_layer_is_checked_against_another_path(bench, name, monkeypatch):
    """Attention written out in float64 knows nothing of the cache or of the fused kernel."""
    monkeypatch.setattr(kernels, name, WRONG[name])
    with pytest.raises(Wrong, match="the layer differs from float64"):
        layer.check(bench, GROUPED)


def test_a_wrong_attention_has_no_time(bench, monkeypatch):
    monkeypatch.setattr(kernels, "attend", WRONG["attend"])
    record = Record({}, {})
    items = attention_decode.items(bench, GROUPED, (1,), (8,))
    Runner(bench.device, record, lambda record: None, lambda event: None, max_seconds=60).run(items)
    assert record.measurements == []
    assert "differs from float64" in record.skipped[0]["reason"]


def test_a_product_of_other_weights_has_no_time(bench, monkeypatch):
    right = torch.mm
    monkeypatch.setattr(torch, "mm", lambda left, other, out: right(left, other * 1.01, out=out))
    points = matmul.item(bench, matmul.Matrix(48, 32, "fp32"), (8,)).points()
    with pytest.raises(Wrong, match="the product differs"):
        next(points).measure()


def test_decode_of_the_last_token_is_what_the_whole_pass_gives(bench):
    """The layer's two paths agree: one token over a cache of the others, and all tokens at once."""
    block = layer.random_layer(bench, GROUPED)
    x = bench.random(6, GROUPED.hidden_size)
    rotation = kernels.rotations(6, GROUPED, "cpu")
    with torch.no_grad():
        whole = block.forward(x, 1, rotation)
        _, keys, values = block._heads(x, rotation)
        cache = torch.stack([keys, values]).transpose(1, 2).unsqueeze(1).contiguous()
        cache[:, :, :, -1] = float("nan")
        torch.testing.assert_close(block.decode(x[-1:], cache, rotation[-1:]), whole[-1:])


def test_the_layer_is_the_one_of_transformers(bench):
    """A second witness of the layer itself, where transformers is installed beside torch (make microbench does)."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

    config = LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        intermediate_size=96,
        rms_norm_eps=kernels.NORM_EPSILON,
        rope_parameters={"rope_type": "default", "rope_theta": kernels.ROPE_BASE},
        attn_implementation="sdpa",
    )
    shape = LayerShape("test/plain", 64, 4, 2, 16, 96)
    block, theirs = layer.random_layer(bench, shape), LlamaDecoderLayer(config, 0)
    qkv = block.matrices["qkv"].split([64, 32, 32])
    halves = [part.view(-1, 8, 2, 64).transpose(1, 2).reshape(-1, 64) for part in qkv[:2]]  # pairs i, i+8 in theirs
    gate, up = block.matrices["gate_up"].chunk(2)
    theirs.load_state_dict(
        {
            "self_attn.q_proj.weight": halves[0],
            "self_attn.k_proj.weight": halves[1],
            "self_attn.v_proj.weight": qkv[2],
            "self_attn.o_proj.weight": block.matrices["o"],
            "mlp.gate_proj.weight": gate,
            "mlp.up_proj.weight": up,
            "mlp.down_proj.weight": block.matrices["down"],
            "input_layernorm.weight": block.norms[0],
            "post_attention_layernorm.weight": block.norms[1],
        }
    )
    x = bench.random(6, 64)
    angles = LlamaRotaryEmbedding(config)(x[None], torch.arange(6)[None])
    with torch.no_grad():
        kernels.choose_fused(bench.device, torch.float32, 16)
        ours = block.forward(x, 1, kernels.rotations(6, shape, "cpu"))
        torch.backends.cuda.enable_math_sdp(True)
        result = theirs(x[None], position_embeddings=angles)
    result = result[0] if isinstance(result, tuple) else result
    torch.testing.assert_close(ours, result.view(6, 64), rtol=1e-4, atol=1e-5)


def test_no_kernel_is_said_in_words():
    with pytest.raises(Unsupported, match="no flash attention kernel for int8 heads of 16"):
        kernels.choose_fused(find_device("cpu"), torch.int8, 16)
