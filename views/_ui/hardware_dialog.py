"""Choose an accelerator and its links, or edit their numbers by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import streamlit as st
from pydantic import ValidationError

from core import units
from core.display import digits, show_bytes
from core.hardware import Accelerator, Link, load_accelerators, load_links
from core.scenario import Scenario, build, field_values
from views._ui import state
from views._ui.controls import refusal
from views._ui.words import plain

Row = TypeVar("Row", Accelerator, Link)

# Field -> label and how many base units one shown unit holds.
ACCELERATOR_BOXES: Mapping[str, tuple[str, float]] = {
    "hbm_bytes": ("Memory, GB (decimal)", units.GB),
    "hbm_bytes_per_s": ("Memory bandwidth, GB/s", units.GB),
    "bf16_flops_per_s": ("Dense bf16 peak, TFLOP/s", units.TFLOP),
    "scale_up_bytes_per_s": ("Link to its neighbours, GB/s one way", units.GB),
}
LINK_BOXES: Mapping[str, tuple[str, float]] = {
    "bytes_per_s": ("Rate, GB/s one way", units.GB),
    "latency_s": ("Latency, microseconds", units.MICROSECOND),
}


@st.dialog("Accelerator and links", width="medium")
def show() -> None:
    """The dialog; it closes when the hardware is taken."""
    here = state.current()
    picked = _choose("gpu", "Accelerator", load_accelerators(), here.accelerator)
    accelerator, told = _edit("gpu", picked, ACCELERATOR_BOXES)
    st.caption(_facts(accelerator))
    left, right = st.columns(2)
    with left:
        # Another accelerator comes with links of its own; a key of its own makes the box start there.
        another = picked.scale_up_link if picked.id != here.accelerator.id else None
        scale_up, told_up = _link(f"up.{picked.id}", "Link inside a node", here.scale_up, start=another)
    with right:
        scale_out, told_out = _link("out", "Link between nodes", here.scale_out)
    if st.button("Use this hardware", type="primary", key="hardware.use", disabled=bool(told or told_up or told_out)):
        state.replace(_rebuilt(here, accelerator, scale_up, scale_out))
        st.rerun()


def _rebuilt(here: Scenario, accelerator: Accelerator, scale_up: Link, scale_out: Link) -> Scenario:
    return build(here.model, accelerator, scale_up, scale_out, field_values(here))


def _link(key: str, label: str, here: Link, *, start: str | None = None) -> tuple[Link, str]:
    link = _choose(key, label, load_links(), here, start=start)
    link, told = _edit(key, link, LINK_BOXES)
    return link, told


def _choose(key: str, label: str, catalog: Mapping[str, Row], here: Row, *, start: str | None = None) -> Row:
    """A row of the catalog, the scenario's own unless it is to ``start`` elsewhere; one edited earlier stands first."""
    rows = ({here.id: here} if here.id not in catalog else {}) | dict(catalog)
    ids = list(rows)
    picked = st.selectbox(
        label, ids, index=ids.index(start or here.id), format_func=lambda i: rows[i].name, key=f"hardware.{key}"
    )
    return rows[picked]


def _edit(key: str, row: Row, boxes: Mapping[str, tuple[str, float]]) -> tuple[Row, str]:
    """The row with numbers typed over, and the sentence that refuses them if they break a rule."""
    with st.expander("Edit the numbers by hand"):
        typed = {
            field: st.text_input(label, _shown(getattr(row, field), scale), key=f"hardware.{key}.{row.id}.{field}")
            for field, (label, scale) in boxes.items()
        }
    changes: dict[str, object] = {}
    for field, text in typed.items():
        label, scale = boxes[field]
        if text == _shown(getattr(row, field), scale):
            continue
        try:
            changes[field] = units.from_units(text, scale, whole=field == "hbm_bytes")
        except OverflowError:
            return row, _refuse(label, text, "that is too large")
        except ValueError:
            return row, _refuse(label, text, "it must be a number above zero")
    try:
        return row.edited(**changes), ""
    except ValidationError as error:
        fault = error.errors()[0]
        field = str(fault["loc"][-1])
        label, scale = boxes.get(field, (field, 1.0))
        bounds = fault.get("ctx", {})
        rule = "a number above zero"
        for bound, words in (("ge", "at least"), ("le", "at most")):
            if bound in bounds:
                rule = f"{words} {digits(units.in_units(bounds[bound], scale))}"
        return row, _refuse(label, typed.get(field, ""), f"it must be {rule}")


def _refuse(label: str, text: str, rule: str) -> str:
    sentence = f"{label} is {text!r}: {rule}. Try the catalog's own figure again, or another row."
    refusal(sentence)
    return sentence


def _shown(value: float | None, scale: float) -> str:
    return "" if value is None else digits(units.in_units(value, scale), 6).replace(",", "")


def _facts(accelerator: Accelerator) -> str:
    peaks = ", ".join(accelerator.peak_dtypes) or "none published"
    label = f" (printed as {accelerator.hbm_label})" if accelerator.hbm_label else ""
    counted = {"driver": ", as its driver reports it"}.get(accelerator.hbm_bytes_basis, "")
    unsure = (
        f" Not confirmed twice: {', '.join(accelerator.unverified_fields)}." if accelerator.unverified_fields else ""
    )
    return plain(
        f"{show_bytes(accelerator.hbm_bytes)} or {show_bytes(accelerator.hbm_bytes, 'GiB')}{counted}{label}; "
        f"dense peaks: {peaks}. "
        f"Source: {accelerator.source}, checked {accelerator.checked}.{unsure}"
    )
