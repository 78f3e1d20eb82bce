"""The parts that every step page has, in the same order: head, fix and its price, what to say, mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from views._ui.content import section
from views._ui.predict import READING_WIDTH
from views._ui.registry import STEPS

_TABLE_CSS = (Path(__file__).parents[2] / "assets" / "table.css").read_text(encoding="utf-8")


def step_head(number: int, title: str, limit: str) -> None:
    """Which step, its title, and its limit in three lines."""
    step = STEPS[number - 1]
    st.caption(f"Step {number} of {len(STEPS)} · {step.limit}")
    st.title(title, anchor=False)
    st.markdown(limit, width=READING_WIDTH)


def fix_table(rows: Sequence[Mapping[str, str]]) -> None:
    """When, do, gains, costs, confirm by."""
    st.header("The fix and its price", anchor="fix")
    data_table(st.empty(), rows)


def say_it(place: DeltaGenerator, topic: str, numbers: Mapping[str, str]) -> None:
    """What to say at the whiteboard, with the scenario's own numbers."""
    with place:
        st.markdown(section(topic, "Say it", numbers), width=READING_WIDTH)


def mistakes(topic: str) -> None:
    """The mistakes to avoid, wrong and right, and the sources."""
    with st.expander("Mistakes, wrong and right", icon=":material/rule:"):
        st.markdown(section(topic, "Mistakes"), width=READING_WIDTH)
    with st.expander("Sources", icon=":material/menu_book:"):
        st.markdown(section(topic, "Sources"), width=READING_WIDTH)


def data_table(
    place: DeltaGenerator, rows: Sequence[Mapping[str, str]], *, bold: int | None = None, small: str | None = None
) -> None:
    """A few rows to read; on a phone each row becomes a short list. No data frame, so nothing loads pandas.

    Args:
        bold: the row that stands out.
        small: the name of what stands small below each row's first cell, without a column of its own.
    """
    head = [name for name in rows[0] if name != small]
    first, others = head[0], head[1:]
    cells = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    body = "".join(
        f"<tr class='{'rp-bold' if index == bold else ''}'>"
        + f"<td data-label='{escape(first)}'>{escape(row[first])}"
        + (f"<span class='rp-small'>{escape(row[small])}</span></td>" if small is not None else "</td>")
        + "".join(f"<td data-label='{escape(name)}'>{escape(row[name])}</td>" for name in others)
        + "</tr>"
        for index, row in enumerate(rows)
    )
    table = f"<table class='rp-table'><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
    place.html(f"<style>{_TABLE_CSS}</style>{table}")


def csv_download(label: str, table: Callable[[], Mapping[str, Sequence[object]]], *, key: str) -> None:
    """A chart's data as CSV, in bytes; made when it is asked for, of the scenario as it is then."""
    run = get_script_run_ctx()

    def as_csv() -> str:
        import pandas as pd  # only when somebody downloads: it takes half a second to load

        # Streamlit asks for it outside any run of the script, where no session is known: lend it this one.
        with ThreadPoolExecutor(1, initializer=add_script_run_ctx, initargs=(None, run)) as in_session:
            columns = in_session.submit(table).result()
        return pd.DataFrame(dict(columns)).to_csv(index=False)

    st.download_button(
        label,
        as_csv,
        file_name=f"{key}.csv",
        mime="text/csv",
        icon=":material/download:",
        type="tertiary",
        key=key,
        on_click="ignore",
    )
