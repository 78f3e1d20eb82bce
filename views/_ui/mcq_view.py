"""One multiple-choice question: stem, shuffled options, a commit, then the reason for every option."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.cards.grading import shuffled
from core.cards.mcq import McqCard, Option
from core.progress.document import Mode
from views._ui import answering
from views._ui.card_parts import card_head, sources, text
from views._ui.keys import quiz_keys
from views._ui.predict import READING_WIDTH
from views._ui.words import money_safe


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was committed; no option means "I do not know"."""

    option: str | None
    confidence: int | None
    correct: bool


def mcq(card: McqCard, seed: int, place: str, mode: Mode | None) -> Outcome | None:
    """Draw one showing of a question; what was committed, once it was.

    Which option is right, and why, is sent only after the commit.
    """
    key = answering.key_of(place, card, seed)
    options = shuffled(card, seed)
    outcome: Outcome | None = answering.outcome(key)
    with st.container(border=True):
        card_head(card)
        text(card.model.stem)
        if outcome is None:
            answering.start_clock(key)
            _ask(card, options, seed, key, mode)
        else:
            _reveal(card, options, outcome)
    quiz_keys()
    return outcome


def _ask(card: McqCard, options: list[Option], seed: int, key: str, mode: Mode | None) -> None:
    with st.form(f"{key}.form", border=False):
        st.radio(
            "Your answer",
            [option.text for option in options],
            index=None,
            format_func=money_safe,
            key=f"{key}.choice",
            label_visibility="collapsed",
            width=READING_WIDTH,
        )
        if st.session_state.get(f"{key}.refused"):
            st.markdown(":red[:material/error: Choose an answer first, or press I do not know.]")
        answering.ask_confidence(key, "How sure are you?", answering.MCQ_CONFIDENCES)
        with st.container(horizontal=True):
            st.form_submit_button("Commit", type="primary", on_click=_commit, args=(card, seed, key, mode))
            st.form_submit_button("I do not know", on_click=_give_up, args=(card, seed, key, mode))


def _commit(card: McqCard, seed: int, key: str, mode: Mode | None) -> None:
    chosen: str | None = st.session_state.get(f"{key}.choice")
    if chosen is None:
        st.session_state[f"{key}.refused"] = True
        return
    correct = any(option.correct and option.text == chosen for option in card.model.options)
    if answering.lock(key, Outcome(chosen, answering.confidence(key), correct)):
        position = [option.text for option in card.model.options].index(chosen)
        answering.log(key, card, mode, seed=seed, correct=correct, answer=chosen, option=str(position))


def _give_up(card: McqCard, seed: int, key: str, mode: Mode | None) -> None:
    if answering.lock(key, Outcome(None, None, False)):
        answering.log(key, card, mode, seed=seed, correct=False, dont_know=True)


def _reveal(card: McqCard, options: list[Option], outcome: Outcome) -> None:
    if outcome.option is not None:
        answering.verdict(outcome.correct, outcome.confidence)
    for option in options:
        sign = ":material/check:" if option.correct else ":material/close:"
        yours = " (your answer)" if option.text == outcome.option else ""
        text(f"{sign} **{option.text}**{yours}  \n{option.why}")
    sources(card)
