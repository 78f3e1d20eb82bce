"""The rest of the console in tabs: only the open one is drawn, and only its own changes run it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from core.cards.text import with_unit
from core.mock.numbers import CLAIM_RTOL, NumberRow
from core.mock.rater_view import TruthStrip
from core.mock.state import AppliedTwist
from core.mock.views import ClaimRow
from views._ui import mock_console_release as release
from views._ui.mirrored import key_of, moved
from views._ui.mock_board import claim_in_words, pad_text
from views._ui.mock_calculator import calculator
from views._ui.mock_console_evidence import evidence_tab, notes_tab
from views._ui.mock_console_room import room_tab
from views._ui.mock_console_rubric import rubric_tab
from views._ui.room import Room, Watch
from views._ui.step_page import data_table
from views._ui.words import money_safe, plain

_OPEN = "console.tabs.open"
SAME_NUMBERS = "What was changed on this card moves none of these numbers. What to expect now stands beside the change."
HIDE = "Hide numbers until the candidate has answered"


Number = tuple[str, str]  # a card, and the name of what it computes
NO_NUMBER: Number = ("", "")


class Tab(NamedTuple):
    """A tab: what draws it, and what it depends on."""

    draw: Callable[[Room], None]
    watch: Watch


def tabs(room: Room) -> None:
    """A part of the page."""
    room.part("tabs", partial(_draw, room), _watch)


def _watch(room: Room) -> object:
    name = st.session_state.get("console.tabs") or next(iter(TABS))
    return room.seated, room.public.finished, room.rater.private.leads, TABS[name].watch(room)


def _draw(room: Room) -> None:
    room_id, name = st.session_state.get(_OPEN, ("", ""))
    if room_id == room.id and st.session_state.get("console.tabs") is None:
        st.session_state["console.tabs"] = name  # a run that was broken off has lost it: stay where one was
    drawn = st.tabs(list(TABS), key="console.tabs", on_change="rerun")
    for place, (name, tab) in zip(drawn, TABS.items(), strict=True):
        if place.open:
            st.session_state[_OPEN] = room.id, name
            with place:
                tab.draw(room)


def _truth(room: Room) -> None:
    """The core's numbers of this room, before and after twists, each with its formula and one line of working."""
    hidden = st.toggle(HIDE, key=release.HIDE_KEY, persist_state="session", on_change=room.redraw)
    first, *others = _strips(room)
    _of_card(room, first, hidden=hidden)
    for strip in others:
        with st.expander(plain(strip.title)):
            _of_card(room, strip, hidden=hidden)


def _strips(room: Room) -> list[TruthStrip]:
    """The cards of the pack, that of the phase that runs first."""
    private, at = room.rater.private, room.state.time.phase
    here = private.phases[at].card if at is not None else None
    return sorted(private.truth, key=lambda strip: strip.card != here)


def _of_card(room: Room, strip: TruthStrip, *, hidden: bool) -> None:
    st.markdown(f"**{plain(strip.title)}**")
    for refused in strip.refused:
        st.markdown(f":orange[:material/warning: The twist {plain(refused)} does not fit these numbers.]")
    _strip(strip, hidden=hidden and not _answered(room))
    if twisted_in_vain(strip, room.state.twists):
        st.markdown(f":small[:gray[{SAME_NUMBERS}]]")


def _answered(room: Room) -> bool:
    """Whether a number of the candidate is there to be compared: a claim or a locked answer."""
    return bool(room.state.answers) or any(row.number for row in room.public.claims)


def twisted_in_vain(strip: TruthStrip, twists: Sequence[AppliedTwist]) -> bool:
    """Whether a card was twisted without any of its numbers moving: they would pass for the truth of after."""
    return any(twist.card == strip.card for twist in twists) and not any(row.moved for row in strip.rows)


def _strip(strip: TruthStrip, *, hidden: bool) -> None:
    moved = any(row.moved for row in strip.rows)
    rows = []
    for row in strip.rows:
        after = {"after twists": row.now_text if row.moved else "the same"} if moved else {}
        values = {"at first": row.base_text} | after
        if hidden:
            values = dict.fromkeys(values, "hidden")
        working = row.formula if hidden else f"{row.formula} = {row.working}"
        rows.append({"number": row.label, **values, "working": working})
    data_table(st.empty(), rows, small="working")


def _release(room: Room) -> None:
    private, several = room.rater.private, len(room.state.plan.cards) > 1
    for card in room.state.plan.cards:
        if several:
            st.markdown(f"**{plain(room.bank.cards[card].title)}**")
        st.markdown(":small[:gray[Hints]]")
        release.hints(room, [row for row in private.hints if row.card == card], place="tab")
        st.markdown(":small[:gray[Clarifying replies]]")
        release.replies(room, [row for row in private.replies if row.card == card], place="tab")
    st.markdown(":small[:gray[Twists]]")
    release.twists(room, private.twists, place="tab")
    st.markdown(":small[:gray[Numeric probes]]")
    release.drills(room, private.drills, place="tab")


def _release_watch(room: Room) -> object:
    private = room.rater.private
    return private.hints, private.replies, private.twists, private.drills


def _board(room: Room) -> None:
    """What the candidate writes, and the calculator that both hold."""
    with st.container(border=True):
        pad_text(room.public.pad)
    with st.container():  # of its own: its lines come and go, and below it a hand may be on a control
        _claims(room)
    if release.can_release(room):
        masked = room.public.masked
        st.button(
            "Open the results of the calculator" if masked else "Cover its results: estimate first",
            key="console.mask",
            icon=":material/visibility:" if masked else ":material/visibility_off:",
            on_click=partial(room.do, "mask_toggled", on=not masked),
        )
        room.refusal("mask_toggled")
    with st.container():
        calculator(room)


def _claims(room: Room) -> None:
    """Each claim can be set beside a number of the card: how far off it is stands here and on the scorecard."""
    numbers = {
        (strip.card, row.name): f"{row.label}: {row.now_text}"
        + (f" ({strip.title})" if len(room.state.plan.cards) > 1 else "")
        for strip in _strips(room)
        for row in strip.rows
    }
    for claim in room.public.claims:
        with st.container(gap="xxsmall"):
            st.markdown(claim_in_words(claim))
            if claim.number:
                _beside(room, claim, numbers)


def _beside(room: Room, claim: ClaimRow, numbers: Mapping[Number, str]) -> None:
    checked = room.state.checked.get(claim.row)
    chosen = (checked.card, checked.number) if checked else None
    options, place = [*numbers, NO_NUMBER], f"claim.{claim.row}"
    name = f"console.{place}"
    key = key_of(room, name, chosen)
    st.selectbox(
        "Set beside",
        options,
        index=options.index(chosen) if chosen in numbers else None,
        format_func=lambda number: numbers.get(number, "no number: take it away again"),
        placeholder="Set beside a number of the card: type to search",
        key=key,
        label_visibility="collapsed",
        disabled=not (room.seated and room.rater.private.leads),
        on_change=partial(_check, room, claim.row, name, key),
    )
    if row := room.rater.private.checked.get(claim.row):
        st.markdown(f":small[{_verdict(row)}]")
    room.refusal(place)


def _verdict(row: NumberRow) -> str:
    """The truth of the moment when the claim was set beside it, and how far off the claim is."""
    truth = f"Truth then: **{plain(with_unit(row.truth, 4, row.unit))}**"
    if row.said is None:
        return f"{truth}. :orange[What was said cannot be read as one number in that unit.]"
    off = f"{(row.said - row.truth) / row.truth:+.1%}, " if row.truth else ""
    verdict = f":green[within {CLAIM_RTOL:.0%}]" if row.right else f":red[not within {CLAIM_RTOL:.0%}]"
    return f"{truth}; the claim is {off}{verdict}."


def _check(room: Room, row: str, name: str, key: str) -> None:
    if moved(room, name, key):
        card, number = chosen = st.session_state[key]
        if chosen == NO_NUMBER:
            room.act("claim_unchecked", at=f"claim.{row}", row=row)
        else:
            room.act("claim_checked", at=f"claim.{row}", row=row, card=card, number=number)
    room.redraw()


def _prompt(room: Room) -> None:
    """What the candidate reads."""
    public = room.public
    if not public.prompts:
        st.markdown(":gray[The candidate sees no prompt before the phase that shows it.]")
    for prompt in public.prompts:
        with st.container(border=True):
            st.markdown(money_safe(prompt))


TABS: dict[str, Tab] = {
    "Evidence": Tab(evidence_tab, lambda room: (room.rater.private.own.evidence, room.rater.private.own.committed)),
    "Rubric": Tab(
        rubric_tab,
        lambda room: (
            room.rater.private.rubric,
            room.rater.private.own,
            room.public.level,
            room.rater.private.self_rating,
            room.rater.private.candidate_committed,
        ),
    ),
    "Truth": Tab(_truth, lambda room: (_strips(room), _answered(room))),
    "Release": Tab(_release, _release_watch),
    "Board": Tab(
        _board,
        lambda room: (room.public.pad, room.public.claims, room.state.checked, room.public.masked, _strips(room)),
    ),
    "Prompt": Tab(_prompt, lambda room: room.public.prompts),
    "Notes": Tab(notes_tab, lambda room: room.rater.private.own.notes),
    "Room": Tab(room_tab, lambda room: (room.rater.private.seats, room.attendance, room.public.level, room.state.lead)),
}
