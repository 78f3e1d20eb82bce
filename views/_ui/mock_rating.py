"""What a candidate says at the end: an own rating, sealed until the interviewer has committed, then feedback."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.mock.events import MAX_TEXT
from core.mock.scoring import JUDGEMENTS
from views._ui import drafts
from views._ui.room import Room

LEVELS = (1, 2, 3, 4)
RATE_ANCHOR = "rate-yourself"
QUESTIONS = {"clear": "Was it clear?", "fair": "Was it fair?", "useful": "Was it useful?"}
SEALED = "Your rating is kept, and sealed until the interviewer has committed as well. The scorecard then opens here."
FEEDBACK_WORDS = "The interviewer reads it after committing, not before."


def rating(room: Room, *, for_two: bool = True) -> None:
    """Self-rating in the last phase, then feedback; a part of the page.

    Args:
        for_two: whether somebody else interviews, whom feedback is for and until whose commit the rating is sealed.
    """
    room.part("rating", partial(_draw, room, for_two), _depends_on)


def _depends_on(room: Room) -> object:
    view = room.candidate
    return is_time(room), view.self_rating is None, view.gave_feedback, view.debrief is None, room.seated


def is_time(room: Room) -> bool:
    """Whether the session is in its last phase, or over."""
    return room.public.phase_kind == "wrap" or room.public.finished


def asks_for_rating(room: Room) -> bool:
    """Whether the form of the own rating is on the page."""
    return is_time(room) and room.seated and room.candidate.self_rating is None


def _draw(room: Room, for_two: bool) -> None:
    view = room.candidate
    if not is_time(room) or not room.seated:
        return
    if asks_for_rating(room):
        _self_rating(room)
        return
    if view.debrief is None and for_two:
        st.info(SEALED, icon=":material/lock:")
    if for_two and not view.gave_feedback:
        _feedback(room)


def _self_rating(room: Room) -> None:
    st.subheader("Rate yourself first", anchor=RATE_ANCHOR)
    st.markdown("Before you hear what the interviewer thinks. Leave out what did not come up. This is final.")
    with st.form("mock.self.form"):
        st.radio(
            f"All in all, at {room.public.level} level, this was a",
            JUDGEMENTS,
            index=None,
            horizontal=True,
            key="mock.self.overall",
        )
        for competency, entry in room.bank.competencies.items():
            st.segmented_control(
                entry.title,
                LEVELS,
                key=f"mock.self.{competency}",
                help="  \n".join(f"{level}: {words}" for level, words in entry.levels.items()),
            )
        st.text_area("What would you do differently?", key="mock.self.words", max_chars=MAX_TEXT)
        room.refusal("self_rated")
        st.form_submit_button("Commit my rating", type="primary", on_click=_commit, args=(room,))
    drafts.keep(room, "mock.self", "mock.self.words")


def _commit(room: Room) -> None:
    chosen = st.session_state
    overall = chosen.get("mock.self.overall")
    if overall is None:
        room.refuse("self_rated", "Choose what it was all in all.")
    else:
        levels = {name: chosen.get(f"mock.self.{name}") for name in room.bank.competencies}
        given = {name: level for name, level in levels.items() if level is not None}
        if room.act("self_rated", overall=overall, competencies=given, words=chosen.get("mock.self.words") or ""):
            drafts.settled("mock.self")
    room.redraw()


def _feedback(room: Room) -> None:
    st.subheader("And the interview?", anchor=False)
    st.markdown(FEEDBACK_WORDS)
    with st.form("mock.feedback.form"):
        for name, question in QUESTIONS.items():
            st.segmented_control(f"{question} (1 no, 5 yes)", range(1, 6), key=f"mock.feedback.{name}")
        st.text_area("In words, if you like", key="mock.feedback.words", max_chars=MAX_TEXT)
        room.refusal("feedback")
        st.form_submit_button("Send", on_click=_send, args=(room,))
    drafts.keep(room, "mock.feedback", "mock.feedback.words")


def _send(room: Room) -> None:
    given: dict[str, Any] = {name: st.session_state.get(f"mock.feedback.{name}") for name in QUESTIONS}
    if None in given.values():
        room.refuse("feedback", "Answer all three, please: 1 to 5.")
    else:
        room.act("feedback", **given, words=st.session_state.get("mock.feedback.words") or "")
    room.redraw()
