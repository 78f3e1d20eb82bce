"""The map of topics by steps, as a table: how much is known now, what is due, where one is surer than right."""

from __future__ import annotations

from html import escape

import streamlit as st

from core.progress.topic_map import STEPS, Cell, TopicMap
from views._ui import bank
from views._ui.assets import asset

_CSS = asset("topic_map.css")
CAPTION = (
    "How much you would recall now, times the share of cards seen. Small: cards due. "
    "A ring: more than 15 points overconfident."
)


def map_view(topics: TopicMap) -> None:
    """Draw it; each cell says its numbers in words for who hears the page."""
    heads = "".join(f"<th scope='col'>{_step(step)}</th>" for step in STEPS)
    rows = "".join(
        f"<tr><th scope='row'>{escape(bank.topic_title(topic))}</th>"
        + "".join(_cell(topics.cells.get((topic, step)), _step(step)) for step in STEPS)
        + "</tr>"
        for topic in topics.topics
    )
    st.html(
        f"<style>{_CSS}</style><table class='rp-map'><caption>{escape(CAPTION)}</caption>"
        f"<thead><tr><th scope='col'>Topic</th>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _step(step: int | None) -> str:
    return "across" if step is None else f"step {step}"


def _cell(cell: Cell | None, step: str) -> str:
    if cell is None:
        return "<td class='rp-none'></td>"
    due = f"<small>{cell.due} due</small>" if cell.due else ""
    sure = " class='rp-sure'" if cell.overconfident else ""
    words = f"{step}: {cell.strength:.0%} known, {cell.seen} of {cell.cards} cards seen, {cell.due} due" + (
        ", overconfident" if cell.overconfident else ""
    )
    attributes = f"{sure} data-label='{step}' style='--known:{cell.strength:.3f}' title='{words}'"
    share = f"{cell.strength:.0%}" if cell.seen else "\N{EN DASH}"
    return f"<td{attributes}>{share}{due}</td>"
