"""What step 4 shows of a training scenario: traffic, memory and time of attention over length, and over tile sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.attention_cost import METHODS, Chip, Cost, Method, least_traffic, pass_cost, tiled_bytes
from core.attention_io import extra_bytes
from core.attention_shapes import AttentionShape, layer_shapes
from core.checks import Floats
from core.scenario import TrainingScenario

# Positions of the slider: two a doubling, to 1,048,576 tokens.
SEQ_LEN = tuple(n * 2**k for k in range(12) for n in (512, 768))[:-1]
TILE_ROWS = (8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768)
ELEMENT_BYTES = 2


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers that a person compares before and after a change: one layer, forward and backward, on one GPU."""

    unfused_bytes: float
    tiled_bytes: float  # caches left out
    least_bytes: float  # if they catch every reread
    unfused_extra_bytes: float
    tiled_extra_bytes: float
    memory_bytes: float

    @property
    def ratio(self) -> float:
        """Times as much traffic unfused as tiled."""
        return self.unfused_bytes / self.tiled_bytes

    @property
    def over_bytes(self) -> float:
        """By how much the unfused forward pass of one layer overflows an empty GPU; 0 where it does not."""
        return max(self.unfused_extra_bytes - self.memory_bytes, 0.0)

    def against(self, pinned: Headline) -> Headline:
        """These numbers less pinned ones; the GPU's memory is kept."""
        return Headline(
            self.unfused_bytes - pinned.unfused_bytes,
            self.tiled_bytes - pinned.tiled_bytes,
            self.least_bytes - pinned.least_bytes,
            self.unfused_extra_bytes - pinned.unfused_extra_bytes,
            self.tiled_extra_bytes - pinned.tiled_extra_bytes,
            self.memory_bytes,
        )


@dataclass(frozen=True, slots=True, eq=False)
class IoSweep:
    """Attention over sequence length; each array has one entry a position."""

    seq_len: tuple[int, ...]
    shape: AttentionShape  # the layer that the picture is about
    layers: int  # of attention, whatever their shapes
    forward: Mapping[Method, Cost]  # one layer of that shape
    backward: Mapping[Method, Cost]
    all_forward: Mapping[Method, Cost]  # all attention layers of the model
    all_backward: Mapping[Method, Cost]
    extra_bytes: Mapping[Method, Floats]  # memory beside Q, K and V, one layer forward
    memory_bytes: float

    def both(self, method: Method) -> Cost:
        """Forward and backward of one layer."""
        return self.forward[method] + self.backward[method]

    def headline(self, index: int) -> Headline:
        """One position."""
        unfused, tiled = self.both("unfused"), self.both("tiled")
        return Headline(
            unfused_bytes=float(unfused.moved_bytes[index]),
            tiled_bytes=float(tiled.moved_bytes[index]),
            least_bytes=float(tiled.least_bytes[index]),
            unfused_extra_bytes=float(self.extra_bytes["unfused"][index]),
            tiled_extra_bytes=float(self.extra_bytes["tiled"][index]),
            memory_bytes=self.memory_bytes,
        )


@dataclass(frozen=True, slots=True, eq=False)
class TileSweep:
    """Tiled traffic of one layer, forward and backward, over the rows of a tile of keys."""

    rows: tuple[int, ...]
    sram_bytes: Floats  # that tiles of so many rows fill, by the paper's rule
    moved_bytes: Floats
    tiles: Floats  # of keys in the sequence
    limit_bytes: int
    limit_known: bool
    limit_rows: int  # rows of the largest tile that the rule allows there
    unfused_bytes: float
    least_bytes: float
    seq_len: int

    @property
    def largest(self) -> int:
        """Position of the largest tile that fits; the smallest one where none does."""
        return max(int(np.sum(self.sram_bytes <= self.limit_bytes)) - 1, 0)


def over_seq_len(scenario: TrainingScenario) -> IoSweep | None:
    """Every position of the length slider, in one call; None for a model without softmax attention.

    Kept for the next call: moving the slider changes neither the positions nor what stands at them.
    """
    shapes = layer_shapes(scenario.model, scenario.tensor_parallel)
    if not shapes:
        return None
    lengths = SEQ_LEN if scenario.seq_len in SEQ_LEN else tuple(sorted({*SEQ_LEN, scenario.seq_len}))
    allowed = tuple(length for length in lengths if length % scenario.context_parallel == 0)
    return _over_seq_len(shapes, Chip.of(scenario.accelerator), scenario.micro_batch_size, allowed)


@lru_cache(maxsize=64)
def _over_seq_len(shapes: tuple[AttentionShape, ...], chip: Chip, batch: int, lengths: tuple[int, ...]) -> IoSweep:
    n = np.array(lengths, dtype=np.float64)

    def costs(shape: AttentionShape, backward: bool) -> dict[Method, Cost]:
        return {
            method: pass_cost(shape, n, batch=batch, chip=chip, method=method, backward=backward) for method in METHODS
        }

    def summed(backward: bool) -> dict[Method, Cost]:
        first, *others = [(shape.layers, costs(shape, backward)) for shape in shapes]
        total = {method: cost.times(first[0]) for method, cost in first[1].items()}
        for layers, each in others:
            total = {method: total[method] + cost.times(layers) for method, cost in each.items()}
        return total

    shape = shapes[0]

    def extra(tiled: bool) -> Floats:
        return extra_bytes(n, shape.v_head_dim, heads=shape.heads, batch=batch, tiled=tiled)

    return IoSweep(
        seq_len=lengths,
        shape=shape,
        layers=sum(each.layers for each in shapes),
        forward=costs(shape, False),
        backward=costs(shape, True),
        all_forward=summed(False),
        all_backward=summed(True),
        extra_bytes={"unfused": extra(False), "tiled": extra(True), "tiled, no mask": extra(True)},
        memory_bytes=float(chip.memory_bytes),
    )


def over_tile_rows(scenario: TrainingScenario) -> TileSweep | None:
    """Every tile of :data:`TILE_ROWS` for the scenario's length; None for a model without softmax attention."""
    shapes = layer_shapes(scenario.model, scenario.tensor_parallel)
    if not shapes:
        return None
    return _over_tile_rows(shapes[0], Chip.of(scenario.accelerator), scenario.micro_batch_size, scenario.seq_len)


@lru_cache(maxsize=64)
def _over_tile_rows(shape: AttentionShape, chip: Chip, batch: int, seq_len: int) -> TileSweep:
    row_bytes = 2 * ELEMENT_BYTES * (shape.head_dim + shape.v_head_dim)  # a row each of Q, K, V and O
    rows = np.array(TILE_ROWS, dtype=np.float64)
    sram = rows * row_bytes
    least = float(least_traffic(shape, seq_len, batch=batch, backward=True))
    moved = tiled_bytes(shape, seq_len, batch=batch, sram_bytes=sram, causal=True, backward=True)
    unfused = [
        pass_cost(shape, seq_len, batch=batch, chip=chip, method="unfused", backward=backward)
        for backward in (False, True)
    ]
    return TileSweep(
        rows=TILE_ROWS,
        sram_bytes=sram,
        moved_bytes=moved,
        tiles=np.ceil(seq_len / np.minimum(rows, seq_len)),
        limit_bytes=chip.sram_bytes,
        limit_known=chip.sram_known,
        limit_rows=chip.sram_bytes // row_bytes,
        unfused_bytes=float((unfused[0] + unfused[1]).moved_bytes),
        least_bytes=least,
        seq_len=seq_len,
    )


def headline_of(scenario: TrainingScenario) -> Headline | None:
    """The scenario's own numbers."""
    sweep = over_seq_len(scenario)
    return None if sweep is None else sweep.headline(sweep.seq_len.index(scenario.seq_len))
