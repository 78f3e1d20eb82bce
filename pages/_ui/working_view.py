"""Shows where a number comes from: formula, values put in, unit, assumptions, source."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from core.display import show_bytes, show_count
from core.working import Working, number
from pages._ui.words import plain

_SHOWN_TERMS = 14  # a real layer keeps about as many tensors; more would be a wall


def show_workings(label: str, workings: Iterable[Working], unit: str) -> None:
    """One closed box with the derivation of each number in it."""
    with st.expander(label, icon=":material/calculate:"):
        for working in workings:
            _show(working, unit)


def _show(working: Working, unit: str) -> None:
    result = show_bytes(working.value, unit) if working.unit == "bytes" else show_count(working.value)
    st.markdown(f"**{plain(working.name)}: {result}**")
    lines = [working.formula]
    if len(working.terms) == 1:
        lines.append(f"= {working.terms[0].expression}")
    else:
        lines += [f"  {term.expression}    {term.label}" for term in working.terms[:_SHOWN_TERMS]]
    lines.append(f"= {number(working.value)} {working.unit}")
    st.code("\n".join(lines), language=None, wrap_lines=True)
    st.caption(plain("; ".join(working.assumptions) + f". Source: {working.source}."))
