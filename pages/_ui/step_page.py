"""The parts that every step page has, in the same order: head, fix and its price, what to say, mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from pages._ui.content import section
from pages._ui.predict import READING_WIDTH
from pages._ui.registry import STEPS
from pages._ui.words import money_safe


def step_head(number: int, title: str, limit: str) -> None:
    """Which step, its title, and its limit in three lines."""
    step = STEPS[number - 1]
    st.caption(f"Step {number} of {len(STEPS)} · {step.limit}")
    st.title(title, anchor=False)
    st.markdown(money_safe(limit), width=READING_WIDTH)


def fix_table(rows: Sequence[Mapping[str, str]]) -> None:
    """When, do, gains, costs, confirm by."""
    st.header("The fix and its price", anchor="fix")
    data_table(rows)


def closing(topic: str, numbers: Mapping[str, str]) -> None:
    """What to say at the whiteboard, the mistakes to avoid, and the sources."""
    st.header("Say it", anchor="say")
    with st.container(border=True):
        st.markdown(money_safe(section(topic, "Say it", numbers)), width=READING_WIDTH)
    with st.expander("Mistakes, wrong and right", icon=":material/rule:"):
        st.markdown(money_safe(section(topic, "Mistakes")), width=READING_WIDTH)
    with st.expander("Sources", icon=":material/menu_book:"):
        st.markdown(money_safe(section(topic, "Sources")), width=READING_WIDTH)


def data_table(rows: Sequence[Mapping[str, str]]) -> None:
    """A few rows to read; it scrolls by itself where the page is narrow."""
    st.table(pd.DataFrame(list(rows)), hide_index=True, border="horizontal")


def csv_download(label: str, table: Callable[[], Mapping[str, Sequence[object]]], *, key: str) -> None:
    """A chart's data as CSV, in bytes; made when it is asked for."""
    st.download_button(
        label,
        lambda: pd.DataFrame(dict(table())).to_csv(index=False),
        file_name=f"{key}.csv",
        mime="text/csv",
        icon=":material/download:",
        type="tertiary",
        key=key,
        on_click="ignore",
    )
