"""What the interviewer has released, as the candidate and everybody else reads it: prompt, replies, hints, twists."""

from __future__ import annotations

from functools import partial

import streamlit as st

from views._ui.card_parts import text
from views._ui.room import Room
from views._ui.words import money_safe

BEFORE = "The prompt comes when the interview has begun."
IN_SETUP = "The prompt comes with the next phase."


def released(room: Room) -> None:
    """Twists on top, the prompts, then replies and hints in the order in which they came."""
    room.part("twists", partial(_twists, room), lambda room: room.public.banners)
    room.part("prompt", partial(_prompts, room), lambda room: (room.public.prompts, _waits(room)))
    room.part("released", partial(_replies_and_hints, room), lambda room: (room.public.replies, room.public.hints))


def _twists(room: Room) -> None:
    for number, banner in enumerate(room.public.banners, start=1):
        st.warning(money_safe(f"**The facts change ({number}).** {banner}"), icon=":material/bolt:")


def _prompts(room: Room) -> None:
    if words := _waits(room):
        st.markdown(f":gray[{words}]")
    for prompt in room.public.prompts:
        with st.container(border=True):
            text(prompt)


def _waits(room: Room) -> str:
    """What stands in the prompt's place; the set-up has none, and neither has a session that ended within it."""
    if room.public.prompts or room.public.finished:
        return ""
    return IN_SETUP if room.clock().started else BEFORE


def _replies_and_hints(room: Room) -> None:
    for reply in room.public.replies:
        text(f":material/contact_support: **{reply.ask}**  \n{reply.give}")
    for number, hint in enumerate(room.public.hints, start=1):
        text(f":material/lightbulb: **Hint {number}.** {hint}")
