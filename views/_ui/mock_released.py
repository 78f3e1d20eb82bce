"""What the interviewer has released, as the candidate and everybody else reads it: prompt, replies, hints, twists."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.mock.views import Problem, Reply
from views._ui.card_parts import text
from views._ui.room import Room
from views._ui.words import money_safe

BEFORE = "The prompt comes when the interview has begun."
IN_SETUP = "The prompt comes with the next phase."
NONE_YET = Problem(0, "", (), (), ())


def released(room: Room) -> None:
    """The problem at hand: twists on top, its prompt, then replies and hints as they came; former ones folded below."""
    room.part("twists", partial(_twists, room), lambda room: (_title(room), _at_hand(room).banners))
    room.part("prompt", partial(_prompt, room), lambda room: (_at_hand(room).prompt, _waits(room)))
    room.part(
        "released",
        partial(_replies_and_hints, room),
        lambda room: (_at_hand(room).replies, _at_hand(room).hints),
    )
    room.part("former", partial(_former, room), lambda room: room.public.problems[1:])


def _at_hand(room: Room) -> Problem:
    return next(iter(room.public.problems), NONE_YET)


def _title(room: Room) -> str:
    """Which problem of how many, where there are several."""
    number, count = _at_hand(room).number, room.public.problem_count
    return f"Problem {number} of {count}" if number and count > 1 else ""


def _twists(room: Room) -> None:
    if title := _title(room):
        st.subheader(title, anchor=False)
    for number, banner in _at_hand(room).banners:
        st.warning(money_safe(f"**The facts change ({number}).** {banner}"), icon=":material/bolt:")


def _prompt(room: Room) -> None:
    if words := _waits(room):
        st.markdown(f":gray[{words}]")
    _boxed(_at_hand(room).prompt)


def _boxed(prompt: str) -> None:
    if prompt:
        with st.container(border=True):
            text(prompt)


def _waits(room: Room) -> str:
    """What stands in the prompt's place; the set-up has none, and neither has a session that ended within it."""
    if room.public.prompts or room.public.finished:
        return ""
    return IN_SETUP if room.clock().started else BEFORE


def _replies_and_hints(room: Room) -> None:
    _given(_at_hand(room).replies, _at_hand(room).hints)


def _given(replies: tuple[Reply, ...], hints: tuple[str, ...]) -> None:
    """Hints bear no number: the console counts the rungs of each card's ladder, given or not."""
    for reply in replies:
        text(f":material/contact_support: **{reply.ask}**  \n{reply.give}")
    for hint in hints:
        text(f":material/lightbulb: **Hint.** {hint}")


def _former(room: Room) -> None:
    for problem in room.public.problems[1:]:
        name = f"Problem {problem.number}, with what was given then"
        with st.expander(name, icon=":material/history:", key=f"mock.former.{problem.number}"):
            _boxed(problem.prompt)
            for number, banner in problem.banners:
                text(f":material/bolt: **The facts change ({number}).** {banner}")
            _given(problem.replies, problem.hints)
