"""What the diagrams show: where bytes live around one accelerator, and what one token does in one layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.hardware import Accelerator, Link, load_links
from core.links import links_of
from core.model_spec import ModelSpec
from core.operators import layer_operators
from core.work import VECTOR_KINDS, Operator, Work

HOST_LINK = "pcie-5-x16"  # scenarios name no link to the host
_MIXING = ("indexer", "attention", "state")  # an indexer chooses what attention reads


@dataclass(frozen=True, slots=True)
class Level:
    """A place where bytes can lie, seen from one GPU."""

    name: str
    num_bytes: float | None  # of the whole GPU; None: as much as there is
    bytes_per_s: float | None  # one way; None: not published
    note: str = ""


def levels(accelerator: Accelerator, *, scale_up: Link | None = None, scale_out: Link | None = None) -> list[Level]:
    """From the innermost memory to the other nodes; what the catalog does not know of a card is left out."""
    links, host = links_of(accelerator, scale_up=scale_up, scale_out=scale_out), load_links()[HOST_LINK]
    peers = links.gpus_per_node - 1
    return [
        *_on_chip(accelerator),
        Level("Main memory", accelerator.hbm_bytes, accelerator.hbm_bytes_per_s, "HBM, or what stands in its place"),
        Level(
            f"The other {peers} GPUs of the node" if peers else "Other GPUs",
            float(peers * accelerator.hbm_bytes) if peers else None,
            links.scale_up.bytes_per_s,
            links.scale_up.name,
        ),
        Level("Host memory", None, host.bytes_per_s, f"{host.name}, assumed"),
        Level("GPUs of other nodes", None, links.scale_out.bytes_per_s, links.scale_out.name),
    ]


def _on_chip(card: Accelerator) -> Iterator[Level]:
    each = (
        ("Registers", card.register_file_per_sm_bytes),
        ("Shared memory", card.shared_memory_per_sm_bytes),
        ("Tensor memory", card.tensor_memory_per_sm_bytes),
    )
    for name, size in each:
        if size and card.num_sms:
            yield Level(name, float(size * card.num_sms), None, f"{card.num_sms} SMs of {size / 1024:.0f} KiB")
    whole = (
        ("Scratchpad", card.scratchpad_bytes),
        ("L2 cache", card.l2_bytes),
        ("Last-level cache", card.last_level_cache_bytes),
    )
    for name, total in whole:
        if total:
            yield Level(name, float(total), None, "shared by the chip")


@dataclass(frozen=True, slots=True)
class Part:
    """What one token does in one operator of one layer, with its sequence in the cache."""

    name: str
    flops: float
    weight_bytes: float
    cache_bytes: float
    activation_bytes: float

    @property
    def num_bytes(self) -> float:
        """Everything that it moves. [bytes]"""
        return self.weight_bytes + self.cache_bytes + self.activation_bytes


@dataclass(frozen=True, slots=True)
class LayerAnatomy:
    """The commonest layer of a model, in the order in which a token passes it."""

    times: int  # how many layers are like it
    of: int
    context_len: int
    parts: tuple[Part, ...]


def layer_anatomy(model: ModelSpec, context_len: int) -> LayerAnatomy:
    """One decode step of one sequence through the commonest layer, 16-bit weights and cache, on one GPU.

    Of experts, the chosen ones count. Norms, residuals, rotary positions and the activation function are one part.
    """
    layer, times = max(model.layer_counts.items(), key=lambda pair: pair[1])
    operators = list(layer_operators(layer, 1, model, Work.of("decode", context_len)))
    mixing = sorted((one for one in operators if one.kind in _MIXING), key=lambda one: _MIXING.index(one.kind))
    rest = [one for one in operators if one.kind in VECTOR_KINDS]
    matrices = [one for one in operators if one not in mixing and one not in rest]
    outward = next((i for i, one in enumerate(matrices) if _leaves_the_mixer(one)), _first_mlp(matrices))
    ordered = [_part(one.label, [one]) for one in (*matrices[:outward], *mixing, *matrices[outward:])]
    return LayerAnatomy(
        times,
        model.num_layers,
        context_len,
        (*ordered, _part("between: norms, rotary, activation function", rest)),
    )


def _leaves_the_mixer(operator: Operator) -> bool:
    return operator.label.startswith(("output projection", "values out of"))


def _first_mlp(matrices: list[Operator]) -> int:
    return next((i for i, one in enumerate(matrices) if one.kind in ("mlp", "experts", "router")), len(matrices))


def _part(name: str, operators: list[Operator]) -> Part:
    return Part(
        name,
        *(
            sum(float(getattr(one, field)) for one in operators)
            for field in ("flops", "weight_bytes", "cache_bytes", "activation_bytes")
        ),
    )
