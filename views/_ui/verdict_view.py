"""What binds the current scenario, with the first fix, its gain and its cost, and where to go next."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.verdict import Finding
from core.verdict_text import detail, fix_lines, headline, step_of
from views._ui import registry, state
from views._ui.words import inline


def verdicts(found: Sequence[Finding], unit: str) -> None:
    """One cell for training and one for serving."""
    grid = st.grid(2, min_column_width=320, border=True)
    for one in found:
        with grid.cell():
            _verdict(one, unit)


def badges(found: Sequence[Finding], number: int) -> str:
    """The mark on a step of the strip: which part of the scenario leads there."""
    parts = [one.part for one in found if step_of(one) == number]
    return "".join(f":gray-badge[{part} leads here]  \n" for part in parts)


def _verdict(found: Finding, unit: str) -> None:
    st.markdown(f"**{headline(found)}**  \n:small[{inline(detail(found, unit))}]")
    st.markdown("  \n".join(f"**{name}:** {inline(words)}" for name, words in fix_lines(found, unit)))
    if found.fix:
        st.button(
            "Apply it, and measure again",
            key=f"verdict.{found.part}.apply",
            icon=":material/check:",
            on_click=state.change,
            kwargs=dict(found.fix.fields),
        )
    number = step_of(found)
    if number is None:
        return
    step = registry.STEPS[number - 1]
    if step.url_path:
        words = f"**Next: {step.number} {step.title}**"
        st.page_link(registry.path_of(step.url_path), label=words, icon=":material/arrow_forward:")
    else:
        st.markdown(f":small[:gray[Next: {step.number} {step.title}, in the making]]")
