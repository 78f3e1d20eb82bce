"""The scorecard of a mock session on a page: sealed until both have committed, then one card for both, and copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.cards.text import with_unit
from core.mock.rater_view import OtherRating
from core.mock.roles import is_rater
from core.mock.scorecard import DISCLAIMER, Audience, ItemPart, Scorecard
from core.mock.scorecard_build import scorecard
from core.mock.scorecard_text import (
    after_hints,
    beside,
    clock,
    dimension,
    error,
    header,
    level,
    percent,
    said,
    self_rows,
    timeline,
)
from core.mock.views import RaterView
from views._ui import bank, card_address
from views._ui.mock_board import pad_text
from views._ui.mock_copies import PLACE as COPIES
from views._ui.mock_copies import copies
from views._ui.mock_raters import other_rater
from views._ui.mock_summary import summary
from views._ui.predict import READING_WIDTH
from views._ui.room import Room
from views._ui.rooms import ROLE_WORDS
from views._ui.step_page import data_table
from views._ui.words import inline, money_safe, plain

CARD_ANCHOR, NOT_RATED = "scorecard", "not rated"


def scorecard_view(room: Room) -> None:
    """The card of a room, as a part of the page; before it is open, what it waits for."""
    room.part("scorecard", partial(_draw, room), _depends_on)


def is_open(room: Room) -> bool:
    """Whether this role may see the scorecard: both have committed, and a rater has committed as well."""
    if room.role == "observer" or not room.state.revealed:
        return False
    return not is_rater(room.role) or room.state.ratings[room.role].committed is not None


def _depends_on(room: Room) -> object:
    if is_open(room):
        return room.state.seq, room.refused(COPIES)  # words may still come in
    return _waits_for(room)


def _draw(room: Room) -> None:
    if not is_open(room):
        if waits := _waits_for(room):
            st.info(f"The scorecard opens when {waits} committed.", icon=":material/lock:")
            summary(room)
        return
    rater = room.role if is_rater(room.role) else None
    audience: Audience = "candidate" if rater is None else "interviewer"
    log = room.store.events(room.id)
    card = scorecard(room.state, log, room.pack, room.bank, audience=audience, rater=rater)
    show_card(_as_played(card, room))
    if isinstance(room.view, RaterView):
        second_raters(card, room.view.private.others, room)
        summary(room)
    copies(room)


def _as_played(card: Scorecard, room: Room) -> Scorecard:
    """Without the numeric probes that were never shown among the cards that were played."""
    unseen = set(room.state.plan.drills).difference(room.state.drills)
    cards = {card_id: title for card_id, title in card.cards.items() if card_id not in unseen}
    return card.model_copy(update={"cards": cards})


def _waits_for(room: Room) -> str:
    """Who has yet to commit, for those who score; a candidate reads it beside the own rating."""
    if not is_rater(room.role) or room.state.time.started_at is None:
        return ""
    waiting = [ROLE_WORDS[room.state.lead].lower()] if room.state.ratings[room.state.lead].committed is None else []
    if room.role != room.state.lead and room.state.ratings[room.role].committed is None:
        waiting.append(ROLE_WORDS[room.role].lower())
    if room.state.self_rating is None:
        waiting.append("candidate")
    words = [f"the {who}" for who in waiting]
    return f"{' and '.join(words)} {'has' if len(words) == 1 else 'have'}" if words else ""


def show_card(card: Scorecard) -> None:
    """Everything that a card holds, on one page."""
    st.header(f"Scorecard: {plain(card.title)}", anchor=CARD_ANCHOR)
    st.caption(" · ".join(f"{name}: {plain(value)}" for name, value in header(card)))
    st.info(DISCLAIMER, icon=":material/info:")
    _overall(card)
    st.subheader("Items", anchor=False)
    for item in card.items:
        _item(item)
    _self(card)
    _numbers(card)
    for title, lines in (("Strengths", card.strengths), ("Changes", card.changes)):
        if lines:
            st.subheader(title, anchor=False)
            st.markdown("\n".join(f"- {plain(line)}" for line in lines), width=READING_WIDTH)
    _next_drills(card)
    with st.expander("Timeline", icon=":material/timeline:"):
        st.markdown("\n".join(f"- {clock(t)} {plain(what)}" for t, what in timeline(card)) or "Nothing happened.")
    _board(card)
    _private(card)


def _overall(card: Scorecard) -> None:
    if card.overall is None:
        return
    st.subheader(f"Overall: {card.overall.judgement}", anchor=False)
    st.markdown(plain(card.overall.reason), width=READING_WIDTH)
    st.markdown(f":small[:gray[{plain(beside(card))}]]")


def _item(item: ItemPart) -> None:
    with st.container(border=True):
        words = "not observed" if item.level is None else f"level {level(item)} of 4"
        hints = f", after hints {after_hints(item)}" if after_hints(item) else ""
        about = f":small[:gray[{plain(dimension(item))} · #{plain(item.id)}]]"
        st.markdown(money_safe(f"**{item.title or item.id}** {about}"), width=READING_WIDTH)
        reached = f": {inline(item.reached)}" if item.reached else ""
        st.markdown(f"**{words[:1].upper()}{words[1:]}**{reached}{plain(hints)}", width=READING_WIDTH)
        st.markdown(evidence_lines(item), width=READING_WIDTH)


def evidence_lines(item: ItemPart) -> str:
    """An item's evidence as a list in Markdown, with sign, time and phase."""
    lines = (f"- {plain(line.sign)} {clock(line.t)} {plain(line.phase)}: {plain(line.text)}" for line in item.evidence)
    return "\n".join(lines) or ":gray[no evidence]"


def _self(card: Scorecard) -> None:
    if card.self_ is None:
        return
    st.subheader("Self-rating against score", anchor=False)
    judged = card.overall.judgement if card.overall else ""
    rows = [{"": "All in all", "score": judged, "self": card.self_.overall}]
    rows += [{"": name, "score": score, "self": own or NOT_RATED} for name, score, own in self_rows(card)]
    data_table(st.empty(), rows, bold=0)
    if card.self_.words:
        st.markdown(f"> {plain(card.self_.words)}", width=READING_WIDTH)


def _numbers(card: Scorecard) -> None:
    if not card.numbers:
        return
    st.subheader("Numbers", anchor=False)
    rows = [
        {
            "asked": row.ask,
            "said": said(row),
            "truth": with_unit(row.truth, 4, row.unit),
            "error": error(row),
            "sure": percent(row.conf),
        }
        for row in card.numbers
    ]
    data_table(st.empty(), rows)


def _next_drills(card: Scorecard) -> None:
    known = bank.cards()
    drills = [known[row.id] for row in card.next_drills if row.id in known]
    if not drills:
        return
    st.subheader("Drill next", anchor=False)
    st.markdown("For the items at level 2 or below, the weakest first.")
    for drill in drills:
        st.page_link(
            card_address.page_of(drill),
            label=plain(drill.title),
            icon=":material/calculate:",
            query_params=card_address.query_of(drill),
        )


def _board(card: Scorecard) -> None:
    if not (card.claims or card.pad):
        return
    with st.expander("The candidate's board", icon=":material/edit_note:"):
        if card.claims:
            rows = [
                {"claim": row.claim, "number": f"{row.number} {row.unit}".strip(), "sure": percent(row.conf)}
                for row in card.claims
            ]
            data_table(st.empty(), rows)
        pad_text(card.pad)


def _private(card: Scorecard) -> None:
    if card.notes:
        with st.expander("Private notes", icon=":material/lock:"):
            st.markdown("\n".join(f"- {clock(note.t)} {plain(note.text)}" for note in card.notes))
    if (given := card.feedback) is not None:
        st.subheader("What the candidate says of the interview", anchor=False)
        st.markdown(f"clear {given.clear}, fair {given.fair}, useful {given.useful} of 5")
        if given.words:
            st.markdown(f"> {plain(given.words)}", width=READING_WIDTH)


def second_raters(card: Scorecard, others: Sequence[OtherRating], room: Room) -> None:
    """Each other rater who has committed, beside this one's scores."""
    for other in others:
        other_rater(card, other, room)
