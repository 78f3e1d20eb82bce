"""What the console releases: replies, hints, twists and numeric probes. Until then the candidate's browser has none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import streamlit as st

from core.cards.text import significant, with_unit
from core.mock.rater_view import DrillRow, HintRow, ReplyRow, TwistRow
from views._ui.mock_twist import twist_pressed
from views._ui.room import Room
from views._ui.words import inline, money_safe, plain

NO_ITEM = "no item"
HIDE_KEY = "console.hide"
OUT = ":green[:material/check_circle:]"
SHOWN = "On the candidate's page"
_ASKED = {True: "asked for", False: "given unasked"}


def can_release(room: Room) -> bool:
    """Whether this tab may release anything now."""
    return room.seated and room.rater.private.leads and not room.public.finished


def replies(room: Room, rows: Iterable[ReplyRow], *, place: str) -> None:
    """A clarifying question each: what to listen for, what to answer, and a press to release it."""
    for row in rows:
        key = f"{place}.reply.{row.card}.{row.reply}"
        with st.container(border=True, gap="xsmall"):
            signal = " :gray[(a strong candidate asks this)]" if row.strong else ""
            st.markdown(money_safe(f"**{row.ask}**{signal}  \n{row.give}"))
            with st.container(horizontal=True, vertical_alignment="center"):
                if row.released:
                    st.markdown(f":small[{OUT} {SHOWN}, {_ASKED[bool(row.asked)]}]", width="content")
                    if can_release(room):
                        st.button(
                            f"Change to: {_ASKED[not row.asked]}",
                            key=f"{key}.asked",
                            type="tertiary",
                            on_click=partial(
                                room.do, "reply_asked", at=key, card=row.card, reply=row.reply, asked=not row.asked
                            ),
                        )
                elif can_release(room):
                    for words, asked in (("Asked: release", True), ("Release unasked", False)):
                        st.button(
                            words,
                            key=f"{key}.{asked}",
                            type="secondary" if asked else "tertiary",
                            on_click=partial(
                                room.do, "reply_released", at=key, card=row.card, reply=row.reply, asked=asked
                            ),
                        )
            room.refusal(key)


def hints(room: Room, rows: Iterable[HintRow], *, place: str) -> None:
    """The ladder: each rung with its cost, taken from the item that the interviewer names."""
    for row in rows:
        with st.container(border=True, gap="xsmall"):
            hint_words(row)
            if not row.released and can_release(room):
                hint_button(room, row, place=place)


def hint_words(row: HintRow) -> None:
    """What a rung says and costs, and once it is given that the candidate reads it."""
    if row.released:
        cost = f"costs {row.cost:g} of #{row.item}" if row.item else "costs no item"
        given = f"  \n{OUT} {SHOWN}, {cost}"
    else:
        given = ""
    st.markdown(money_safe(f":small[**Hint {row.hint}** :gray[(costs {row.cost:g})] {row.text}{given}]"))


def hint_button(room: Room, row: HintRow, *, place: str, words: str = "", visit: str = "", heard: str = "") -> None:
    """A menu that asks which item the hint costs, and releases it; its button is its heading.

    Args:
        words: of the reply that leads here.
        visit, heard: a question of the follow-up tree that led here, to be marked as asked.
    """
    key = f"{place}.hint.{row.card}.{row.hint}.{visit}.{heard}"
    items = {f"#{item.key}": item.observe for item in sorted(room.rater.private.rubric, key=lambda item: item.key)}
    st.menu_button(
        f"{f'{words}: hint' if words else 'Release hint'} {row.hint}, costs {row.cost:g} of which item?",
        [*items, NO_ITEM],
        key=key,
        icon=":material/lightbulb:",
        format_func=lambda item: money_safe(f"{item} {items[item]}") if item in items else item,
        on_click=partial(_release_hint, room, key, row.card, row.hint, visit, heard),
    )
    room.refusal(key)


def _release_hint(room: Room, key: str, card: str, hint: int, visit: str, heard: str) -> None:
    chosen = str(st.session_state.get(key) or NO_ITEM)
    item = chosen.removeprefix("#") if chosen != NO_ITEM else ""
    if room.act("hint_released", at=key, card=card, hint=hint, item=item) and visit:
        room.act("node_visited", at=key, card=card, node=visit, heard=heard)
    room.redraw()


def twists(room: Room, rows: Iterable[TwistRow], *, place: str) -> None:
    """Each with what is said and what a strong candidate notices; the truth is computed anew when it is applied."""
    for row in rows:
        key = f"{place}.twist.{row.card}.{row.twist}"
        with st.container(border=True, gap="xsmall"):
            st.markdown(money_safe(f"**Say:** {row.say}"))
            st.markdown(money_safe(f":small[**Expect:** {row.expect}]"))
            if row.applied:
                st.markdown(f":small[{OUT} Applied]")
            elif can_release(room):
                with st.container(horizontal=True):
                    for words, public in (("Apply: the candidate gets the banner", True), ("Apply, only said", False)):
                        st.button(
                            words,
                            key=f"{key}.{public}",
                            type="secondary" if public else "tertiary",
                            on_click=partial(twist_pressed, room, row.twist, row.card, public=public, at=key),
                        )
            room.refusal(key)


def numbers_hidden() -> bool:
    """Whether the interviewer wants to see no number before the candidate has said theirs: it keeps from leading."""
    return bool(st.session_state.get(HIDE_KEY))


def drills(room: Room, rows: Iterable[DrillRow], *, place: str) -> None:
    """A numeric probe: what the candidate locked, its truth, the slips that are known."""
    for row in rows:
        key = f"{place}.drill.{row.drill}"
        with st.container(border=True, gap="xsmall"):
            _drill(row)
            if row.locked is not None or not numbers_hidden():
                _slips_and_steps(row)
            if row.released:
                st.markdown(f":small[{OUT} {SHOWN}]")
            elif can_release(room):
                st.button(
                    "Show it to the candidate",
                    key=key,
                    on_click=partial(room.do, "drill_released", at=key, drill=row.drill),
                )
            room.refusal(key)


def drill_shown(row: DrillRow, *, key: str) -> None:
    """A probe that the script has led to, where it was pressed; its slips and steps are in the tab Release."""
    with st.container(border=True, gap="xsmall", key=f"{key}.shown"):
        _drill(row)
        st.markdown(f":small[{OUT} {SHOWN}]")


def _drill(row: DrillRow) -> None:
    st.markdown(money_safe(f"**{plain(row.title)}**  \n{row.prompt}"))
    if row.locked is not None:
        _locked(row)
    if row.locked is not None or not numbers_hidden():
        _drill_truth(row)
    else:
        st.markdown(":small[:gray[The answer is hidden until the candidate has locked theirs.]]")


def _drill_truth(row: DrillRow) -> None:
    within = significant(100 * row.rtol, 2)
    st.markdown(f"Truth: **{inline(with_unit(row.answer, 4, row.unit))}**, within {within}%")


def _slips_and_steps(row: DrillRow) -> None:
    if row.slips:
        lines = [f"- {inline(with_unit(value, 4, row.unit))}: {say}" for value, say in row.slips]
        st.markdown(money_safe(":small[Known slips]\n" + "\n".join(lines)))
    with st.expander("Steps"):
        st.markdown(money_safe("\n".join(f"1. {step}" for step in row.steps)))


def _locked(row: DrillRow) -> None:
    assert row.locked is not None
    said = f"Locked: **{plain(row.locked.text)}**, {row.locked.confidence}% sure"
    if row.grade is None:
        st.markdown(f":orange[:material/help:] {said}. It reads as no number in {inline(row.unit)}.")
    else:
        sign = ":green[:material/check_circle:] right" if row.grade.correct else ":red[:material/cancel:] not within"
        st.markdown(f"{said}: {sign}.")
