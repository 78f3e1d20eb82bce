"""The frame around the pieces: which layers slide, equal layers made once, embedding and head."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from core.hf_config.fields import Fields
from core.hf_config.parts import hidden_size, num_layers
from core.model_spec import Attention, Layer, ModelSpec

Key = TypeVar("Key", bound=Hashable)


def layer_types(
    f: Fields, known: Sequence[str], *, name: str = "layer_types", any_length: bool = False
) -> list[str] | None:
    """One entry of ``known`` a layer, or None where the config does not list them.

    Raises:
        ConfigError: not ``num_hidden_layers`` entries, or a kind of layer that is not modelled.
    """
    types = f.items(name, length=None if any_length else num_layers(f))
    f.each(name, types or (), known, "is a kind of layer whose memory is not modelled here")
    return types


def window_size(f: Fields, *, needed_by: str = "sliding layers") -> int:
    """Tokens a sliding layer sees. [tokens]"""
    return f.integer("sliding_window", purpose=f"the tokens that {needed_by} can see")


def windows(f: Fields, *, every: int | None = None) -> list[int | None]:
    """A window or None for each layer, from ``layer_types``; where that is absent, full on each ``every``-th layer.

    ``every`` None without ``layer_types`` means that all layers see everything.
    """
    types = layer_types(f, ("full_attention", "sliding_attention"))
    if types is None:
        count = num_layers(f)
        types = [
            "full_attention" if every is None or (index + 1) % every == 0 else "sliding_attention"
            for index in range(count)
        ]
    if "sliding_attention" not in types:
        return [None] * len(types)
    window = window_size(f)
    return [window if kind == "sliding_attention" else None for kind in types]


def tied(f: Fields, *, default: bool) -> bool:
    """Whether the output head is the embedding: the outer file decides, then the language part, then the family."""
    outer = Fields(f.outer)
    if f.path and outer.has("tie_word_embeddings"):
        return outer.flag("tie_word_embeddings")
    return f.flag("tie_word_embeddings", default=default)


def model_name(f: Fields) -> str:
    """What the file calls itself, or that it was pasted."""
    path = f.outer.get("_name_or_path") or f.raw.get("_name_or_path")
    last = path.rstrip("/").rsplit("/", 1)[-1] if isinstance(path, str) else ""
    return last[:80] or f"pasted {f.text('model_type') or 'model'}"[:80]


def decoder(
    f: Fields,
    layers: Iterable[Layer],
    *,
    tie_default: bool = False,
    final_norm: int | None = None,
    **traits: Any,
) -> ModelSpec:
    """The model around its layers: embedding, final norm (one weight a channel unless given) and output head."""
    hidden = hidden_size(f)
    return ModelSpec(
        id="custom",
        name=model_name(f),
        model_type=f.text("model_type") or "unknown",
        hidden_size=hidden,
        vocab_size=f.integer("vocab_size"),
        tie_word_embeddings=tied(f, default=tie_default),
        max_position_embeddings=f.integer("max_position_embeddings"),
        layers=tuple(layers),
        final_norm_params=hidden if final_norm is None else final_norm,
        **traits,
    )


def each_once(keys: Iterable[Key], make: Callable[[Key], Layer]) -> list[Layer]:
    """A layer for every key, made once for equal keys, so that equal layers are one object."""
    keys = list(keys)
    made = {key: make(key) for key in dict.fromkeys(keys)}
    return [made[key] for key in keys]


def uniform(f: Fields, layer: Layer) -> list[Layer]:
    """``num_hidden_layers`` times the same layer."""
    return [layer] * num_layers(f)


def by_window(f: Fields, attention: Attention, windows_: Sequence[int | None], **parts: Any) -> list[Layer]:
    """Layers that differ only in their attention window."""
    return each_once(windows_, lambda window: Layer(mixer=attention.model_copy(update={"window": window}), **parts))
