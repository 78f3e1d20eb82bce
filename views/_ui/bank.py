"""The bank of cards as pages see it: what ships with the app, and the own cards of a session beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from urllib.parse import quote

import streamlit as st

from core.cards.card import AnyCard
from core.cards.library import Bank, read_bank
from core.cards.models import Source, TopicEntry
from core.progress.card_info import CardInfo, CardKind
from views._ui.words import plain

_OWN, _OWN_SOURCES = "bank.own", "bank.own_sources"
_OF_ADDRESSES = ":/?#@!$&'()*+,;=%~"  # what an address may hold as it is; brackets, < and > end one in Markdown
KIND_WORDS = {
    "drill": "Drill",
    "mcq": "Quiz",
    "question": "Open question",
    "bug": "Spot the bug",
    "claim": "Critique a claim",
}
_LOGGED_AS: dict[str, CardKind] = {  # progress knows what is graded by a pick, whatever is picked from
    "drill": "drill",
    "mcq": "mcq",
    "question": "question",
    "bug": "mcq",
    "claim": "mcq",
}


@lru_cache(maxsize=1)
def shipped() -> Bank:
    """The bank that ships with the app, read once a process; a file with a fault is left out (the tests find it)."""
    return read_bank()


def own_cards() -> dict[str, AnyCard]:
    """The learner's own cards of this session, by id."""
    found: dict[str, AnyCard] = st.session_state.get(_OWN, {})
    return found


def keep_own_cards(cards: dict[str, AnyCard], sources: dict[str, Source]) -> None:
    """Put own cards beside the shipped ones for this session."""
    st.session_state[_OWN] = cards
    st.session_state[_OWN_SOURCES] = sources


def cards() -> dict[str, AnyCard]:
    """Every card by id; an own card never takes the place of a shipped one."""
    own = own_cards()
    return {**own, **shipped().cards} if own else shipped().cards


def of_kind(kind: str) -> list[AnyCard]:
    """Every card of one kind, in the order of topics and ids."""
    place = _places()
    found = [card for card in cards().values() if card.kind == kind]
    return sorted(found, key=lambda card: (place(card), card.id))


def topics() -> dict[str, TopicEntry]:
    """The topics in their order."""
    return shipped().topics


def topic_title(topic: str) -> str:
    """A topic's name; an own topic is its own name."""
    entry = topics().get(topic)
    return entry.title if entry else topic


def info(card: AnyCard) -> CardInfo:
    """What progress has to know of a card."""
    return CardInfo(
        id=card.id,
        kind=_LOGGED_AS[card.kind],
        topic=card.topic,
        step=card.step or None,
        level=card.model.level,
        content_hash=card.content_hash,
        answer_hash=card.answer_hash,
        target_seconds=float(card.model.seconds),
    )


def infos() -> list[CardInfo]:
    """All of it for every card that a schedule may ask."""
    return [info(card) for card in sorted(cards().values(), key=_places())]


def _places() -> Callable[[AnyCard], int]:
    """The place of a card's topic among the topics; own topics come last."""
    order = {topic: place for place, topic in enumerate(topics())}
    return lambda card: order.get(card.topic, len(order))


def source_lines(keys: tuple[str, ...]) -> list[str]:
    """The sources of a card as Markdown lines; those of own cards come from a stranger's file."""
    known: dict[str, Source] = {**st.session_state.get(_OWN_SOURCES, {}), **shipped().sources}
    return [_source_line(known[key]) if key in known else plain(key) for key in keys]


def _source_line(source: Source) -> str:
    address = quote(source.url, safe=_OF_ADDRESSES)
    return f"[{plain(source.title)}](<{address}>), {source.year}"
