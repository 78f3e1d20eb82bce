"""The bank as a list: filters above, a line for each card, a page of lines at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from core.cards.card import AnyCard
from core.cards.find import matching
from views._ui import bank, card_address
from views._ui.card_parts import LEVEL_WORDS
from views._ui.picker import seen
from views._ui.words import plain

PER_PAGE = 24
STEP_WORDS = {0: "across", 1: "1", 2: "2", 3: "3", 4: "4", 5: "5"}
ICONS = {
    "drill": ":material/calculate:",
    "mcq": ":material/quiz:",
    "question": ":material/forum:",
    "bug": ":material/bug_report:",
    "claim": ":material/fact_check:",
}


def card_list(cards: Sequence[AnyCard]) -> None:
    """Filters and the cards that pass them."""
    found = _filtered(cards)
    pages = max(1, math.ceil(len(found) / PER_PAGE))
    page = min(st.session_state.get("cards.page", 1), pages)
    done = seen()
    st.markdown(f":small[:gray[{len(found)} of {len(cards)} cards]]")
    for card in found[(page - 1) * PER_PAGE : page * PER_PAGE]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            card_address.link(card, f"**{plain(card.title)}**", icon=ICONS[card.kind])
            times = f" · answered {done[card.id]}x" if done[card.id] else ""
            own = " · own" if card.own else ""
            about = f"{bank.topic_title(card.topic)} · {LEVEL_WORDS[card.model.level]}{own}{times}"
            st.markdown(f":small[:gray[{plain(about)}]]")
    if not found:
        st.info("No card matches all of these filters. Remove one.")
    elif pages > 1:
        st.pagination(pages, key="cards.page")


def _filtered(cards: Sequence[AnyCard]) -> list[AnyCard]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Words", key="cards.words", placeholder="ring all-reduce", max_chars=80, width=220, persist_state="session"
        )
        topics = st.multiselect(
            "Topics",
            list(bank.topics()),
            format_func=bank.topic_title,
            key="cards.topics",
            width=320,
            persist_state="session",
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kinds = st.pills(
            "Kinds",
            list(bank.KIND_WORDS),
            selection_mode="multi",
            format_func=bank.KIND_WORDS.__getitem__,
            key="cards.kinds",
            persist_state="session",
        )
        levels = st.pills(
            "Levels",
            list(LEVEL_WORDS),
            selection_mode="multi",
            format_func=LEVEL_WORDS.__getitem__,
            key="cards.levels",
            persist_state="session",
        )
        steps = st.pills(
            "Steps",
            list(STEP_WORDS),
            selection_mode="multi",
            format_func=STEP_WORDS.__getitem__,
            key="cards.steps",
            persist_state="session",
        )
    return matching(cards, kinds=kinds, topics=topics, levels=levels, steps=steps, words=words)
