"""Small tables as one printable sheet; on a phone each row becomes a short list."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from core.cheat_sheet import Table
from views._ui.assets import asset

_CSS = asset("table.css", "cheat_sheet.css")


def sheet(tables: Sequence[Table]) -> None:
    """Every table with its formula and its source."""
    st.html(f"<style>{_CSS}</style><div class='rp-sheet'>{''.join(map(_section, tables))}</div>")


def _section(table: Table) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in table.head)
    rows = "".join(f"<tr>{_cells(table, row)}</tr>" for row in table.rows)
    return (
        f"<section><h2>{escape(table.title)}</h2>"
        f"<table class='rp-table'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p>{escape(table.formula)}. Source: {escape(table.source)}.</p></section>"
    )


def _cells(table: Table, row: tuple[str, ...]) -> str:
    return "".join(
        f"<td data-label='{escape(name)}'>{escape(value)}</td>" for name, value in zip(table.head, row, strict=True)
    )
