"""One decoder layer: random weights of a model's shape, its decode step, and its pass over whole sequences."""

from __future__ import annotations

from dataclasses import dataclass

from core.microbench import kernels
from core.microbench.bench import Bench, Tensor, relative_error
from core.microbench.item import refuse_wrong
from core.microbench.shapes import LayerShape

# The same layer, narrow, is checked against float64; rounding adds up over its four products.
LIMITS = {"fp32": 1e-4, "bf16": 3e-2, "fp16": 5e-3}
CHECKED = {"hidden_size": 256, "num_heads": 8, "head_dim": 64, "intermediate_size": 512}
CHECKED_TOKENS = 24


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one layer."""

    shape: LayerShape
    matrices: dict[str, Tensor]  # (outputs, inputs) by name, as in LayerShape.matrices
    norms: tuple[Tensor, Tensor]  # before attention and before the MLP
    head_norms: tuple[Tensor, Tensor] | None

    @property
    def weights(self) -> list[Tensor]:
        """All of them."""
        return [*self.matrices.values(), *self.norms, *(self.head_norms or ())]

    def decode(self, x: Tensor, cache: Tensor, rotation: Tensor) -> Tensor:
        """One token for each of B sequences.

        Args:
            x: (B, hidden).
            cache: (2, B, G, S, D); the token's keys and values take the last place, attention reads all S.
            rotation: (1, 1, D / 2) of that place.
        """
        queries, keys, values = self._heads(x, rotation)
        kernels.append(cache, keys, values, cache.shape[3] - 1)
        mixed = kernels.attend(queries.unsqueeze(2), cache[0], cache[1], causal=False)
        return self._rest(x, mixed.reshape(x.shape[0], -1))

    def forward(self, x: Tensor, batch: int, rotation: Tensor, *, fused: bool = True) -> Tensor:
        """Whole sequences.

        Args:
            x: (B T, hidden), sequence by sequence.
            batch: B.
            rotation: (B T, 1, D / 2).
            fused: False: every intermediate of attention is written out, which works in any dtype.
        """
        tokens = x.shape[0] // batch
        queries, keys, values = (
            part.view(batch, tokens, -1, self.shape.head_dim).transpose(1, 2) for part in self._heads(x, rotation)
        )
        if fused:
            mixed = kernels.attend(queries, keys, values, causal=True)
        else:
            mixed = kernels.unfused_attention(queries, keys, values, causal_mask(tokens, x.device))
        return self._rest(x, mixed.transpose(1, 2).reshape(x.shape[0], -1))

    def _heads(self, x: Tensor, rotation: Tensor) -> tuple[Tensor, ...]:
        qkv = kernels.norm(x, self.norms[0]) @ self.matrices["qkv"].t()
        return kernels.heads(qkv, self.shape, rotation, self.head_norms)

    def _rest(self, x: Tensor, mixed: Tensor) -> Tensor:
        x = x + mixed @ self.matrices["o"].t()
        wide = kernels.norm(x, self.norms[1]) @ self.matrices["gate_up"].t()
        return x + kernels.swiglu(wide) @ self.matrices["down"].t()

    def moved(self, dtype: Tensor, device: str) -> Layer:
        """A copy in another dtype, on another device."""
        return Layer(
            self.shape,
            {name: matrix.detach().to(device, dtype) for name, matrix in self.matrices.items()},
            (self.norms[0].detach().to(device, dtype), self.norms[1].detach().to(device, dtype)),
            None
            if self.head_norms is None
            else (self.head_norms[0].detach().to(device, dtype), self.head_norms[1].detach().to(device, dtype)),
        )


def causal_mask(tokens: int, device: Tensor) -> Tensor:
    """(T, T), True above the diagonal."""
    import torch

    return torch.ones(tokens, tokens, dtype=torch.bool, device=device).triu(1)


def random_layer(bench: Bench, shape: LayerShape, *, trains: bool = False) -> Layer:
    """Weights drawn so that activations neither grow nor vanish."""
    matrices = {name: bench.random(n, k, scale=k**-0.5) for name, (n, k) in shape.matrices.items()}
    scales = [bench.random(shape.hidden_size, scale=0.1).add_(1.0) for _ in range(2)]
    per_head = [bench.random(shape.head_dim, scale=0.1).add_(1.0) for _ in range(2)] if shape.qk_norm else None
    layer = Layer(shape, matrices, (scales[0], scales[1]), (per_head[0], per_head[1]) if per_head else None)
    for weight in layer.weights:
        weight.requires_grad_(trains)
    return layer


def weight_bytes(bench: Bench, shape: LayerShape) -> int:
    """Memory of one layer's matrices."""
    return bench.element_bytes * shape.num_weights


def kv_bytes(bench: Bench, shape: LayerShape, batch: int, context: int) -> int:
    """Memory of one layer's cache."""
    return bench.element_bytes * shape.kv_width * batch * context


def check(bench: Bench, shape: LayerShape) -> float:
    """Error of a narrow layer with this one's grouping of heads: forward, its gradients, and the last token decoded.

    The reference is the same layer in float64 on the CPU, with attention written out.
    """
    import torch

    group = shape.num_heads // shape.num_kv_heads
    narrow = LayerShape(
        shape.model,
        CHECKED["hidden_size"],
        2 * group,
        2,
        CHECKED["head_dim"],
        CHECKED["intermediate_size"],
        shape.qk_norm,
    )
    layer = random_layer(bench, narrow, trains=True)
    exact = layer.moved(torch.float64, "cpu")
    for weight in exact.weights:
        weight.requires_grad_(True)
    x = bench.random(CHECKED_TOKENS, narrow.hidden_size)
    rotation = kernels.rotations(CHECKED_TOKENS, narrow, bench.device.torch_name)
    exact_rotation = kernels.rotations(CHECKED_TOKENS, narrow, "cpu", torch.float64)
    reference = exact.forward(x.cpu().double(), 1, exact_rotation, fused=False)
    result = layer.forward(x, 1, rotation)
    errors = [relative_error(result.detach().cpu(), reference.detach())]
    gradients = torch.autograd.grad(result, layer.weights, torch.ones_like(result))
    exact_gradients = torch.autograd.grad(reference, exact.weights, torch.ones_like(reference))
    errors += [relative_error(a.cpu(), b) for a, b in zip(gradients, exact_gradients, strict=True)]
    with torch.no_grad():
        _, keys, values = layer._heads(x, rotation)
        cache = torch.stack([keys, values]).transpose(1, 2).unsqueeze(1).contiguous()  # (2, 1, G, S, D)
        cache[:, :, :, -1] = float("nan")  # the step has to write it
        last = layer.decode(x[-1:], cache, rotation[-1:])
    errors.append(relative_error(last.cpu(), reference[-1:].detach()))
    worst = max(errors) if all(error == error for error in errors) else float("nan")
    return refuse_wrong(worst, LIMITS[bench.dtype], "the layer")
