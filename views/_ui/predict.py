"""Ask, commit, reveal. Until the reader commits or skips, a page does not compute what would give the answer away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from core.prediction import CONFIDENCES, Slip, matching_slip, ratio_in_words
from views._ui import settings

READING_WIDTH = 640  # pixels: about 70 characters a line


@dataclass(frozen=True, slots=True)
class Commit:
    """A locked guess; ``guess`` is None for "I do not know"."""

    guess: float | str | None
    confidence: int | None


def answered(key: str) -> bool:
    """Whether the answer to this question may be shown: committed, skipped, or predictions are off."""
    return not settings.predictions_on() or f"predict.{key}" in st.session_state


def commit_of(key: str) -> Commit | None:
    """The locked guess, if there is one; None when it was skipped."""
    commit = st.session_state.get(f"predict.{key}")
    return commit if isinstance(commit, Commit) else None


def ask_number(key: str, prompt: str, *, low: float, high: float, unit: str, step: float = 1.0) -> None:
    """A question with a number as its answer."""
    with st.container(border=True):
        st.markdown(f"**Before you look.** {prompt}")
        middle = (low + high) / 2
        st.slider(f"Your guess, {unit}", low, high, middle, step, "%g", key=f"ask.{key}.guess", on_change="ignore")
        _confirm(key)


def ask_magnitude(key: str, prompt: str, *, start: float, decades: int, unit: str) -> None:
    """A question whose answer may lie in any of several decades: each has the same room on the slider."""
    values = two_digit_values(start, decades)
    with st.container(border=True):
        st.markdown(f"**Before you look.** {prompt}")
        st.select_slider(
            f"Your guess, {values[0]:,g} to {values[-1]:,g} {unit}",
            values,
            values[len(values) // 2],
            format_func=lambda value: f"{value:,g} {unit}",
            key=f"ask.{key}.guess",
            on_change="ignore",
        )
        _confirm(key)


def two_digit_values(start: float, decades: int) -> list[float]:
    """Every number with two significant digits, from ``start`` (a power of ten) over so many decades."""
    values = [start * 10.0**decade * tenths / 10 for decade in range(decades) for tenths in range(10, 100)]
    return [float(f"{value:.2g}") for value in (*values, start * 10.0**decades)]


def ask_choice(key: str, prompt: str, options: Sequence[str]) -> None:
    """A question with one of a few answers."""
    with st.container(border=True):
        st.markdown(f"**Before you look.** {prompt}")
        st.radio("Your guess", options, index=None, key=f"ask.{key}.guess", horizontal=True, on_change="ignore")
        _confirm(key)


def reveal_number(
    key: str, truth: float, show: Callable[[float], str], explain: str, slips: tuple[Slip, ...] = (), prompt: str = ""
) -> None:
    """Guess beside truth, how far off it was, the slip it matches, and why; the question stays on top if given."""
    commit = commit_of(key)
    if commit is None:
        return
    _keep(key, commit, truth)
    with st.container(border=True):
        if prompt:
            st.markdown(prompt)
        guessed = isinstance(commit.guess, float)
        with st.container(horizontal=True, gap="large"):
            if guessed:
                st.metric(f"you said, {commit.confidence}% sure", show(commit.guess), width="content")
            st.metric("it is", show(truth), width="content")
        if guessed:
            slip = matching_slip(commit.guess, truth, slips)
            verdict = ratio_in_words(commit.guess, truth).capitalize()
            st.markdown(f"**{verdict}.** {slip.words if slip else ''}", width=READING_WIDTH)
        st.markdown(explain, width=READING_WIDTH)


def reveal_choice(key: str, truth: str, explain: str) -> None:
    """The chosen answer beside the right one, and why."""
    commit = commit_of(key)
    if commit is None:
        return
    _keep(key, commit, truth)
    with st.container(border=True):
        if commit.guess is None:
            st.markdown(f"It is **{truth}**.")
        elif commit.guess == truth:
            st.markdown(f"You said **{commit.guess}**, {commit.confidence}% sure: right.")
        else:
            st.markdown(f"You said **{commit.guess}**, {commit.confidence}% sure. It is **{truth}**.")
        st.markdown(explain)


def _confirm(key: str) -> None:
    sure, act = st.columns([1, 1], vertical_alignment="bottom")
    with sure:
        st.segmented_control(
            "How sure are you?",
            CONFIDENCES,
            default=CONFIDENCES[1],
            required=True,  # a click on the chosen one would otherwise take it back, and lock a confidence nobody chose
            format_func=lambda share: f"{share}%",
            key=f"ask.{key}.confidence",
            on_change="ignore",
        )
    with act, st.container(horizontal=True):
        st.button("Commit", type="primary", key=f"ask.{key}.commit", on_click=_commit, args=(key,))
        st.button("I do not know", key=f"ask.{key}.pass", on_click=_lock, args=(key, Commit(None, None)))
        st.button("Skip", type="tertiary", key=f"ask.{key}.skip", on_click=_lock, args=(key, "skipped"))
        st.button("Skip all from now on", type="tertiary", key=f"ask.{key}.never", on_click=_never)
    if st.session_state.pop(f"ask.{key}.empty", False):
        st.markdown(":red[:material/error: Choose an answer first, or press I do not know.]")


def _keep(key: str, commit: Commit, truth: float | str) -> None:
    """Put a locked guess into the learner's log, once."""
    if st.session_state.get(f"predict-kept.{key}") is commit or commit.guess is None:
        return
    st.session_state[f"predict-kept.{key}"] = commit
    from views._ui import learner  # only now: a page without guesses needs no progress

    learner.keep_guess(key, commit.guess, truth, commit.confidence)


def _commit(key: str) -> None:
    guess = st.session_state.get(f"ask.{key}.guess")
    if guess is None:
        st.session_state[f"ask.{key}.empty"] = True
        return
    confidence = st.session_state.get(f"ask.{key}.confidence") or CONFIDENCES[0]
    _lock(key, Commit(guess, confidence))


def _lock(key: str, commit: Commit | str) -> None:
    st.session_state[f"predict.{key}"] = commit


def _never() -> None:
    settings.choose(predictions=False)


def answers() -> int:
    """How many questions were answered or skipped in this session."""
    return len(_locked())


def forget_answers() -> None:
    """Ask every question of this session again."""
    for key in _locked():
        del st.session_state[key]


def _locked() -> list[str]:
    return [str(key) for key in st.session_state if str(key).startswith("predict.")]
