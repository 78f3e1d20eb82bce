"""Which card and numbers a practice page shows: the address says it, so that a link or Back brings the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import streamlit as st

from core.cards.card import AnyCard
from core.cards.draw import MAX_SEED, seed_from
from core.cards.own import draw_fault
from core.progress.recording import new_id
from views._ui import bank, registry

CARD, SEED, EDITION = "card", "seed", "v"


@dataclass(frozen=True, slots=True)
class Shown:
    """A card of the bank with its seed, and a remark if the link was made for another edition of it."""

    card: AnyCard
    seed: int
    remark: str = ""


def shown(*kinds: str) -> Shown | str | None:
    """What the address names: a card of these kinds, a sentence why it cannot be shown, or None if it names none."""
    card_id = st.query_params.get(CARD)
    if card_id is None:
        return None
    card = bank.cards().get(card_id)
    if card is None:
        return f"The link names the card {card_id[:80]!r}, which is not in this bank. Choose one here."
    if card.kind not in kinds:
        return f"{card.title} is another kind of card than this page shows. Choose one here."
    if SEED not in st.query_params:  # a link to the card, not to its numbers: draw new ones
        show(card, seed_from(new_id()))
    number = st.query_params[SEED]
    seed = seed_of(card)
    if seed is None or seed >= MAX_SEED:
        return f"The link asks for seed {number[:40]!r}; a seed is a whole number up to {MAX_SEED - 1:,}. Choose again."
    if card.own and (fault := draw_fault(card, seed)):
        return f"The numbers of this link cannot be put into {card.title}: {fault}. Choose again."
    edition = st.query_params.get(EDITION, card.content_hash)
    remark = "" if edition == card.content_hash else "This card was revised after the link was made."
    return Shown(card, seed, remark)


def seed_of(card: AnyCard) -> int | None:
    """The seed of this card in the address, if it is there."""
    number = st.query_params.get(SEED, "")
    here = st.query_params.get(CARD) == card.id and number.isascii() and number.isdecimal() and len(number) <= 10
    return int(number) if here else None


def show(card: AnyCard, seed: int) -> None:
    """Put a card into the address; the run that follows shows it."""
    st.query_params.update(query_of(card, seed))


def leave() -> None:
    """Take the card out of the address."""
    for key in (CARD, SEED, EDITION):
        if key in st.query_params:
            del st.query_params[key]


PAGE_OF_KIND = {"drill": "drills", "mcq": "quiz", "question": "cards", "bug": "faults", "claim": "claims"}


def page_of(card: AnyCard) -> str:
    """The script of the page that shows cards of this kind."""
    return registry.path_of(PAGE_OF_KIND[card.kind])


def query_of(card: AnyCard, seed: int | None = None) -> dict[str, str]:
    """The address of a card for a link, with these numbers or new ones.

    A link without numbers would get them when it is opened, as one more step of the browser's history: Back would
    lead to the same card with other numbers.
    """
    return {CARD: card.id, SEED: str(seed_from(new_id()) if seed is None else seed), EDITION: card.content_hash}


def link(card: AnyCard, label: str, *, icon: str | None = None) -> None:
    """A link that opens a card with new numbers.

    A link from a page to itself leaves Streamlit's address without the card, and a reload would lose it: there a button
    writes the address instead.
    """
    query = query_of(card)
    if urlsplit(st.context.url or "").path.endswith(f"/{PAGE_OF_KIND[card.kind]}"):
        seed = int(query[SEED])
        st.button(label, key=f"open.{card.id}", icon=icon, type="tertiary", on_click=show, args=(card, seed))
    else:
        st.page_link(page_of(card), label=label, icon=icon, query_params=query)
