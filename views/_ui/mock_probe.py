"""The numeric probe of a mock session: a drill's prompt, one typed answer with a confidence, locked, not judged."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.cards.quantities import UnitError
from core.cards.text import significant
from core.cards.typed import read_answer
from core.mock.views import CandidateView, DrillShown
from views._ui import drafts
from views._ui.answering import DRILL_CONFIDENCES
from views._ui.card_parts import text
from views._ui.room import Room
from views._ui.words import plain


def probes(room: Room) -> None:
    """Every drill that was shown, as a part of the page."""
    room.part("probes", partial(_probes, room), _depends_on)


def _depends_on(room: Room) -> object:
    answers = room.view.answers if isinstance(room.view, CandidateView) else ()
    return room.public.drills, answers, room.public.finished, room.seated


def _probes(room: Room) -> None:
    for drill in room.public.drills:
        with st.container(border=True):
            text(f":material/calculate: **A number to work out** (aim for {drill.seconds} s)")
            text(drill.prompt)
            if isinstance(room.view, CandidateView):
                _answer(room, room.view, drill)


def _answer(room: Room, view: CandidateView, drill: DrillShown) -> None:
    # Keys hold the number on the board and no card's id: with that, the answer could be looked up.
    key = f"mock.probe.{drill.number}"
    locked = next((answer for answer in view.answers if answer.number == drill.number), None)
    if locked is not None:
        st.markdown(f":material/lock: You said **{plain(locked.text)}**, {locked.confidence}% sure.")
        return
    if room.public.finished or not room.seated:
        st.markdown(":gray[No answer was given.]")
        return
    with st.form(f"{key}.form", border=False):
        unit = f", in {drill.unit}" if drill.unit else ""
        st.text_input(f"Your answer{unit}", key=f"{key}.typed", autocomplete="off", width=320, max_chars=100)
        st.segmented_control(
            f"How sure are you that it is within {significant(100 * drill.rtol, 2)}%?",
            DRILL_CONFIDENCES,
            format_func=lambda share: f"{share}%",
            key=f"{key}.confidence",
        )
        room.refusal(key)
        st.form_submit_button("Lock the answer", type="primary", on_click=_lock, args=(room, drill, key))
    drafts.keep(room, key, f"{key}.typed")


def _lock(room: Room, drill: DrillShown, key: str) -> None:
    typed = st.session_state.get(f"{key}.typed") or ""
    confidence = st.session_state.get(f"{key}.confidence")
    try:
        read_answer(typed, drill.unit)
    except UnitError as error:
        room.refuse(key, str(error))
    else:
        if confidence is None:
            room.refuse(key, "Say how sure you are as well: the scorecard shows it beside your answer.")
        else:
            card = room.state.plan.drills[drill.number]
            room.act("answer_locked", at=key, drill=card, text=typed, confidence=confidence)
    room.redraw()
