"""Choosing what to practise next, by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from core.cards.card import AnyCard, Kind
from core.cards.draw import FRESH_TRIES, fresh_seed, seed_from
from core.cards.own import draw_fault
from core.cards.picking import pick
from core.progress.document import active_attempts
from core.progress.recording import new_id
from views._ui import bank, card_address, learner, own_cards
from views._ui.words import plain

ALL = "All topics"
_REFUSED = "address.refused"


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


def on_page(kind: Kind, cards: Sequence[AnyCard], thing: str) -> card_address.Shown | None:
    """The card that the address names, else the next one of these, of which each is called a ``thing``.

    A link that leads nowhere is answered in words, which stay as long as the card that was chosen in its place.
    """
    named = card_address.shown(kind)
    if isinstance(named, str) and not own_cards.ready():
        st.markdown(":gray[Reading your cards from this browser ...]")
        return None
    shown = named if isinstance(named, card_address.Shown) else next_card(cards)
    if shown is None:
        st.info(f"There is no {thing} on this topic. Choose another.")
        return None
    place = (shown.card.id, shown.seed)
    if isinstance(named, str):
        st.session_state[_REFUSED] = (place, named)
    refused_at, sentence = st.session_state.get(_REFUSED, (None, ""))
    if refused_at == place:
        st.warning(plain(sentence), icon=":material/link_off:")
    if shown.remark:
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
    seeds = (fresh_seed(card, new_id(), avoid) for _ in range(FRESH_TRIES))
    return next((seed for seed in seeds if not (card.own and draw_fault(card, seed))), 0)


def seen() -> Counter[str]:
    """How often each card was answered."""
    return Counter(attempt.card_id for attempt in active_attempts(learner.progress()))
