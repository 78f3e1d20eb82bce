"""The diagram of a paged cache: blocks in memory and each request's table, to step through or to play."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import streamlit as st

from core.charts.theme import PALETTE
from core.paged_blocks import BLOCK_TOKENS, LONGEST, NUM_BLOCKS, Frame, Held, story
from views._ui.assets import asset

_component = st.components.v2.component(
    "paged_picture",
    html=asset("paged_picture.html"),
    css=asset("paged_picture.css"),
    js=asset("paged_picture.js"),
)
SLOTS = NUM_BLOCKS * BLOCK_TOKENS


def paged_picture(*, key: str) -> None:
    """Draw it; it stands still until a button is pressed."""
    # In a list: Streamlit looks for data frames in a bare dict, and imports pandas for that.
    _component(key=key, data=[picture_data()])


@lru_cache(maxsize=1)
def picture_data() -> dict[str, Any]:
    """What the browser needs: one entry a step, in words and in blocks."""
    frames = story()
    return {
        "slots": BLOCK_TOKENS,
        "most": max(len(frame.held) for frame in frames),
        "colours": {scheme: colours["kv"] for scheme, colours in PALETTE.items()},
        "labels": {
            "table": "each request's table: its blocks in the order of its text",
            "tokens": f"tokens held, of {SLOTS} slots",
            "empty": "slots taken and empty (hatched)",
            "piece": f"slots, if each reserved {LONGEST} in one piece",
        },
        "frames": [_frame(frame, before) for before, frame in zip([None, *frames], frames, strict=False)],
    }


def _frame(frame: Frame, before: Frame | None) -> dict[str, Any]:
    owner = {block: one for one in frame.held for block in one.blocks}
    known = {(one.name, block) for one in before.held for block in one.blocks} if before else set()
    return {
        "words": f"{frame.words[0].upper()}{frame.words[1:]}.",
        "tokens": str(frame.tokens),
        "empty": str(frame.empty),
        "piece": str(frame.in_one_piece) + (", which do not fit" if frame.in_one_piece > SLOTS else ""),
        "blocks": [
            {
                "owner": owner[block].name,
                "filled": owner[block].filled(block),
                "fresh": (owner[block].name, block) not in known,
            }
            if block in owner
            else {"owner": "", "filled": 0, "fresh": False}
            for block in range(NUM_BLOCKS)
        ],
        "requests": [
            {
                "name": one.name,
                "blocks": [{"number": block + 1, "filled": one.filled(block)} for block in one.blocks],
            }
            for one in frame.held
        ],
        "alt": _alt(frame),
    }


def _alt(frame: Frame) -> str:
    def said(one: Held) -> str:
        blocks = ", ".join(str(block + 1) for block in one.blocks)
        return f"{one.name} holds {one.tokens} tokens in blocks {blocks}"

    held = "; ".join(said(one) for one in frame.held) or "nobody holds a block"
    return (
        f"Step {frame.step + 1}: {frame.words}. {held}. {frame.empty} slots are taken and empty,"
        f" {frame.free_blocks} of {NUM_BLOCKS} blocks are free."
    )
