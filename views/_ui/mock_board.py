"""The shared board of a mock session: the candidate's scratchpad and claims, to write on and to read."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.mock.numbers import CLAIM_RTOL
from core.mock.views import ClaimRow
from views._ui import drafts
from views._ui.answering import DRILL_CONFIDENCES
from views._ui.assets import asset
from views._ui.room import Room
from views._ui.step_page import data_table
from views._ui.words import plain

_component = st.components.v2.component(
    "mock_pad", html=asset("mock_pad.html"), css=asset("mock_pad.css"), js=asset("mock_pad.js")
)
_WORD_JOINER = "\u2060"
REMIND_S = 180  # without a letter on the pad
_FIELDS = ("claim", "number", "unit")
_EMPTY = ClaimRow(row="", claim="", number="", unit="", confidence=None)
CHANGED = "Meanwhile another tab has made this claim: {}. Press again to put yours in its place."


@dataclass(slots=True)
class _Known:
    """The text that this tab's pad shows, as far as Python knows, and the token under which it was put there."""

    text: str
    token: str


def pad(room: Room) -> None:
    """The scratchpad with its preview; it saves itself, and only the candidate's tabs ever write into it."""
    room.part("pad", partial(_pad, room), lambda room: (room.public.pad, room.seated, room.public.finished))
    room.part("pad.preview", partial(_preview, room), lambda room: room.public.pad)


def _pad(room: Room) -> None:
    if room.public.finished or not room.seated:
        return
    known = _known(room)
    remind = st.session_state.get("mock.pad.remind", False)
    _component(
        key="mock.pad",
        data=[known.text, known.token, room.refused("pad"), 1000 * REMIND_S if remind else 0, room.id],
        on_text_change=partial(_save, room),
        height="content",
    )
    st.toggle(
        f"Remind me to think aloud when the pad rests for {REMIND_S // 60} minutes",
        key="mock.pad.remind",
    )


def _known(room: Room) -> _Known:
    known: _Known | None = st.session_state.get(f"mock.pad.known.{room.id}")
    if known is None or known.text != room.public.pad:
        known = _Known(room.public.pad, secrets.token_hex(6))
        st.session_state[f"mock.pad.known.{room.id}"] = known
    return known


def _save(room: Room) -> None:
    known: _Known | None = st.session_state.get(f"mock.pad.known.{room.id}")
    match (st.session_state.get("mock.pad") or {}).get("text"):
        case [str(token), str(text)] if known is not None:
            pass
        case _:
            return  # not from our own script
    text = text.encode("utf-8", "replace").decode()  # half of a surrogate pair is no text
    room.refresh()
    # Upon a text that another tab has replaced meanwhile: written now, that one would be lost. The browser gets it
    # first, puts its lines below the own ones, and sends both.
    if (token, room.public.pad) != (known.token, known.text):
        room.refuse("pad", "")
    elif room.act("pad", text=text):
        known.text = room.public.pad
    room.redraw()


def _preview(room: Room) -> None:
    if room.public.finished:
        pad_text(room.public.pad)
        return
    with st.expander("Preview of the scratchpad", icon=":material/visibility:"):
        pad_text(room.public.pad)


def pad_text(text: str) -> None:
    """A scratchpad as it reads: Markdown without images, which would be fetched from wherever they name."""
    if text.strip():
        st.markdown(text.replace("![", f"!{_WORD_JOINER}["))
    else:
        st.markdown(":gray[The scratchpad is empty.]")


def claims(room: Room) -> None:
    """The table of claims, to be written on."""
    room.part("claims", partial(_claims, room), lambda room: (room.public.claims, room.public.finished, room.seated))


def _claims(room: Room) -> None:
    if room.public.finished or not room.seated:
        claims_table(room.public.claims)
        return
    with st.container():  # of its own: rows come and go, and the form below may hold the focus
        for row in room.public.claims:
            _row(room, row)
        room.refusal("claim_removed")
    form = _form(room)
    was = form.row or _EMPTY
    with st.form("mock.claim.form"):
        st.text_input("Claim", was.claim, key=form.key("claim"), placeholder="what the number is", max_chars=200)
        with st.container(horizontal=True):
            st.text_input("Number", was.number, key=form.key("number"), width=120, max_chars=40)
            st.text_input("Unit", was.unit, key=form.key("unit"), width=120, max_chars=40)
            st.segmented_control(
                f"How sure are you that it is within {CLAIM_RTOL:.0%}?",
                DRILL_CONFIDENCES,
                default=was.confidence if was.confidence in DRILL_CONFIDENCES else None,
                format_func=lambda share: f"{share}%",
                key=form.key("confidence"),
            )
        room.refusal("claim")
        st.form_submit_button("Keep the change" if form.row else "Add the claim", on_click=_keep, args=(room,))
    drafts.keep(room, "mock.claim", *(form.key(name) for name in _FIELDS))


def _row(room: Room, row: ClaimRow) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(claim_in_words(row))
        st.button("Change", key=f"mock.claim.change.{row.row}", type="tertiary", on_click=_next_form, args=(room, row))
        st.button(
            "Remove",
            key=f"mock.claim.remove.{row.row}",
            type="tertiary",
            on_click=partial(room.do, "claim_removed", row=row.row),
        )


@dataclass(frozen=True, slots=True)
class _Form:
    """The boxes of one claim, and the row that they change, as it was, if any.

    Each claim gets new ones: into a box that stays the browser would still send what was typed before Python wrote.
    """

    number: int = 0
    row: ClaimRow | None = None

    def key(self, name: str) -> str:
        return f"mock.claim.{self.number}.{name}"


def _form(room: Room) -> _Form:
    form: _Form = st.session_state.get(f"mock.claim.{room.id}", _Form())
    return form


def _next_form(room: Room, row: ClaimRow | None = None) -> None:
    st.session_state[f"mock.claim.{room.id}"] = _Form(_form(room).number + 1, row)
    drafts.settled("mock.claim")


def _keep(room: Room) -> None:
    form = _form(room)
    row = form.row.row if form.row else f"c{secrets.token_hex(4)}"
    texts = {name: st.session_state.get(form.key(name)) or "" for name in _FIELDS}
    room.refresh()
    now = next((each for each in room.public.claims if each.row == row), None)
    if form.row and now and now != form.row:
        st.session_state[f"mock.claim.{room.id}"] = _Form(form.number, now)
        room.refuse("claim", CHANGED.format(f"{now.claim}: {now.number} {now.unit}".strip(" :")))
    elif room.act("claim", row=row, confidence=st.session_state.get(form.key("confidence")), **texts):
        _next_form(room)
    room.redraw()


def claim_in_words(row: ClaimRow) -> str:
    """One claim on one line."""
    number = f"{row.number} {row.unit}".strip()
    sure = f" :gray[{row.confidence}% sure]" if row.confidence is not None else ""
    return f"{plain(row.claim)}{f': **{plain(number)}**' if number else ''}{sure}"


def claims_table(rows: tuple[ClaimRow, ...]) -> None:
    """The claims to read."""
    if not rows:
        st.markdown(":gray[No claims.]")
        return
    data_table(
        st.empty(),
        [
            {
                "claim": row.claim,
                "number": row.number,
                "unit": row.unit,
                "sure": "" if row.confidence is None else f"{row.confidence}%",
            }
            for row in rows
        ],
    )
