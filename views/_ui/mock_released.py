"""What the interviewer has released, as the candidate and everybody else reads it: prompt, replies, hints, twists."""

from __future__ import annotations

from functools import partial

import streamlit as st

from views._ui.card_parts import text
from views._ui.room import Room
from views._ui.words import money_safe

BEFORE = "The prompt comes when the interviewer begins."


def released(room: Room) -> None:
    """Twists on top, the prompts, then replies and hints in the order in which they came."""
    room.part("twists", partial(_twists, room), lambda room: room.public.banners)
    room.part("prompt", partial(_prompts, room), lambda room: room.public.prompts)
    room.part("released", partial(_replies_and_hints, room), lambda room: (room.public.replies, room.public.hints))


def _twists(room: Room) -> None:
    for number, banner in enumerate(room.public.banners, start=1):
        st.warning(money_safe(f"**The facts change ({number}).** {banner}"), icon=":material/bolt:")


def _prompts(room: Room) -> None:
    if not room.public.prompts:
        st.markdown(f":gray[{BEFORE}]")
    for prompt in room.public.prompts:
        with st.container(border=True):
            text(prompt)


def _replies_and_hints(room: Room) -> None:
    for reply in room.public.replies:
        text(f":material/contact_support: **{reply.ask}**  \n{reply.give}")
    for number, hint in enumerate(room.public.hints, start=1):
        text(f":material/lightbulb: **Hint {number}.** {hint}")
