"""Choosing what to practise next, by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from core.cards.card import AnyCard, Kind
from core.cards.draw import fresh_seed, seed_from
from core.cards.picking import pick
from core.progress.document import active_attempts
from core.progress.recording import new_id
from pages._ui import bank, card_address, learner

ALL = "All topics"


def topic_filter(kind: Kind) -> list[AnyCard]:
    """A box to choose a topic, and the cards of one kind in it."""
    topics = list(dict.fromkeys(card.topic for card in bank.of_kind(kind)))
    topic = st.selectbox(
        "Topic",
        [ALL, *topics],
        format_func=lambda topic: topic if topic == ALL else bank.topic_title(topic),
        key=f"{kind}.topic",
        width=260,
        on_change=card_address.leave,
        persist_state="session",
    )
    return [card for card in bank.of_kind(kind) if topic in (ALL, card.topic)]


def on_page(kind: Kind, cards: Sequence[AnyCard]) -> card_address.Shown | None:
    """The card that the address names, else the next one of these; a link that leads nowhere is answered in words."""
    shown = card_address.shown(kind)
    if isinstance(shown, str):
        st.warning(shown, icon=":material/link_off:")
    if not isinstance(shown, card_address.Shown):
        shown = next_card(cards)
    if shown and shown.remark:
        st.info(shown.remark)
    return shown


def next_card(cards: Sequence[AnyCard], after: AnyCard | None = None) -> card_address.Shown | None:
    """Choose the next card with new numbers and put it into the address."""
    card = pick(cards, seen(), last=after, seed=seed_from(new_id())) or (cards[0] if cards else None)
    if card is None:
        return None
    seed = new_seed(card)
    card_address.show(card, seed)
    return card_address.Shown(card, seed)


def new_seed(card: AnyCard) -> int:
    """Numbers that differ from those that the learner saw last, and from those on the page."""
    known = [attempt.seed for attempt in active_attempts(learner.progress()) if attempt.card_id == card.id]
    shown = card_address.seed_of(card)
    avoid = [seed for seed in (*known[-1:], shown) if seed is not None]
    return fresh_seed(card, new_id(), avoid)


def seen() -> Counter[str]:
    """How often each card was answered."""
    return Counter(attempt.card_id for attempt in active_attempts(learner.progress()))
