"""Shows where a number comes from: formula, values put in, unit, assumptions, source."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from core.display import show_bytes, show_count
from core.working import Working, number
from views._ui.words import plain

_SHOWN_TERMS = 14  # a real layer keeps about as many tensors; more would be a wall


def working_box(key: str) -> ExpanderContainer:
    """A closed box for derivations; opening it runs the page, so that they are worked out only when they are read."""
    return st.expander("How are these computed?", icon=":material/calculate:", key=key, on_change="rerun")


def show_workings(box: ExpanderContainer, workings: Callable[[], Iterable[Working]], unit: str) -> None:
    """The derivation of each number, if the box is open."""
    if box.open:
        with box:
            for working in workings():
                _show(working, unit)


def _show(working: Working, unit: str) -> None:
    result = show_bytes(working.value, unit) if working.unit == "bytes" else show_count(working.value)
    st.markdown(f"**{plain(working.name)}: {result}**")
    lines = [working.formula]
    if len(working.terms) == 1:
        lines.append(f"= {working.terms[0].expression}")
    else:
        lines += [f"  {term.expression}    {term.label}" for term in working.terms[:_SHOWN_TERMS]]
        if rest := working.terms[_SHOWN_TERMS:]:
            lines.append(f"  {number(sum(term.value for term in rest))}    {len(rest)} more terms")
    lines.append(f"= {number(working.value)} {working.unit}")
    st.code("\n".join(lines), language=None, wrap_lines=True)
    st.caption(plain("; ".join(working.assumptions) + f". Source: {working.source}."))
