"""Ask, commit, reveal. Until the reader commits or skips, a page does not even compute what would give the answer away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from core.prediction import CONFIDENCES, Slip, matching_slip, ratio_in_words
from pages._ui import settings


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
        st.slider(f"Your guess, {unit}", low, high, (low + high) / 2, step, key=f"ask.{key}.guess", on_change="ignore")
        _confirm(key)


def ask_choice(key: str, prompt: str, options: Sequence[str]) -> None:
    """A question with one of a few answers."""
    with st.container(border=True):
        st.markdown(f"**Before you look.** {prompt}")
        st.radio("Your guess", options, index=None, key=f"ask.{key}.guess", horizontal=True, on_change="ignore")
        _confirm(key)


def reveal_number(
    key: str, truth: float, show: Callable[[float], str], explain: str, slips: tuple[Slip, ...] = ()
) -> None:
    """Guess beside truth, how far off it was, the slip it matches, and why."""
    commit = commit_of(key)
    if commit is None:
        return
    with st.container(border=True):
        if isinstance(commit.guess, float):
            verdict = ratio_in_words(commit.guess, truth)
            st.markdown(
                f"You said **{show(commit.guess)}**, {commit.confidence}% sure. It is **{show(truth)}**: {verdict}."
            )
            if slip := matching_slip(commit.guess, truth, slips):
                st.markdown(slip.words)
        else:
            st.markdown(f"It is **{show(truth)}**.")
        st.markdown(explain)


def reveal_choice(key: str, truth: str, explain: str) -> None:
    """The chosen answer beside the right one, and why."""
    commit = commit_of(key)
    if commit is None:
        return
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
