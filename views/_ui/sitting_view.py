"""A sitting: cards one after the other, a missed one once more at the end, then what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from core.cards.bug import BugCard
from core.cards.card import AnyCard, Card
from core.cards.claim import ClaimCard
from core.cards.mcq import McqCard
from core.progress.document import Mode
from core.progress.recording import new_id
from core.progress.sitting import Sitting, sit_down
from views._ui import answering, bank
from views._ui.bug_view import bug
from views._ui.claim_view import claim
from views._ui.drill_view import drill
from views._ui.mcq_view import mcq
from views._ui.picker import new_seed
from views._ui.question_view import question


@dataclass(frozen=True)
class Running:
    """One sitting of one session: what waits, what was answered, and the token that the numbers are drawn from."""

    sitting: Sitting
    total: int
    repeats: bool
    token: str = field(default_factory=new_id)
    done: tuple[str, ...] = ()  # ids of the attempts in the log


def key_of(place: str) -> str:
    """Under which the sitting of a page is kept."""
    return f"{place}.sitting"


def running(place: str) -> Running | None:
    """The sitting that is on, if one is."""
    return st.session_state.get(key_of(place))


def start(place: str, cards: Sequence[str], *, repeats: bool) -> None:
    """Begin one; with repeats, a missed card comes once more."""
    st.session_state[key_of(place)] = Running(sit_down(cards), len(cards), repeats)


def leave(place: str) -> None:
    """Forget it."""
    st.session_state.pop(key_of(place), None)


def run(place: str, mode: Mode, at_the_end: Callable[[Running], None]) -> None:
    """Show the card that is on, or the end."""
    here = running(place)
    if here is None:
        return
    card = bank.cards().get(here.sitting.current or "")
    if here.sitting.current is not None and card is None:  # an own card that was taken out meanwhile
        _drop(place, here)
        st.rerun()
    if card is None:
        at_the_end(here)
        return
    repeat = here.sitting.is_repeat
    left = len(here.sitting.waiting)
    st.progress((here.total - min(left, here.total)) / max(here.total, 1), text=_where(here, left, repeat))
    seed = _seed(place, here, card, repeat)
    key = answering.key_of(place, card, seed)
    show(card, seed, place, None if repeat else mode)
    rated = answering.rating_of(key)
    with st.container(horizontal=True):
        if rated is not None:
            label = "Next" if left > 1 or (rated == "again" and here.repeats and not repeat) else "Finish"
            st.button(
                label,
                type="primary",
                icon=":material/arrow_forward:",
                key=f"{place}.next.{key}",
                on_click=_advance,
                args=(place, here, key),
            )
        else:
            st.button("Not today", type="tertiary", key=f"{place}.drop.{key}", on_click=_drop, args=(place, here))
        st.button("Stop here", type="tertiary", key=f"{place}.stop.{key}", on_click=_stop, args=(place, key))


def _seed(place: str, here: Running, card: AnyCard, repeat: bool) -> int:
    """New numbers for each showing, kept while it lasts."""
    kept = f"{place}.seed.{here.token}.{card.id}.{'again' if repeat else 'first'}"
    if kept not in st.session_state:
        st.session_state[kept] = new_seed(card)
    seed: int = st.session_state[kept]
    return seed


def show(card: AnyCard, seed: int, place: str, mode: Mode | None) -> None:
    """One card of any kind."""
    if isinstance(card, McqCard):
        mcq(card, seed, place, mode)
    elif isinstance(card, BugCard):
        bug(card, seed, place, mode)
    elif isinstance(card, ClaimCard):
        claim(card, seed, place, mode)
    elif isinstance(card, Card) and card.kind == "drill":
        drill(card, seed, place, mode)
    else:
        question(card, seed, place, mode)


def _where(here: Running, left: int, repeat: bool) -> str:
    if repeat:
        return f"Once more for what you missed: {left} left"
    return f"{len(here.done) + 1} of {here.total}"


# A click names the state that it was made in: the second of two, which a busy server hears late, changes nothing.


def _advance(place: str, here: Running, key: str) -> None:
    rated = answering.rating_of(key)
    if running(place) != here or rated is None:
        return
    done = here.done if here.sitting.is_repeat else (*here.done, answering.id_of(key))
    sitting = here.sitting.answered(rated if here.repeats else "good")
    st.session_state[key_of(place)] = replace(here, sitting=sitting, done=done)


def _drop(place: str, here: Running) -> None:
    if running(place) != here:
        return
    sitting = replace(here.sitting, waiting=here.sitting.waiting[1:])
    st.session_state[key_of(place)] = replace(here, sitting=sitting, total=max(here.total - 1, len(here.done)))


def _stop(place: str, key: str) -> None:
    if (here := running(place)) and answering.rating_of(key):
        _advance(place, here, key)
    if here := running(place):
        st.session_state[key_of(place)] = replace(here, sitting=replace(here.sitting, waiting=()))
