"""What kernels and collectives of one system were measured to take: products, attention, messages, by size.

Every answer is a :class:`core.log_grid.Reading`: seconds, a mark where they were continued beyond what was measured,
and sentences that say how. None: the profile has no table of that kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, one_of, positive, whole
from core.collective_table import MeasuredCollective
from core.hardware import CATALOG, Accelerator, load_accelerators
from core.log_grid import Axis, LogGrid, Reading
from core.measured_file import AttentionTable, CollectiveRow, ExpertTable, MatmulTable, ProfileFile

PROFILES = CATALOG / "profiles"
Phase = Literal["decode", "prefill", "training"]
Role = Literal["forward", "input_gradient", "weight_gradient"]


@dataclass(frozen=True)
class Products:
    """Products with weights in one format."""

    table: MatmulTable

    @cached_property
    def grid(self) -> LogGrid:
        """Over n, k and m; only m is guarded, for a wider matrix may run on a better kernel."""
        table = self.table
        cells = np.array(table.seconds, dtype=np.float64)
        axes = (
            Axis("columns n", table.n, guarded=False),
            Axis("inputs k", table.k, guarded=False),
            Axis("rows m", table.m),
        )
        return LogGrid(axes, cells)

    def cells(self, n: int, k: int) -> Floats:
        """Times over the table's rows as they were measured; NaN where this very product was not. [s]"""
        table = self.table
        if n not in table.n or k not in table.k:
            return np.full(len(table.m), np.nan)
        return np.asarray(self.grid.measured[table.n.index(n), table.k.index(k)])

    @property
    def measured_shapes(self) -> tuple[tuple[int, int], ...]:
        """Weights (n, k) of which something was measured."""
        there = np.any(~np.isnan(self.grid.measured), axis=-1).reshape(len(self.table.n), len(self.table.k))
        return tuple((n, k) for i, n in enumerate(self.table.n) for j, k in enumerate(self.table.k) if there[i, j])


@dataclass(frozen=True)
class Heads:
    """Attention of one shape of heads over batch and tokens."""

    table: AttentionTable

    @property
    def group(self) -> float:
        """Query heads that share a key and value head."""
        return self.table.heads / self.table.kv_heads

    @cached_property
    def grid(self) -> LogGrid:
        """Over batch and tokens. The work of a prompt grows with its square, that of a decode step with the cache."""
        table = self.table
        decodes = table.phase == "decode"
        length = Axis("cached tokens" if decodes else "prompt tokens", table.tokens, power=1.0 if decodes else 2.0)
        # A row of a larger batch that stops early is continued from the smaller batch beside it.
        return LogGrid((Axis("batch", table.batch), length), np.array(table.seconds, dtype=np.float64), spread=(0, 1))


class ExpertShape(NamedTuple):
    """Routed experts of one layer."""

    dtype: str  # in which they are stored, of core.measured_file.EXPERT_DTYPES
    hidden_size: int
    intermediate_size: int  # of a whole expert
    num_experts: int
    top_k: int
    tensor_parallel: int  # GPUs that split each expert


@dataclass(frozen=True)
class Experts:
    """Routed experts of one shape, split over so many GPUs."""

    table: ExpertTable
    row: int

    @cached_property
    def grid(self) -> LogGrid:
        """Over tokens."""
        seconds = np.array(self.table.seconds[self.row], dtype=np.float64)
        return LogGrid((Axis("tokens", self.table.tokens),), seconds)


@dataclass(frozen=True)
class Messages:
    """One collective over one number of GPUs."""

    row: CollectiveRow

    @cached_property
    def grid(self) -> LogGrid:
        """Over the bytes of the whole tensor."""
        return LogGrid((Axis("bytes", self.row.num_bytes),), np.array(self.row.seconds))

    @property
    def table(self) -> MeasuredCollective | None:
        """As :func:`core.collective_time.collective_estimate_s` takes it; None where one size alone was measured."""
        row = self.row
        if len(row.num_bytes) < 2:
            return None
        seconds = tuple(map(float, self.grid.rising))
        return MeasuredCollective(row.op, row.ranks, tuple(map(float, row.num_bytes)), seconds)


@dataclass(frozen=True, eq=False)
class Profile:
    """One system as it was measured; built from a file of the catalog or from a run of one's own.

    Told apart by identity, so that what is worked out for one can be kept.
    """

    file: ProfileFile

    @property
    def accelerator(self) -> Accelerator | None:
        """The datasheet's row, for floors beside the measurements; None where the catalog does not have it."""
        return load_accelerators().get(self.file.accelerator or "")

    @property
    def name(self) -> str:
        """The device, and whose measurement it is."""
        chip = self.accelerator
        return f"{chip.name if chip else self.file.device}, {'own run' if self.file.own else 'open data'}"

    @property
    def citation(self) -> str:
        """The source in one line, to stand wherever a number of it is shown."""
        file = self.file
        versions = ", ".join(f"{name} {version}" for name, version in file.versions.items())
        return "; ".join(part for part in (file.source, versions, file.licence, f"{file.dated:%Y-%m-%d}") if part)

    @property
    def is_own(self) -> bool:
        """Whether it was measured with this app's own benchmark."""
        return self.file.own

    @property
    def memory_bytes_per_s(self) -> float | None:
        """What a large copy reads and writes together; None where it was not measured. [bytes/s]"""
        return self.file.memory_bytes_per_s

    @cached_property
    def products(self) -> dict[tuple[str, Role], Products]:
        """Products with weights by format and role."""
        return {(table.dtype, table.role): Products(table) for table in self.file.matmul}

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Formats in which forward products were measured."""
        return tuple(dtype for dtype, role in self.products if role == "forward")

    @cached_property
    def vectors(self) -> dict[tuple[str, str], LogGrid]:
        """Kernels between products and attention over the bytes they move, by op and direction."""
        return {
            (row.op, row.direction): LogGrid((Axis("bytes", row.num_bytes),), np.array(row.seconds))
            for row in self.file.vectors
        }

    @cached_property
    def attention(self) -> tuple[Heads, ...]:
        """Every table of attention."""
        return tuple(map(Heads, self.file.attention))

    @cached_property
    def experts(self) -> dict[ExpertShape, Experts]:
        """Routed experts of one layer by their shape."""
        return {
            ExpertShape(
                table.dtype, table.hidden_size, table.intermediate_size, table.num_experts, table.top_k, gpus
            ): Experts(table, row)
            for table in self.file.experts
            for row, gpus in enumerate(table.tensor_parallel)
            if any(table.seconds[row])
        }

    @cached_property
    def messages(self) -> dict[tuple[str, int], Messages]:
        """Collectives by op and number of GPUs."""
        return {(row.op, row.ranks): Messages(row) for row in self.file.collectives}

    @cached_property
    def collective_tables(self) -> tuple[MeasuredCollective, ...]:
        """All collectives, as the estimate of a training step takes them; the source is this profile's."""
        tables = (messages.table for messages in self.messages.values())
        return tuple(replace(table, source=self.citation) for table in tables if table)

    def matmul_s(
        self, m: ArrayLike, n: ArrayLike, k: ArrayLike, dtype: str = "bf16", *, role: Role = "forward"
    ) -> Reading | None:
        """One product of m rows with a weight matrix of n columns and k inputs.

        Args:
            m: tokens. [rows]
            n, k: outputs and inputs. [elements]
            dtype: format of the multiplication, as in :data:`core.hardware.PEAK_DTYPES`.
            role: forward, or one of the two products of the backward pass, of the same m, n and k. Where these were
                not measured they are read as forward products of the same shapes.

        Returns:
            [s], broadcast. Does not fall as m rises. None: the format was not measured.
        """
        products = self.products.get((dtype, role))
        if products is not None:
            return products.grid.read(n, k, m)
        forward = self.products.get((dtype, "forward"))
        if forward is None:
            return None
        rows, columns, inputs = {"input_gradient": (m, k, n), "weight_gradient": (n, k, m)}[role]
        note = "Products of the backward pass are read as forward ones of their shapes."
        return forward.grid.read(columns, inputs, rows).noted(note)

    def attention_s(
        self,
        phase: Phase,
        batch: ArrayLike,
        tokens: ArrayLike,
        *,
        heads: int,
        kv_heads: int,
        head_dim: int = 128,
        kv_dtype: str = "bf16",
    ) -> Reading | None:
        """Attention of one layer.

        Args:
            phase: "decode": one new token for each sequence. "prefill": causal, whole prompts. "training": that and
                its backward pass.
            batch: sequences. [sequences]
            tokens: decode: in the cache before the new one; else of each prompt. [tokens]
            heads, kv_heads, head_dim: of one GPU.
            kv_dtype: format of the cache; the products are in 16 bits.

        Returns:
            [s], broadcast; falls with neither. Where this split of heads was not measured, that of the nearest group is
            read with as many pairs of sequence and head, which is the work that a kernel shares out, and a note says
            so; another width of the heads counts in proportion. None: nothing like it was measured.
        """
        one_of("phase", phase, get_args(Phase))
        found = self._nearest(phase, heads, kv_heads, head_dim, kv_dtype)
        if found is None:
            return None
        table = found.table
        decodes = phase == "decode"
        pairs = (kv_heads / table.kv_heads if decodes else heads / table.heads) * positive("batch", batch)
        wide = head_dim / table.head_dim
        notes = []
        if (heads, kv_heads) != (table.heads, table.kv_heads):
            notes.append(
                f"Attention of {heads} over {kv_heads} heads is read from {table.heads} over {table.kv_heads}, with as "
                f"many {'key and value heads' if decodes else 'query heads'} in all."
            )
        if wide != 1:
            notes.append(f"Heads {head_dim} wide are read from heads {table.head_dim} wide, in proportion.")
        if table.kv_dtype != kv_dtype:
            notes.append(f"A cache in {kv_dtype} is read from one in {table.kv_dtype}, which is as wide.")
        reading = found.grid.read(pairs, tokens).times(wide)
        outside = reading.outside | (wide != 1)
        return Reading(reading.seconds, np.asarray(outside), (*reading.notes, *notes))

    def experts_s(self, shape: ExpertShape, tokens: ArrayLike) -> Reading | None:
        """All routed experts of one layer, each token through its ``top_k`` of them, on one GPU.

        Args:
            shape: of the experts, exactly.
            tokens: of the step. [tokens]

        Returns:
            [s], in the shape of ``tokens``; does not fall as they rise. None: such experts were not measured.
        """
        experts = self.experts.get(shape)
        if experts is None:
            return None
        routing = experts.table.routing
        return experts.grid.read(tokens).noted(
            f"Experts as measured with the routing {routing}: some are hit more often."
        )

    def collective_s(self, op: str, num_bytes: ArrayLike, ranks: int) -> Reading | None:
        """One collective among ``ranks`` GPUs of a node.

        Args:
            op: as in :data:`core.collectives.OPS`.
            num_bytes: the whole unsharded tensor. [bytes]
            ranks: GPUs. One alone sends nothing.

        Returns:
            [s], in the shape of ``num_bytes``; does not fall as it rises. None: not measured for so many GPUs.
        """
        size = positive("num_bytes", num_bytes)
        if whole("ranks", ranks) == 1:
            return Reading(np.zeros(size.shape), np.zeros(size.shape, dtype=bool))
        messages = self.messages.get((op, ranks))
        return None if messages is None else messages.grid.read(size)

    def _nearest(self, phase: Phase, heads: int, kv_heads: int, head_dim: int, kv_dtype: str) -> Heads | None:
        """The table to read: of the same cache format, then width, then group of heads, then number of heads."""
        as_wide = {"bf16": ("bf16", "fp16"), "fp16": ("fp16", "bf16")}.get(kv_dtype, (kv_dtype,))
        candidates = [one for one in self.attention if one.table.phase == phase and one.table.kv_dtype in as_wide]
        if not candidates:
            return None

        def far(one: Heads) -> tuple[float, ...]:
            # A decode step reads the cache once for a group, whose size comes first; prefill multiplies for each query
            # head. A table of more heads than asked for has no batch as small.
            table, same = one.table, (float(one.table.kv_dtype != kv_dtype), abs(np.log(head_dim / one.table.head_dim)))
            group, nearest = abs(np.log(heads / kv_heads / one.group)), abs(np.log(heads / table.heads))
            if phase != "decode":
                return (*same, float(table.heads > heads), nearest, group)
            return (*same, group, float(table.kv_heads > kv_heads), nearest)

        return min(candidates, key=far)


def product_flops_per_s(m: ArrayLike, n: ArrayLike, k: ArrayLike, seconds: ArrayLike) -> Floats:
    """What a product achieves: 2 m n k over its time. [FLOP/s]"""
    flops = 2 * positive("m", m) * positive("n", n) * positive("k", k)
    return np.asarray(flops / positive("seconds", seconds))


def load_profiles() -> dict[str, Profile]:
    """Every profile of the catalog by id; each is read when it is first asked for in a process."""
    return {path.stem: _load(path.stem) for path in sorted(PROFILES.glob("*.json"))}


def profile_ids() -> tuple[str, ...]:
    """Ids of the catalog's profiles, without reading them; those of an accelerator bear its id."""
    return tuple(path.stem for path in sorted(PROFILES.glob("*.json")))


def load_profile(profile_id: str) -> Profile:
    """One profile of the catalog.

    Raises:
        ValueError: there is none of this id.
    """
    one_of("profile_id", profile_id, profile_ids())
    return _load(profile_id)


@lru_cache(maxsize=32)
def _load(profile_id: str) -> Profile:
    return Profile(ProfileFile.model_validate_json((PROFILES / f"{profile_id}.json").read_bytes()))


def spread_of(profile: Profile) -> Sequence[tuple[str, float]]:
    """How far each table was moved so as to rise: ninth decile of the factor, either way. [-]"""
    grids = [
        *((f"{role} products in {dtype}", one.grid) for (dtype, role), one in profile.products.items()),
        *((f"{one.table.phase} attention, {one.table.heads} heads", one.grid) for one in profile.attention),
        *((f"{shape.num_experts} experts in {shape.dtype}", one.grid) for shape, one in profile.experts.items()),
        *((f"{op} of {ranks}", one.grid) for (op, ranks), one in profile.messages.items()),
    ]
    return [
        (name, float(np.quantile(np.exp(np.abs(np.log(grid.moved[~np.isnan(grid.measured)]))), 0.9)))
        for name, grid in grids
    ]
