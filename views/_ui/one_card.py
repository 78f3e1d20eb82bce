"""A page that shows one card of a kind at a time: the one that the address names, or the next one of a topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core.cards.card import AnyCard, Kind
from core.progress.document import Mode
from views._ui.card_tools import tools
from views._ui.picker import next_card, on_page, topic_filter

CardT = TypeVar("CardT", bound=AnyCard)
View = Callable[[CardT, int, str, Mode | None], object]


def one_at_a_time(kind: Kind, card_class: type[CardT], view: View[CardT], *, place: str, thing: str) -> None:
    """The filter, the card, and the way on.

    Args:
        kind: of card.
        card_class: of that kind.
        view: draws a card and gives what was committed, once it was.
        place: under which answers are kept.
        thing: what such a card is called.
    """
    cards = topic_filter(kind)
    shown = on_page(kind, cards, thing)
    if shown is None or not isinstance(shown.card, card_class):
        return
    done = view(shown.card, shown.seed, place, "quiz")
    st.button(
        f"Next {thing}",
        type="primary" if done else "secondary",
        icon=":material/arrow_forward:",
        on_click=lambda: next_card(cards, after=shown.card),
    )
    if done:
        tools(shown.card, shown.seed)
