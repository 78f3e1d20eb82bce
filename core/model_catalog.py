"""The catalog of models: each row's config goes through the same reader as a config that a person pastes.

``catalog/models.json`` holds, per model: hub repository id, former ids, a config in Hugging Face form (only the fields
that the reader needs), the published counts with their source, and what to know about them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, PositiveInt

from core.model_spec import ModelSpec

CATALOG = Path(__file__).parent / "catalog" / "models.json"


class CatalogRow(BaseModel):
    """One model as it is written down; :func:`load_models` gives the model itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str  # hub repository, or organisation/model where there is no repository
    name: str
    aliases: tuple[str, ...] = ()  # former and sister repositories of the same shape
    published_total: PositiveInt | None  # parameters as the authors print them, with the digits they print
    published_active: PositiveInt | None = None
    source: str  # where the published count and the config are printed
    checked: str  # date, ISO 8601
    note: str = ""
    counts_differ: str = ""  # why the published total is not ours to within 1 %, where it is not
    config: dict[str, Any]


@cache
def _raw_rows() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(CATALOG.read_text(encoding="utf-8"))["models"])


@cache
def load_catalog_rows() -> tuple[CatalogRow, ...]:
    """All rows, validated, in the order of the file."""
    return tuple(CatalogRow(**row) for row in _raw_rows())


class ModelCatalog(Mapping[str, ModelSpec]):
    """Models by id, each read when it is first asked for. Aliases resolve but are not listed."""

    def __init__(self, rows: tuple[dict[str, Any], ...]) -> None:
        self._rows: dict[str, dict[str, Any]] = {row["id"]: row for row in rows}
        self._aliases: dict[str, str] = {alias: row["id"] for row in rows for alias in row.get("aliases", ())}
        self._models: dict[str, ModelSpec] = {}

    def canonical_id(self, model_id: str) -> str:
        """The id under which a model is listed. Raises KeyError for an unknown one."""
        canonical = self._aliases.get(model_id) or model_id
        if canonical not in self._rows:
            raise KeyError(model_id)
        return canonical

    def __getitem__(self, model_id: str) -> ModelSpec:
        canonical = self.canonical_id(model_id)
        known = self._models.get(canonical)
        if known is None:
            from core.hf_config import from_hf_config  # here: listing the catalog needs no reader

            row = self._rows[canonical]
            model = from_hf_config(row["config"])
            notes = (*model.notes, *(row[key] for key in ("note", "counts_differ") if row.get(key)))
            known = model.model_copy(update={"id": canonical, "name": row["name"], "notes": notes})
            self._models[canonical] = known
        return known

    def name(self, model_id: str) -> str:
        """A model's name, without reading its config."""
        return str(self._rows[self.canonical_id(model_id)]["name"])

    def __contains__(self, model_id: object) -> bool:
        return model_id in self._rows or model_id in self._aliases

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@cache
def load_models() -> ModelCatalog:
    """The catalog by hub repository id."""
    return ModelCatalog(_raw_rows())
