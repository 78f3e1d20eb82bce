"""Scenarios that open with one click, each with the place that its numbers come from."""

from __future__ import annotations

import json
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.hardware import load_accelerators, load_links
from core.model_spec import load_models
from core.scenario import Scenario, build

_FILE = Path(__file__).parent / "catalog" / "presets.json"


class Preset(BaseModel):
    """One named scenario; its parts go by catalog id."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str
    title: str
    about: str
    page: str  # url_path of the page that shows it best
    model: str
    gpu: str
    up: str
    out: str
    values: dict[str, Any]
    source: str
    checked: date

    def scenario(self) -> Scenario:
        """The scenario itself, all rules applied."""
        links = load_links()
        return build(
            load_models()[self.model], load_accelerators()[self.gpu], links[self.up], links[self.out], self.values
        )


@lru_cache(maxsize=1)
def load_presets() -> dict[str, Preset]:
    """All presets by id, in the order that a page lists them."""
    rows = json.loads(_FILE.read_text(encoding="utf-8"))
    return {row["id"]: Preset.model_validate(row) for row in rows}
