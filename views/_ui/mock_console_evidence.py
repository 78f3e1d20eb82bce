"""Evidence: one box that is always in view, a button for each common observation, and the lines that were kept."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.mock.capture import captured
from core.mock.scorecard_text import clock
from core.mock.state import EvidenceLine, Mark
from views._ui import drafts
from views._ui.room import Room
from views._ui.words import plain

BOX, NOTE = "console.evidence", "console.note"
SIGNS = {"+": ":green[:material/add:]", "-": ":red[:material/remove:]", "?": ":gray[:material/question_mark:]"}
REMOVE, NO_ITEM = "Remove this line", "no item"
SHOWN_LINES = 40


def evidence_box(room: Room) -> None:
    """At the foot of the window: Enter keeps the line with its time and phase."""
    with st.bottom:
        room.part("evidence.box", partial(_box, room), lambda room: (room.seated, _committed(room), room.state.plan))


def _committed(room: Room) -> bool:
    return room.rater.private.own.committed is not None


def _box(room: Room) -> None:
    if not room.seated or _committed(room):
        return
    items = " ".join(f"#{key}" for key in room.state.plan.items)
    with st.form(f"{BOX}.form", border=False, clear_on_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.text_input(
                f"Evidence: + - or ? first, then the fact, then an item: {items}",
                key=BOX,
                placeholder="+ asked for the target before proposing anything #" + next(iter(room.state.plan.items)),
                autocomplete="off",
            )
            st.form_submit_button("Keep", type="primary", on_click=partial(_keep, room))
        room.refusal(BOX)
    drafts.keep(room, BOX, BOX)


def _keep(room: Room) -> None:
    """The browser empties the box when a line is sent and then heeds no value from here: it puts a refused one back."""
    typed = st.session_state.get(BOX) or ""
    if room.act("evidence", at=BOX, **captured(typed, room.state.plan.items)):
        drafts.settled(BOX, typed)
    else:
        st.session_state[BOX] = typed
        drafts.refused(BOX)
    room.redraw()


def evidence_tab(room: Room) -> None:
    """Observations to press, then own lines, the latest first; an item can be named afterwards."""
    private = room.rater.private
    if room.seated and not _committed(room):
        with st.container(horizontal=True, gap="xsmall", key="console-seen"):
            for number, seen in enumerate(private.observations):
                st.button(
                    f"{SIGNS[seen.sign]} {plain(seen.text)}",
                    key=f"console.seen.{number}",
                    on_click=partial(
                        room.do,
                        "evidence",
                        at="console.seen",
                        text=seen.text,
                        sign=seen.sign,
                        item=_only_item(room, seen.competency),
                    ),
                )
        room.refusal("console.seen")
    lines = private.own.evidence[::-1]
    if not lines:
        st.markdown(":gray[No evidence yet. Write facts that were said or done, never what somebody is like.]")
    unlinked = sum(not line.item for line in lines)
    if unlinked:
        st.markdown(f":small[:orange[:material/link_off:] {unlinked} of {len(lines)} lines belong to no item yet]")
    with st.container(gap="xxsmall", key="console-lines"):
        for line in lines[:SHOWN_LINES]:
            evidence_line(room, line)
    if len(lines) > SHOWN_LINES:
        st.markdown(f":small[:gray[and {len(lines) - SHOWN_LINES} earlier lines, on the scorecard]]")
    room.refusal("evidence_linked", "evidence_removed")


def _only_item(room: Room, competency: str) -> str:
    """The item that an observation belongs to, where its competency has just one."""
    items = [key for key, item in room.state.plan.items.items() if item.competency == competency]
    return items[0] if len(items) == 1 else ""


def evidence_line(room: Room, line: EvidenceLine) -> None:
    """One line; a menu moves it to an item or takes it away."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.markdown(f"{SIGNS[line.sign]} :small[:gray[{stamp(room, line.mark)}]] {plain(line.text)}")
        if room.seated and not _committed(room):
            items = [f"#{key}" for key in room.state.plan.items]
            st.menu_button(
                f"#{line.item}" if line.item else "item",
                [*items, NO_ITEM, REMOVE],
                key=f"console.line.{line.id}",
                type="tertiary",
                on_click=partial(_change_line, room, line.id),
            )
        elif line.item:
            st.markdown(f":small[:gray[#{line.item}]]", width="content")


def _change_line(room: Room, line: int) -> None:
    chosen = str(st.session_state.get(f"console.line.{line}") or "")
    if chosen == REMOVE:
        room.act("evidence_removed", evidence=line)
    else:
        room.act("evidence_linked", evidence=line, item="" if chosen == NO_ITEM else chosen.removeprefix("#"))
    room.redraw()


def stamp(room: Room, mark: Mark) -> str:
    """Minute and phase of a line."""
    name = "" if mark.phase is None else plain(room.pack.model.phases[mark.phase].name)
    return f"{clock(int(mark.t))} {name}".strip()


def notes_tab(room: Room) -> None:
    """Private notes: they are on the interviewer's copy alone."""
    st.markdown(":small[:gray[Only your own copy of the scorecard has these.]]")
    if room.seated:
        with st.form("console.note.form", border=False, clear_on_submit=True):
            st.text_area("Private note", key=NOTE, height=90)
            st.form_submit_button("Keep the note", on_click=partial(_keep_note, room))
        room.refusal("note")
        drafts.keep(room, NOTE, NOTE)
    for line in room.rater.private.own.notes[::-1]:
        st.markdown(f":small[:gray[{stamp(room, line.mark)}]] {plain(line.text)}")


def _keep_note(room: Room) -> None:
    typed = st.session_state.get(NOTE) or ""
    if room.act("note", text=typed):
        drafts.settled(NOTE, typed)
    else:
        st.session_state[NOTE] = typed
        drafts.refused(NOTE)
    room.redraw()
