"""One drill: prompt, worked steps that fade with exposure, a number to commit, then the truth and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.cards.card import Card
from core.cards.draw import Variant, draw
from core.cards.grading import DrillGrade, grade_drill
from core.cards.models import Drill
from core.cards.quantities import UnitError
from core.cards.text import significant, with_unit
from core.prediction import ratio_in_words
from core.progress.document import Mode, active_attempts
from core.progress.fading import steps_shown
from views._ui import answering, learner
from views._ui.card_parts import card_head, sources, text
from views._ui.predict import READING_WIDTH
from views._ui.words import plain

TIMED = {"sprint", "estimator"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was committed; no grade means "I do not know"."""

    grade: DrillGrade | None
    confidence: int | None


def drill(card: Card, seed: int, place: str, mode: Mode | None) -> Outcome | None:
    """Draw one showing of a drill; what was committed, once it was.

    The truth, the hidden steps and the replies to slips are computed and sent only after the commit.
    """
    variant = draw(card, seed)
    key = answering.key_of(place, card, seed)
    outcome: Outcome | None = answering.outcome(key)
    assert isinstance(card.model, Drill)
    with st.container(border=True):
        card_head(card)
        text(variant.fill(card.sections["Prompt"]))
        if outcome is None:
            answering.start_clock(key)
            # The box keeps its place, and with it what was typed, when the first steps come later than it.
            with st.container():
                if mode not in TIMED:
                    _worked(variant, key, mode)
            _ask(variant, key, mode)
        else:
            _reveal(variant, outcome, mode)
    return outcome


def _worked(variant: Variant, key: str, mode: Mode | None) -> None:
    """The first steps, fewer each time, and more of them on request at the price of a hint."""
    card = variant.card
    if f"{key}.steps" not in st.session_state:
        if not learner.ready():  # how often it was met is not known yet, and a step once shown cannot be taken back
            return
        attempts = active_attempts(learner.progress())
        st.session_state[f"{key}.steps"] = steps_shown(attempts, card.id, len(card.steps))
    shown = min(st.session_state[f"{key}.steps"] + answering.hints(key), len(card.steps) - 1)
    for number, step in enumerate(card.steps[:shown], start=1):
        text(f"{number}\\. {variant.fill(step)}")
    if shown < len(card.steps) - 1:
        st.button(
            "Show a step (counts as a hint)",
            key=f"{key}.hint",
            type="tertiary",
            icon=":material/lightbulb:",
            on_click=answering.take_hint,
            args=(key, answering.hints(key) + 1),
        )


def _ask(variant: Variant, key: str, mode: Mode | None) -> None:
    model = variant.card.model
    assert isinstance(model, Drill)
    unit = model.answer.unit
    within = "within a factor of 2" if mode == "estimator" else f"within {significant(100 * model.answer.rtol, 2)}%"
    with st.form(f"{key}.form", border=False, enter_to_submit=True):
        label = f"Your answer, in {unit} ({within})" if unit else f"Your answer ({within})"
        st.text_input(label, key=f"{key}.typed", placeholder=f"12.5 {unit}".strip(), autocomplete="off", width=320)
        if refused := st.session_state.get(f"{key}.refused"):
            st.markdown(f":red[:material/error: {plain(refused)}]")
        if mode != "estimator":
            answering.ask_confidence(key, "How sure are you that it is within 10%?", answering.DRILL_CONFIDENCES)
        with st.container(horizontal=True):
            st.form_submit_button("Commit", type="primary", on_click=_commit, args=(variant, key, mode))
            st.form_submit_button("I do not know", on_click=_give_up, args=(variant, key, mode))


def _commit(variant: Variant, key: str, mode: Mode | None) -> None:
    typed = st.session_state.get(f"{key}.typed") or ""
    try:
        grade = grade_drill(variant, typed)
    except UnitError as error:
        st.session_state[f"{key}.refused"] = str(error)
        return
    if not answering.lock(key, Outcome(grade, answering.confidence(key))):
        return
    model = variant.card.model
    assert isinstance(model, Drill)
    answering.log(
        key,
        variant.card,
        mode,
        seed=variant.seed,
        correct=grade.within_2x if mode == "estimator" else grade.correct,
        answer=typed,
        number=grade.guess,
        truth=grade.truth,
        rtol=model.answer.rtol,
        unit=model.answer.unit,
    )


def _give_up(variant: Variant, key: str, mode: Mode | None) -> None:
    if answering.lock(key, Outcome(None, None)):
        model = variant.card.model
        assert isinstance(model, Drill)
        details = {"truth": variant.answer, "unit": model.answer.unit}
        answering.log(key, variant.card, mode, seed=variant.seed, correct=False, dont_know=True, **details)


def _reveal(variant: Variant, outcome: Outcome, mode: Mode | None) -> None:
    model = variant.card.model
    assert isinstance(model, Drill)
    unit, digits, grade = model.answer.unit, model.answer.digits, outcome.grade
    with st.container(horizontal=True, gap="large"):
        if grade:
            sure = f", {outcome.confidence}% sure" if outcome.confidence is not None else ""
            st.metric(f"you said{sure}", with_unit(grade.guess, 6, unit), width="content")
        st.metric("it is", with_unit(variant.answer, digits, unit), width="content")
    if grade:
        right = grade.within_2x if mode == "estimator" else grade.correct
        sign, word = (":material/check_circle:", "Right") if right else (":material/cancel:", "Not yet")
        far = ratio_in_words(grade.guess, grade.truth)
        if "(" in grade.read_as:  # read with a remark, such as a share where a percentage is asked
            far = f"{far}; {grade.read_as}"
        reply = variant.fill(grade.slip.say) if grade.slip else ""
        st.markdown(f"{sign} **{word}**: {far}. {reply}", width=READING_WIDTH)
    for number, step in enumerate(variant.card.steps, start=1):
        text(f"{number}\\. {variant.fill(step)}")
    text(f"**Why it matters.** {variant.fill(variant.card.sections['Why it matters'])}")
    sources(variant.card)
