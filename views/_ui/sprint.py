"""A sprint: ten drills against the clock, then what came of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from core.cards.card import AnyCard, Card
from core.cards.draw import seed_from
from core.cards.picking import mixed
from core.progress.recording import new_id
from views._ui import answering
from views._ui.countdown import countdown
from views._ui.drill_view import Outcome, drill
from views._ui.picker import new_seed, seen
from views._ui.step_page import data_table

COUNT, SECONDS = 10, 600
_RUN = "sprint.run"


@dataclass
class Run:
    """One sprint: its cards with their seeds, which is on, and when it began."""

    cards: list[tuple[Card, int]]
    started: float = field(default_factory=time.monotonic)
    at: int = 0

    @property
    def seconds_left(self) -> float:
        return SECONDS - (time.monotonic() - self.started)

    @property
    def over(self) -> bool:
        return self.at >= len(self.cards) or self.seconds_left <= 0


def sprint(cards: Sequence[AnyCard]) -> None:
    """Start, run and close a sprint over these drills."""
    run: Run | None = st.session_state.get(_RUN)
    if run is None:
        st.button("Start", type="primary", icon=":material/timer:", on_click=_start, args=(cards,), disabled=not cards)
        return
    if run.over:
        _summary(run)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        countdown(run.seconds_left, key="sprint.countdown")
        st.markdown(f"**{run.at + 1}** of {len(run.cards)}")
        st.button("Stop", type="tertiary", key="sprint.stop", on_click=_stop)
    card, seed = run.cards[run.at]
    if drill(card, seed, "sprint", "sprint"):
        last = run.at + 1 == len(run.cards)
        label = "See how it went" if last else "Next"
        st.button(label, type="primary", key="sprint.next", on_click=_show, args=(run.at + 1,))


def _start(cards: Sequence[AnyCard]) -> None:
    chosen = mixed(cards, seen(), COUNT, seed=seed_from(new_id()))
    drawn = [(card, new_seed(card)) for card in chosen if isinstance(card, Card)]
    st.session_state[_RUN] = Run(drawn)


def _show(place: int) -> None:
    """Go to the drill at this place: a second click, which a busy server hears late, skips none."""
    st.session_state[_RUN].at = place


def _stop() -> None:
    run: Run = st.session_state[_RUN]
    run.at = len(run.cards)


def _summary(run: Run) -> None:
    done: list[tuple[Card, Outcome | None]] = [
        (card, answering.outcome(answering.key_of("sprint", card, seed))) for card, seed in run.cards
    ]
    right = sum(bool(outcome and outcome.grade and outcome.grade.correct) for _, outcome in done)
    answered = sum(outcome is not None for _, outcome in done)
    st.subheader(f"{right} of {len(done)} right, {answered} answered", anchor=False)
    rows = [{"drill": card.title, "result": _result(outcome)} for card, outcome in done]
    data_table(st.empty(), rows)
    st.button("Another sprint", type="primary", on_click=lambda: st.session_state.pop(_RUN, None))


def _result(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not reached"
    if outcome.grade is None:
        return "not known"
    return "right" if outcome.grade.correct else "within 2x" if outcome.grade.within_2x else "off"
