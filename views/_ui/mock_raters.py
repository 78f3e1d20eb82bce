"""Two raters side by side, once both have committed: where they differ, on what evidence, and how far they agree."""

from __future__ import annotations

import streamlit as st

from core.mock.agreement import Agreement, Coefficient
from core.mock.rater_view import OtherRating
from core.mock.scorecard import Scorecard
from core.mock.state import EvidenceLine
from views._ui.room import Room
from views._ui.rooms import ROLE_WORDS
from views._ui.step_page import data_table
from views._ui.words import counted, plain


def other_rater(card: Scorecard, other: OtherRating, room: Room) -> None:
    """One other rater against this one: levels, evidence where they lie two or more apart, shares of agreement."""
    who = ROLE_WORDS[other.role]
    st.subheader(f"Beside the {who.lower()}", anchor=False)
    judged = card.overall.judgement if card.overall else ""
    named = {item.id: f"{item.title} (#{item.id})" for item in card.items}
    rows = [{"item": "all in all", "yours": judged, who.lower(): other.rating.judgement or "", "apart": ""}]
    rows += [
        {
            "item": named[row.item],
            "yours": level_in_words(row.first),
            who.lower(): level_in_words(row.second),
            "apart": "" if row.apart is None else str(row.apart),
        }
        for row in other.differences
    ]
    data_table(st.empty(), rows, bold=0)
    st.markdown(agreement_in_words(other.agreement))
    for row in other.differences:
        if row.wide:
            apart = f"**{plain(row.item)}** lies {row.apart} levels apart. Talk about the evidence:"
            st.markdown(f":material/warning: {apart}")
            own, theirs = st.columns(2)
            with own:
                _evidence("Yours", room.state.ratings[card.rater].evidence, row.item)
            with theirs:
                _evidence(who, other.rating.evidence, row.item)


def _evidence(who: str, lines: tuple[EvidenceLine, ...], item: str) -> None:
    found = [f"- {plain(line.sign)} {plain(line.text)}" for line in lines if line.item == item]
    st.markdown(f"**{who}**\n\n" + ("\n".join(found) or ":gray[no evidence]"))


def level_in_words(level: int | None) -> str:
    """A level, or that there is none."""
    return "not observed" if level is None else str(level)


def agreement_in_words(found: Agreement) -> str:
    """Shares from the first pair on; a coefficient only where there are units enough for one."""
    if found.exact is None or found.within_one is None:
        return "No item was scored by both."
    words = [
        f"Of {counted(found.units, 'item')} scored by both, {found.exact:.0%} have the same level and "
        f"{found.within_one:.0%} lie within one."
    ]
    words += [_coefficient(name, value) for name, value in (("Kappa", found.kappa), ("Alpha", found.alpha)) if value]
    if found.kappa is None and found.alpha is None:
        words.append("So few items say nothing about how well you agree in general.")
    return " ".join(words)


def _coefficient(name: str, value: Coefficient) -> str:
    return f"{name} {value.value:.2f} (95% interval {value.low:.2f} to {value.high:.2f})."
