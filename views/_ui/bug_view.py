"""One faulty program: its numbered lines, one to commit to, then the fault, what it does when run, and the cure."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.cards.bug import BugCard, changes, lines_of, number_of, statements
from core.cards.demonstration import demonstrated
from core.progress.document import Mode
from views._ui import answering
from views._ui.assets import asset
from views._ui.card_parts import card_head, sources, text
from views._ui.predict import READING_WIDTH

_CSS = asset("program.css")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was committed; no line means "I do not know"."""

    line: int | None
    confidence: int | None
    correct: bool


def bug(card: BugCard, seed: int, place: str, mode: Mode | None) -> Outcome | None:
    """Draw one showing of a program; what was committed, once it was.

    Which line is at fault, the mended program and what a run of both gives are made and sent only after the commit.
    """
    key = answering.key_of(place, card, seed)
    outcome: Outcome | None = answering.outcome(key)
    with st.container(border=True, key="program"):
        st.html(f"<style>{_CSS}</style>")
        card_head(card)
        text(card.model.stem)
        st.code(card.faulty, language="python", line_numbers=True, wrap_lines=True)
        if outcome is None:
            answering.start_clock(key)
            _ask(card, seed, key, mode)
        else:
            _reveal(card, outcome)
    return outcome


def _ask(card: BugCard, seed: int, key: str, mode: Mode | None) -> None:
    lines = statements(card.faulty)
    with st.form(f"{key}.form", border=False):
        st.selectbox(
            "The line at fault",
            list(lines),
            index=None,
            format_func=lambda number: f"{number}: {lines[number]}",
            placeholder="Choose a line",
            key=f"{key}.choice",
            width=READING_WIDTH,
        )
        if st.session_state.get(f"{key}.refused"):
            st.markdown(":red[:material/error: Choose a line first, or press I do not know.]")
        answering.ask_confidence(key, "How sure are you?", answering.DRILL_CONFIDENCES)
        with st.container(horizontal=True):
            st.form_submit_button("Commit", type="primary", on_click=_commit, args=(card, seed, key, mode))
            st.form_submit_button("I do not know", on_click=_give_up, args=(card, seed, key, mode))


def _commit(card: BugCard, seed: int, key: str, mode: Mode | None) -> None:
    line: int | None = st.session_state.get(f"{key}.choice")
    if line is None:
        st.session_state[f"{key}.refused"] = True
        return
    correct = line in card.fault_lines
    if answering.lock(key, Outcome(line, answering.confidence(key), correct)):
        said = f"line {line}: {statements(card.faulty)[line]}"
        answering.log(key, card, mode, seed=seed, correct=correct, answer=said, option=str(line))


def _give_up(card: BugCard, seed: int, key: str, mode: Mode | None) -> None:
    if answering.lock(key, Outcome(None, None, False)):
        answering.log(key, card, mode, seed=seed, correct=False, dont_know=True)


def _reveal(card: BugCard, outcome: Outcome) -> None:
    if outcome.line is not None:
        answering.verdict(outcome.correct, outcome.confidence, f"You chose line {outcome.line}.")
    for fault in card.model.faults:
        numbers = lines_of(card.faulty, fault)
        text(f":material/bug_report: **Line {numbers[0]}.** {fault.what}\n\n{fault.effect}")
    _runs(card)
    st.markdown("**Mended**")
    st.code(changes(card.faulty, card.fixed), language="diff", wrap_lines=True)
    st.markdown("**Odd at first sight, and right**")
    for line in card.model.innocent:
        number = number_of(card.faulty, line.line)
        yours = " (your choice)" if number == outcome.line else ""
        text(f":material/check: **Line {number}**{yours}. {line.why}")
    sources(card)


def _runs(card: BugCard) -> None:
    """What both programs do when they are run."""
    try:
        runs = demonstrated(card)
    except OSError as error:  # a disk that takes no files: the words above stand
        st.caption(f"The programs could not be run here: {error.strerror}.")
        return
    for title, output in (("Run as it stands", runs.faulty), ("Run mended", runs.fixed)):
        st.markdown(f"**{title}**")
        st.code(output, language=None, wrap_lines=True)
