"""The kernels of a decoder layer, as plain PyTorch calls: the layer is made of them, and each is measured alone.

Shapes: T tokens; S tokens of context; H query heads and G key heads of size D.
"""

from __future__ import annotations

from core.microbench.bench import Bench, Tensor
from core.microbench.device import Device
from core.microbench.item import Unsupported, refuse_wrong
from core.microbench.shapes import LayerShape

NORM_EPSILON = 1e-5
ROPE_BASE = 500_000.0


def norm(values: Tensor, scale: Tensor) -> Tensor:
    """Root-mean-square norm over the last axis."""
    import torch

    return torch.nn.functional.rms_norm(values, (values.shape[-1],), scale, NORM_EPSILON)


def rotations(seq_len: int, shape: LayerShape, device: str, dtype: Tensor = None) -> Tensor:
    """exp(i * position * frequency), (S, 1, D / 2), complex: multiplying pairs by it is the rotary embedding.

    Angles are computed in float64: in fp32 those of far positions would be off by more than fp32 rounds.
    """
    import torch

    exponents = torch.arange(0, shape.head_dim, 2, dtype=torch.float64) / shape.head_dim
    angles = torch.outer(torch.arange(seq_len, dtype=torch.float64), ROPE_BASE**-exponents)
    turned = torch.polar(torch.ones_like(angles), angles).unsqueeze(1)
    return turned.to(device, torch.complex128 if dtype == torch.float64 else torch.complex64)


def heads(qkv: Tensor, shape: LayerShape, rotation: Tensor, norms: tuple[Tensor, Tensor] | None) -> tuple[Tensor, ...]:
    """Queries, keys and values of the joint projection, normed per head where the model does so, and rotated.

    Args:
        qkv: (T, (H + 2 G) D).
        shape: the layer.
        rotation: (T, 1, D / 2) or (1, 1, D / 2), complex.
        norms: scales of the queries' and keys' norms, or None.

    Returns:
        (T, H, D), (T, G, D), (T, G, D).
    """
    h, g = shape.num_heads, shape.num_kv_heads
    split = qkv.view(qkv.shape[0], h + 2 * g, shape.head_dim)
    queries_keys, values = split.split([h + g, g], dim=1)
    if norms is not None:
        import torch

        queries, keys = queries_keys.split([h, g], dim=1)
        queries_keys = torch.cat([norm(queries, norms[0]), norm(keys, norms[1])], dim=1)
    queries, keys = rotate(queries_keys, rotation).split([h, g], dim=1)
    return queries, keys, values


def rotate(values: Tensor, rotation: Tensor) -> Tensor:
    """Rotary embedding of neighbouring pairs, computed in the precision of the rotation."""
    import torch

    pairs = torch.view_as_complex(values.to(rotation.real.dtype).unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * rotation).flatten(-2).to(values.dtype)


def swiglu(gate_up: Tensor) -> Tensor:
    """SiLU of the first half times the second half of the last axis."""
    import torch

    gate, up = gate_up.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


def append(cache: Tensor, keys: Tensor, values: Tensor, position: int) -> None:
    """Write one token's (B, G, D) keys and values at a position of the (2, B, G, S, D) cache."""
    cache[0, :, :, position] = keys
    cache[1, :, :, position] = values


def attend(queries: Tensor, keys: Tensor, values: Tensor, *, causal: bool) -> Tensor:
    """Fused attention of (B, H, T, D) queries over (B, G, S, D) keys and values, by the kernel chosen in advance."""
    import torch

    grouped = queries.shape[1] != keys.shape[1]
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(queries, keys, values, is_causal=causal, enable_gqa=grouped)


def unfused_attention(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """The same with every intermediate written out: scores, masked scores, probabilities.

    Args:
        queries: (B, H, T, D).
        keys, values: (B, G, S, D).
        mask: (T, S), True where a query may not look; None: nowhere.
    """
    import torch

    batch, h, t, d = queries.shape
    g = keys.shape[1]
    grouped = queries.reshape(batch, g, h // g * t, d)  # query heads of one key head, one below the other
    scores = (grouped @ keys.transpose(-1, -2)) * d**-0.5
    if mask is not None:
        scores = scores.view(batch, g, h // g, t, -1).masked_fill(mask, float("-inf")).view(scores.shape)
    return (torch.softmax(scores, dim=-1) @ values).view(batch, h, t, d)


def choose_fused(device: Device, dtype: Tensor, head_dim: int) -> str:
    """Let scaled_dot_product_attention use its flash kernel alone, so that nothing falls back unseen.

    Returns:
        the kernel's name.

    Raises:
        Unsupported: there is none for this device, dtype and head size.
    """
    import torch

    torch.backends.cuda.enable_flash_sdp(True)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cuda.enable_math_sdp(False)
    trial = torch.ones(1, 2, 8, head_dim, device=device.torch_name, dtype=dtype)
    try:
        attend(trial, trial[:, :1], trial[:, :1], causal=True)
    except RuntimeError:
        name = str(dtype).removeprefix("torch.")
        raise Unsupported(
            f"torch has no flash attention kernel for {name} heads of {head_dim} on this device"
        ) from None
    return "flash"


def attention_error(
    bench: Bench, result: Tensor, queries: Tensor, keys: Tensor, values: Tensor, *, causal: bool
) -> float:
    """Error of a few queries of the first and the last head, against attention in float64."""
    import torch

    group = queries.shape[1] // keys.shape[1]
    worst = 0.0
    for head in (0, queries.shape[1] - 1):
        for row in sorted({0, queries.shape[2] // 2, queries.shape[2] - 1}):
            seen = slice(row + 1 if causal else None)
            k, v = (tensor[-1, head // group, seen].double() for tensor in (keys, values))
            scores = k @ queries[-1, head, row].double() * queries.shape[-1] ** -0.5
            exact = torch.softmax(scores, 0) @ v
            error = float((result[-1, head, row].double() - exact).norm() / exact.norm())
            worst = max(worst, error) if error == error else error
    return refuse_wrong(worst, ATTENTION_LIMITS[bench.dtype], "attention")


# bf16 keeps 8 bits of each probability and of the output; fp16 11.
ATTENTION_LIMITS = {"fp32": 1e-4, "bf16": 2e-2, "fp16": 3e-3}
