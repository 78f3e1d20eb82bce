"""The layer that is measured: one decoder layer with softmax attention and a gated MLP, by its sizes.

The rows are held to the catalog by a test. They stand here as well because the machine that measures may have nothing
but torch, and the catalog's reader needs pydantic.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LayerShape:
    """Sizes of one decoder layer."""

    model: str  # hub repository id
    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate_size: int
    qk_norm: bool = False  # a norm over each head's queries and keys

    @property
    def qkv_width(self) -> int:
        """Outputs of the joint projection to queries, keys and values."""
        return (self.num_heads + 2 * self.num_kv_heads) * self.head_dim

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """Outputs n and inputs k of each weight matrix, by name, in the order in which a token meets them."""
        return {
            "qkv": (self.qkv_width, self.hidden_size),
            "o": (self.hidden_size, self.num_heads * self.head_dim),
            "gate_up": (2 * self.intermediate_size, self.hidden_size),
            "down": (self.hidden_size, self.intermediate_size),
        }

    @property
    def num_weights(self) -> int:
        """Weights of the matrices; norms are a few thousand more. [params]"""
        return sum(n * k for n, k in self.matrices.values())

    @property
    def kv_width(self) -> int:
        """Cached elements of one token: its keys and its values."""
        return 2 * self.num_kv_heads * self.head_dim

    def as_dict(self) -> dict[str, Any]:
        """Fields by name, as a result and a standalone script hold them."""
        return asdict(self)


SHAPES = (
    LayerShape("meta-llama/Llama-3.1-8B", 4096, 32, 8, 128, 14336),
    LayerShape("meta-llama/Llama-3.1-70B", 8192, 64, 8, 128, 28672),
    LayerShape("Qwen/Qwen3-14B", 5120, 40, 8, 128, 17408, qk_norm=True),
    LayerShape("meta-llama/Llama-2-7b-hf", 4096, 32, 32, 128, 11008),
    LayerShape("Qwen/Qwen3-0.6B", 1024, 16, 8, 128, 3072, qk_norm=True),
)
GPU_MODELS = tuple(shape.model for shape in SHAPES[:4])
CPU_MODEL = SHAPES[4].model


def find_shape(model: str, more: tuple[LayerShape, ...] = ()) -> LayerShape:
    """The shape of a model: one of ``more``, of :data:`SHAPES`, or of the catalog where it can be read.

    Raises:
        ValueError: the id is unknown, or the model's layers are of another kind.
    """
    for shape in (*more, *SHAPES):
        if shape.model == model:
            return shape
    known = ", ".join(shape.model for shape in (*more, *SHAPES))
    try:
        from core.model_spec import load_models

        models = load_models()
    except ImportError:
        raise ValueError(f"model {model!r} is not built in, and the catalog cannot be read here; use {known}") from None
    if model not in models:
        raise ValueError(f"model {model!r} is not in the catalog; the built-in ones are {known}")
    return shape_of(models[model])


def shape_of(model: Any) -> LayerShape:
    """The shape of a catalog model's most frequent layer.

    Args:
        model: a :class:`core.model_spec.ModelSpec`.

    Raises:
        ValueError: that layer is not softmax attention over all tokens beside a dense gated MLP.
    """
    layer = max(model.layer_counts, key=model.layer_counts.__getitem__)
    mixer, mlp = layer.mixer, layer.mlp
    plain = mixer is not None and mixer.kind == "attention" and mixer.head_dim == mixer.v_head_dim
    if not plain or mlp is None or mlp.kind != "dense" or not mlp.gated:
        raise ValueError(
            f"{model.id}: only layers of softmax attention with a dense gated MLP are measured; choose such a model"
        )
    return LayerShape(
        model.id,
        model.hidden_size,
        mixer.num_heads,
        mixer.num_kv_heads,
        mixer.head_dim,
        mlp.intermediate_size,
        qk_norm=mixer.qk_norm == "head",
    )
