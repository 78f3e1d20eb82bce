"""The rest of the console in tabs: only the open one is drawn, and only its own changes run it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from core.mock.rater_view import TruthStrip
from core.mock.state import AppliedTwist
from views._ui import mock_console_release as release
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
    for strip in room.rater.private.truth:
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
    calculator(room)


def _claims(room: Room) -> None:
    """Each claim can be set beside a number of the card; the scorecard then shows how far off it was."""
    numbers = _numbers(room)
    called = {number: words for words, number in numbers.items()}
    for claim in room.public.claims:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(claim_in_words(claim), width="content")
            checked = room.state.checked.get(claim.row)
            if checked is not None:
                words = called.get((checked.card, checked.number), checked.number)
                st.markdown(f":small[:gray[set beside {plain(words)}]]", width="content")
            if claim.number and room.seated and room.rater.private.leads:
                st.menu_button(
                    "Set beside",
                    list(numbers),
                    key=f"console.claim.{claim.row}",
                    type="tertiary",
                    on_click=partial(_check, room, claim.row, numbers),
                )
    room.refusal("claim_checked")


def _numbers(room: Room) -> dict[str, tuple[str, str]]:
    """The computed numbers in words, with the card of each where there are several."""
    strips = room.rater.private.truth
    named = {}
    for strip in strips:
        for row in strip.rows:
            named[f"{row.label} ({strip.title})" if len(strips) > 1 else row.label] = (strip.card, row.name)
    return named


def _check(room: Room, row: str, numbers: dict[str, tuple[str, str]]) -> None:
    card, number = numbers[str(st.session_state[f"console.claim.{row}"])]
    room.do("claim_checked", row=row, card=card, number=number)


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
    "Truth": Tab(_truth, lambda room: (room.rater.private.truth, _answered(room))),
    "Release": Tab(_release, _release_watch),
    "Board": Tab(_board, lambda room: (room.public.pad, room.public.claims, room.state.checked, room.public.masked)),
    "Prompt": Tab(_prompt, lambda room: room.public.prompts),
    "Notes": Tab(notes_tab, lambda room: room.rater.private.own.notes),
    "Room": Tab(room_tab, lambda room: (room.rater.private.seats, room.attendance, room.public.level, room.state.lead)),
}
