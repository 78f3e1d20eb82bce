"""What every graded card shares: when it was put to the learner, how sure they are, and the entry in the log."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import streamlit as st

from core.cards.card import AnyCard
from core.progress import recording
from core.progress.document import Mode, Rating
from views._ui import bank, learner

DRILL_CONFIDENCES = (10, 30, 50, 70, 90, 99)  # percent
MCQ_CONFIDENCES = (25, 50, 70, 90, 99)
CLAIM_CONFIDENCES = (33, 50, 70, 90, 99)  # a blind choice among three is right once in three


def key_of(place: str, card: AnyCard, seed: int) -> str:
    """Under which the state of one showing of a card is kept."""
    return f"{place}.{card.id}.{card.content_hash}.{seed}"


def start_clock(key: str) -> None:
    """Remember when this card was first drawn for the learner, and the id that its one entry will have."""
    st.session_state.setdefault(f"{key}.asked", time.monotonic())
    id_of(key)


def id_of(key: str) -> str:
    """The id of that entry, whether it is in the log or not."""
    attempt_id: str = st.session_state.setdefault(f"{key}.id", recording.new_id())
    return attempt_id


def hints(key: str) -> int:
    """How many hints were taken in this showing."""
    taken: int = st.session_state.get(f"{key}.hints", 0)
    return taken


def take_hint(key: str, number: int) -> None:
    """The hint of this number: a second click, which a busy server hears late, costs no second one."""
    st.session_state[f"{key}.hints"] = number


def outcome(key: str) -> Any:
    """What was committed for this showing, or None."""
    return st.session_state.get(f"{key}.outcome")


def lock(key: str, committed: object) -> bool:
    """Keep what was committed; False if something was before, so that a double click counts once."""
    if f"{key}.outcome" in st.session_state:
        return False
    st.session_state[f"{key}.outcome"] = committed
    return True


def ask_confidence(key: str, label: str, levels: tuple[int, ...]) -> None:
    """How sure the learner is; optional, because a made-up number would spoil their calibration."""
    st.segmented_control(label, levels, format_func=lambda level: f"{level}%", key=f"{key}.confidence", default=None)


def confidence(key: str) -> int | None:
    """How sure they said they are, in percent, if they did."""
    return st.session_state.get(f"{key}.confidence")


def verdict(correct: bool, confidence: int | None, said: str = "") -> None:
    """Whether a committed choice was right, and how sure the learner was of it."""
    sure = f", {confidence}% sure" if confidence is not None else ""
    sign, word = (":material/check_circle:", "Right") if correct else (":material/cancel:", "Not yet")
    st.markdown(f"{sign} **{word}**{sure}. {said}")


def rating_of(key: str) -> Rating | None:
    """How a committed answer was rated."""
    return st.session_state.get(f"{key}.rating")


def log(key: str, card: AnyCard, mode: Mode | None, **details: Any) -> None:
    """Rate a committed answer from what was done, and write it into the log; without a mode it is not written."""
    asked = st.session_state.get(f"{key}.asked", time.monotonic())
    dont_know = details.get("dont_know", False)
    attempt = recording.answered(
        bank.info(card),
        attempt_id=id_of(key),
        at=learner.now(),
        mode=mode or "review",
        milliseconds=1000 * (time.monotonic() - asked),
        confidence=None if dont_know else confidence(key),
        hints_used=hints(key),
        **details,
    )
    st.session_state[f"{key}.rating"] = attempt.rating
    if mode is not None:
        learner.edit(partial(recording.log, attempt=attempt))
