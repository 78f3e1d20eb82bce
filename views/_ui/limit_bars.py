"""How near each of the four limits is to binding: a small bar a limit, with its number and its distance in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import streamlit as st

_CSS = (Path(__file__).parents[2] / "assets" / "limits.css").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class LimitBar:
    """One row."""

    limit: str
    share: float | None  # 1 binds; None where it is not known
    amount: str
    away: str
    binds: bool


def limit_bars(title: str, bars: Sequence[LimitBar]) -> None:
    """A table of bars; on a phone the bar stands under its limit's name."""
    st.html(
        f"<style>{_CSS}</style><table class='rp-limits'><caption>{escape(title)}</caption><tbody>"
        + "".join(_row(bar) for bar in bars)
        + "</tbody></table>"
    )


def _row(bar: LimitBar) -> str:
    name = "rp-binds" if bar.binds else "rp-unknown" if bar.share is None else ""
    width = 0.0 if bar.share is None else min(bar.share, 1.0)
    return (
        f"<tr class='{name}'><th scope='row'>{escape(bar.limit)}</th>"
        f"<td class='rp-bar'><div class='rp-track'><span style='width:{width:.2%}'></span></div></td>"
        f"<td class='rp-amount'>{escape(bar.amount)}</td><td class='rp-away'>{escape(bar.away)}</td></tr>"
    )
