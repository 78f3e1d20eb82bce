"""What accelerators and links can do: capacities, dense peaks and one-way rates, each with its source and date.

The catalog rows are JSON in ``core/catalog``, in base units: bytes, FLOP/s, bytes/s, seconds.
"""

from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, Field, TypeAdapter, model_validator

CATALOG = Path(__file__).parent / "catalog"
CUSTOM_ID = "custom"  # the id of every row edited by hand; no catalog row may take it
EDITED = "edited by hand"
PEAK_DTYPES = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4")

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(max_length=120, pattern=r"\S")]  # it stands on a button and in sentences
Count = Annotated[int, Field(gt=0, le=10**18)]
# Bounds refuse slips of the keyboard, and keep every time and rate made of these short enough to read.
Rate = Annotated[float, Field(ge=1, le=1e24, allow_inf_nan=False)]
Latency = Annotated[float, Field(ge=1e-12, le=3600, allow_inf_nan=False)]


class CatalogRow(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """What every row says of itself. An optional number that is missing is None, never zero."""

    _falls_with: ClassVar[dict[str, dict[str, object]]] = {}  # edited field -> what no longer holds beside it

    id: Slug
    name: Name
    status: Literal["available", "announced"] = "available"
    source: Text
    source_url: Annotated[str, Field(pattern=r"^https://")] | None = None
    checked: date
    note: str = ""
    unverified_fields: tuple[str, ...] = ()  # seen in one place only, derived, or not confirmed

    @model_validator(mode="after")
    def _unverified_fields_hold_a_value(self) -> Self:
        for field in self.unverified_fields:
            if getattr(self, field, None) is None:
                raise ValueError(f"unverified_fields names {field!r}, which {self.id} does not have")
        return self

    def edited(self, **changes: object) -> Self:
        """This row with fields changed by hand, validated again, under the id ``custom``; itself if nothing changes.

        What an edited number was derived from (its printed label, the link it equals) is dropped unless given too.

        Raises:
            ValueError: a field is unknown or a value breaks its rule (pydantic's ValidationError).
        """
        row = self.model_dump()
        changed = {field: value for field, value in changes.items() if field not in row or row[field] != value}
        if not changed:
            return self
        fallen: dict[str, object] = {}
        for field in changed:
            fallen |= self._falls_with.get(field, {})
        marks = {
            "name": f"{self.name.removesuffix(' (edited)')[:100]} (edited)",
            "source": f"{EDITED}: {', '.join(sorted(changed))}; the rest from {self.name} ({self.source})",
        }
        row |= marks | fallen | changed | {"id": CUSTOM_ID}
        if "unverified_fields" not in changed:  # what was typed in is no longer the catalog's claim
            row["unverified_fields"] = tuple(
                field for field in self.unverified_fields if field not in changed and row[field] is not None
            )
        return self.model_validate(row)


class Accelerator(CatalogRow, frozen=True, extra="forbid", defer_build=True):
    """One accelerator. Peaks are dense: sparse datasheet figures are halved before they are written down.

    Field names follow NVIDIA's words; on other makes read SM as compute unit or Xe core, shared memory as LDS or SLM,
    HBM as whatever the main memory is.
    """

    _falls_with = {
        "hbm_bytes": {"hbm_bytes_basis": EDITED, "hbm_label": None, "hbm_label_bytes": None},
        "scale_up_bytes_per_s": {"scale_up_link": None},
    }

    vendor: Text
    architecture: Text
    compute_capability: Text | None = None
    form_factor: Text | None = None

    hbm_bytes: Count  # a driver's figure where known: the board's total, or that less the driver's reserve of up to 2 %
    hbm_bytes_basis: Literal["driver", "label read as GiB", "edited by hand"]
    hbm_label: Text | None = None  # as the vendor prints it, such as "80 GB"
    hbm_label_bytes: Count | None = None  # that label with its GB read as GiB, as nearly every vendor means it
    hbm_bytes_per_s: Rate  # at pin rate

    # Matrix units, 16-bit with FP32 accumulation; fp32 is the vector units' rate, int8 counts integer operations.
    fp32_flops_per_s: Rate | None = None
    tf32_flops_per_s: Rate | None = None
    bf16_flops_per_s: Rate | None = None
    fp16_flops_per_s: Rate | None = None
    fp8_flops_per_s: Rate | None = None
    int8_flops_per_s: Rate | None = None
    fp4_flops_per_s: Rate | None = None  # block-scaled formats: NVFP4, MXFP4

    num_sms: Count | None = None
    shared_memory_per_sm_bytes: Count | None = None
    shared_memory_per_block_max_bytes: Count | None = None
    register_file_per_sm_bytes: Count | None = None
    tensor_memory_per_sm_bytes: Count | None = None
    l2_bytes: Count | None = None
    last_level_cache_bytes: Count | None = None
    scratchpad_bytes: Count | None = None  # software-managed SRAM of the whole chip, where there are no SMs

    scale_up_bytes_per_s: Rate | None = None  # one way, all links of one accelerator together
    scale_up_link: Slug | None = None  # id in links.json, of the same rate
    scale_up_domain: Count | None = None  # accelerators that reach each other at that rate
    scale_out_bytes_per_s: Rate | None = None  # one way, with the usual one NIC per accelerator
    tdp_w: Rate | None = None

    @property
    def peak_dtypes(self) -> tuple[str, ...]:
        """The dtypes that have a peak here, widest first."""
        return tuple(dtype for dtype in PEAK_DTYPES if self._peak(dtype) is not None)

    @property
    def half_dtype(self) -> Literal["bf16", "fp16"] | None:
        """The 16-bit format to train and serve in: bf16 where there is one, else fp16; None when neither has a peak."""
        if self.bf16_flops_per_s is not None:
            return "bf16"
        return "fp16" if self.fp16_flops_per_s is not None else None

    def peak_flops_per_s(self, dtype: str) -> float:
        """Dense peak of the units that multiply ``dtype``. [FLOP/s]

        Raises:
            ValueError: ``dtype`` is no compute format, or this accelerator has no peak for it.
        """
        if dtype not in PEAK_DTYPES:
            raise ValueError(
                f"{dtype=} is not a compute format; choose one of {list(PEAK_DTYPES)} "
                "(weights stored in another format are widened to one of these before they are multiplied)"
            )
        peak = self._peak(dtype)
        if peak is not None:
            return peak
        message = f"{self.name} ({self.id}) has no {dtype} peak; "
        if not self.peak_dtypes:
            raise ValueError(message + "none is confirmed in any format, so use its capacity and bandwidth only")
        if dtype in ("bf16", "fp16") and self.half_dtype is not None:
            message += f"its 16-bit matrix format is {self.half_dtype}; "
        raise ValueError(message + f"choose one of {list(self.peak_dtypes)}")

    def _peak(self, dtype: str) -> float | None:
        peak: float | None = getattr(self, f"{dtype}_flops_per_s")
        return peak

    @model_validator(mode="after")
    def _capacity_agrees_with_its_label(self) -> Self:
        label = self.hbm_label_bytes
        if self.hbm_bytes_basis == "driver" and label is not None and self.hbm_bytes > label:
            raise ValueError(f"hbm_bytes={self.hbm_bytes} is more than the label, hbm_label_bytes={label}")
        if self.hbm_bytes_basis == "label read as GiB" and self.hbm_bytes != label:
            raise ValueError(f"hbm_bytes={self.hbm_bytes} rests on the label, so it must equal hbm_label_bytes={label}")
        if (self.hbm_label is None) != (label is None):
            raise ValueError(f"hbm_label={self.hbm_label!r} and hbm_label_bytes={label} go together")
        return self

    @model_validator(mode="after")
    def _scale_up_rate_is_that_of_its_link(self) -> Self:
        if self.scale_up_link is None:
            return self
        link = load_links().get(self.scale_up_link)
        if link is None:
            raise ValueError(f"scale_up_link={self.scale_up_link!r} is unknown; choose one of {sorted(load_links())}")
        if link.bytes_per_s != self.scale_up_bytes_per_s:
            raise ValueError(
                f"scale_up_bytes_per_s={self.scale_up_bytes_per_s} is not the {link.bytes_per_s} of {link.name}; "
                "give the same rate, or no scale_up_link"
            )
        return self


class Link(CatalogRow, frozen=True, extra="forbid", defer_build=True):
    """One way for accelerators to exchange data; rates are one way, per accelerator."""

    _falls_with = {
        "bytes_per_s": {"effective_bytes_per_s": None, "bytes_per_s_per_peer": None, "num_links": None},
        "latency_s": {"latency_source": EDITED, "bulk_latency_s": None},
        "bulk_latency_s": {"latency_source": EDITED},
    }

    kind: Literal["scale-up", "switch", "mesh", "torus", "host", "pcie", "scale-out"]
    bytes_per_s: Rate  # raw rate of all links of one accelerator together
    effective_bytes_per_s: Rate | None = None  # after line coding, or what NCCL or the vendor's own book plans with
    bytes_per_s_per_peer: Rate | None = None  # mesh and torus: to any one neighbour
    num_links: Count | None = None
    max_domain: Count | None = None  # accelerators that it can join
    latency_s: Latency | None = None  # one hop, small messages; None when unknown
    bulk_latency_s: Latency | None = None  # one hop under the protocol that large messages take
    latency_source: Text | None = None

    @model_validator(mode="after")
    def _parts_stay_below_the_whole(self) -> Self:
        for field in ("effective_bytes_per_s", "bytes_per_s_per_peer"):
            part = getattr(self, field)
            if part is not None and part > self.bytes_per_s:
                raise ValueError(f"{field}={part} is more than bytes_per_s={self.bytes_per_s}")
        if (self.latency_s is not None or self.bulk_latency_s is not None) and self.latency_source is None:
            raise ValueError(f"{self.id} gives a latency without latency_source")
        return self


def load_accelerators() -> dict[str, Accelerator]:
    """Every accelerator of the catalog by id, in catalog order; a fresh dict of shared frozen rows."""
    return {row.id: row for row in _accelerators()}


def load_links() -> dict[str, Link]:
    """Every link of the catalog by id, in catalog order; a fresh dict of shared frozen rows."""
    return {row.id: row for row in _links()}


@lru_cache(maxsize=1)
def _accelerators() -> tuple[Accelerator, ...]:
    path = CATALOG / "accelerators.json"
    rows = TypeAdapter(tuple[Accelerator, ...]).validate_json(path.read_bytes())
    _refuse_repeated_ids(rows, path)
    return rows


@lru_cache(maxsize=1)
def _links() -> tuple[Link, ...]:
    path = CATALOG / "links.json"
    rows = TypeAdapter(tuple[Link, ...]).validate_json(path.read_bytes())
    _refuse_repeated_ids(rows, path)
    return rows


def _refuse_repeated_ids(rows: tuple[CatalogRow, ...], path: Path) -> None:
    seen = {CUSTOM_ID}
    for row in rows:
        if row.id in seen:
            raise ValueError(f"{path.name}: id {row.id!r} is taken; every row needs its own")
        seen.add(row.id)
