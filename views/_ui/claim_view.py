"""One claim: whether it holds, to commit to; then the verdict, its reason, the condition, and how to say it better."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.cards.claim import ClaimCard, Verdict
from core.progress.document import Mode
from views._ui import answering
from views._ui.card_parts import card_head, sources, text

WORDS: dict[Verdict, str] = {"true": "True", "true_if": "True if ...", "false": "False"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was committed; no verdict means "I do not know"."""

    verdict: Verdict | None
    confidence: int | None
    correct: bool


def claim(card: ClaimCard, seed: int, place: str, mode: Mode | None) -> Outcome | None:
    """Draw one showing of a claim; what was committed, once it was.

    Verdict, reason and the better sentence are sent only after the commit.
    """
    key = answering.key_of(place, card, seed)
    outcome: Outcome | None = answering.outcome(key)
    with st.container(border=True):
        card_head(card)
        if outcome is None:
            answering.start_clock(key)
            _ask(card, seed, key, mode)
        else:
            _reveal(card, outcome)
    return outcome


def _ask(card: ClaimCard, seed: int, key: str, mode: Mode | None) -> None:
    with st.form(f"{key}.form", border=False):
        st.radio(
            "Does it hold?",
            list(WORDS),
            index=None,
            format_func=WORDS.__getitem__,
            captions=["as it stands", "with a condition that was left out", "under no condition"],
            key=f"{key}.choice",
        )
        if st.session_state.get(f"{key}.refused"):
            st.markdown(":red[:material/error: Choose an answer first, or press I do not know.]")
        answering.ask_confidence(key, "How sure are you?", answering.CLAIM_CONFIDENCES)
        with st.container(horizontal=True):
            st.form_submit_button("Commit", type="primary", on_click=_commit, args=(card, seed, key, mode))
            st.form_submit_button("I do not know", on_click=_give_up, args=(card, seed, key, mode))


def _commit(card: ClaimCard, seed: int, key: str, mode: Mode | None) -> None:
    chosen: Verdict | None = st.session_state.get(f"{key}.choice")
    if chosen is None:
        st.session_state[f"{key}.refused"] = True
        return
    correct = chosen == card.model.verdict
    if answering.lock(key, Outcome(chosen, answering.confidence(key), correct)):
        answering.log(key, card, mode, seed=seed, correct=correct, answer=WORDS[chosen], option=chosen)


def _give_up(card: ClaimCard, seed: int, key: str, mode: Mode | None) -> None:
    if answering.lock(key, Outcome(None, None, False)):
        answering.log(key, card, mode, seed=seed, correct=False, dont_know=True)


def _reveal(card: ClaimCard, outcome: Outcome) -> None:
    model = card.model
    if outcome.verdict is not None:
        answering.verdict(outcome.correct, outcome.confidence, f"You said: {WORDS[outcome.verdict].lower()}")
    held = f"**True if** {model.when}" if model.when else f"**{WORDS[model.verdict]}.**"
    text(f"{held}\n\n{model.because}")
    text(f":material/record_voice_over: **Better said.** {model.say}")
    sources(card)
