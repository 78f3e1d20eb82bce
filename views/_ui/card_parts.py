"""Parts that all cards have on a page: what it is, its permalink, its sources, where its numbers live."""

from __future__ import annotations

import streamlit as st

from core.cards.card import AnyCard
from views._ui import bank, learner
from views._ui.predict import READING_WIDTH
from views._ui.words import money_safe

LEVEL_WORDS = {"mid": "mid level", "senior": "senior", "staff": "staff"}


def card_head(card: AnyCard) -> None:
    """Topic, level and the time that it should take, then the title."""
    own, seconds = " · your own card" if card.own else "", card.model.seconds
    minutes = f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
    st.caption(f"{bank.topic_title(card.topic)} · {LEVEL_WORDS[card.model.level]} · aim for {minutes}{own}")
    st.subheader(card.title, anchor=False)


def text(markdown: str) -> None:
    """A card's text in reading width."""
    st.markdown(money_safe(markdown), width=READING_WIDTH)


def sources(card: AnyCard) -> None:
    """What the card rests on, folded away."""
    with st.expander("Sources", icon=":material/menu_book:"):
        st.markdown("\n".join(f"- {line}" for line in bank.source_lines(card.model.sources)), width=READING_WIDTH)


def health_line() -> None:
    """When progress was saved, how large it is, and when it was exported last."""
    exported = learner.progress().exported_at
    days = (learner.now() - exported).days if exported else None
    sentence = "Being kept in this browser." if learner.saving() else learner.health().sentence()
    words = "never exported" if days is None else "exported today" if days == 0 else f"exported {days} days ago"
    st.markdown(f":small[:gray[{sentence} {words.capitalize()}.]]")
