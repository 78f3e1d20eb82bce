"""The diagram of a tile that moves through SRAM, with the online softmax of one query row, frame by frame."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import streamlit as st

from core.charts.theme import PALETTE
from core.tile_walk import Frame, Walk
from views._ui.assets import asset

_component = st.components.v2.component(
    "tile_walk",
    html=asset("tile_walk.html"),
    css=asset("tile_walk.css"),
    js=asset("tile_walk.js"),
)


def tile_walk(walk: Walk, *, key: str) -> None:
    """Draw it, paused at the first frame; another walk starts over."""
    _component(key=key, data=[walk_data(walk)])


def walk_data(walk: Walk) -> dict[str, Any]:
    """What the browser needs: every frame with its words, and the table's rows."""
    tiles = [f"{start + 1}" if stop == start + 1 else f"{start + 1}-{stop}" for start, stop in walk.tiles]
    data: dict[str, Any] = {
        "tiles": tiles,
        "rows": [[row.tile, row.scores, row.maximum, row.rescale, row.total, row.output] for row in walk.rows],
        "frames": [_frame(index, frame, walk, tiles) for index, frame in enumerate(walk.frames)],
        "colours": {scheme: {role: roles[role] for role in ("kv", "activations")} for scheme, roles in PALETTE.items()},
    }
    data["signature"] = hashlib.blake2b(json.dumps(data).encode(), digest_size=8).hexdigest()
    return data


def _frame(index: int, frame: Frame, walk: Walk, tiles: list[str]) -> dict[str, Any]:
    on_chip = "no tile" if frame.tile is None else f"the tile of keys {tiles[frame.tile]}"
    maximum, total, output = frame.chip
    return {
        "index": index,
        "tile": frame.tile,
        "used": frame.used,
        "rows": frame.rows,
        "chip": frame.chip,
        "scores": "" if frame.tile is None else walk.rows[frame.tile].scores,
        "title": frame.title,
        "words": frame.words,
        "alt": (
            f"Above, HBM with {len(tiles)} tiles of keys and values; below, SRAM with the queries and {on_chip}."
            f" Running maximum {maximum}, sum {total}, output times sum {output}. {frame.words}"
        ),
    }
