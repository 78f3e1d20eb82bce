"""The four ways into a room: lead one, join one, come back to an own one, restore one from its scorecard."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import get_args

import streamlit as st

from core.cards.draw import MAX_SEED, DrawError
from core.cards.models import Level
from core.mock.events import MAX_HANDLE, EventError, Opened
from core.mock.fold import fold, prepare
from core.mock.opening import holder_of, opening, session_name
from core.mock.plan import plan_of
from core.mock.reading import Pack
from core.mock.roles import is_rater
from core.mock.scorecard_build import ScorecardError, events_of
from core.mock.scorecard_file import MAX_BYTES, from_json
from core.mock.state import RoomState
from core.storage.errors import StorageError
from core.storage.records import Draft, NewRoom, StoredEvent
from views._ui import bank, mock_links, place, registry, rooms
from views._ui import own_rooms as own_list
from views._ui.mock_door import CONSENT
from views._ui.own_rooms import OwnRoom, OwnRooms
from views._ui.predict import READING_WIDTH
from views._ui.words import plain

LEVELS: tuple[Level, ...] = get_args(Level)
PACK_NUMBERS, OTHER_NUMBERS = "The pack's own", "Others, by a seed"
_MADE, _TO_ADD, _REFUSED = "lobby.made", "lobby.to_add", "lobby.refused"


def own_rooms() -> OwnRooms:
    """The list in this browser, with what a callback has just made."""
    own = own_list.mount()
    for new, title, level, at in st.session_state.pop(_TO_ADD, []):
        own.add(new, title, level, at)
    return own


def lead(own: OwnRooms) -> None:
    """Choose a pack and open a room; then its links."""
    st.header("Lead a mock", anchor=False)
    packs = rooms.packs()
    left, right = st.columns([1, 1], gap="large")
    with left:
        chosen = st.selectbox("Pack", list(packs), format_func=lambda pack: _in_words(packs[pack]), key="lobby.pack")
        pack = packs[chosen]
        st.markdown(plain(pack.model.about))
        st.segmented_control("Level", LEVELS, default=pack.model.level, required=True, key=_level_key(pack))
        numbers = st.segmented_control(
            "Numbers",
            [PACK_NUMBERS, OTHER_NUMBERS],
            default=PACK_NUMBERS,
            required=True,
            key="lobby.numbers",
            help="With another seed every number of the cards is drawn anew; the truth is computed for it.",
        )
        if numbers == OTHER_NUMBERS:
            # Without bounds of its own: it would mark a number beyond them red, say nothing and send the one before.
            st.number_input("Seed", value=1, step=1, key="lobby.seed", width=160)
            if words := _no_seed(st.session_state.get("lobby.seed")):
                st.markdown(f":red[:material/error: {words}]")
        st.text_input("Your name, if you like", key="lobby.handle", max_chars=MAX_HANDLE, width=320)
        st.markdown(f":small[{CONSENT} {_until()}]")
        again = _MADE in st.session_state  # then the way on is into that room, not into another one
        st.button(
            "Agree and open another room" if again else "Agree and open the room",
            key="lobby.create",
            type="secondary" if again else "primary",
            icon=":material/add_circle:",
            on_click=partial(_create, pack),
        )
        _refusal("create")
    with right:
        _links(own)
        _own(own)


def _in_words(pack: Pack) -> str:
    model = pack.model
    return f"{model.title} ({model.minutes} min, {model.theme}, {model.level})"


def _level_key(pack: Pack) -> str:
    """One for each pack: a default reaches the browser where a first run is cut short, a value that is set may not."""
    return f"lobby.level.{pack.id}"


def _until() -> str:
    if place.listens_locally():
        return "The room stays on this computer until you delete it."
    return "The room ends after 24 hours, or when you delete it."


def _create(pack: Pack) -> None:
    """Open the room and take the interviewer's seat in it for this browser."""
    level: Level = st.session_state[_level_key(pack)]
    seed = st.session_state.get("lobby.seed") if st.session_state.get("lobby.numbers") == OTHER_NUMBERS else None
    if words := _no_seed(seed):
        _refuse("create", words)
        return
    try:
        store = rooms.store()
        fields = opening(pack, bank.shipped(), level=level, seed=seed)
        state, now, drafts = RoomState(plan_of(pack, bank.shipped())), store.now(), []
        holder = holder_of(rooms.browser_id(), session_name(now, Opened(**fields)))
        seat = {"holder": holder, "handle": st.session_state.get("lobby.handle") or ""}
        for kind, values in (("opened", fields), ("joined", seat), ("consented", {})):
            payload = prepare(state, "interviewer", kind, now, **values)
            drafts.append(Draft("interviewer", kind, payload, now))
            event = StoredEvent(len(drafts), now, "interviewer", kind, payload, uuid.uuid4().hex)
            state = fold(state, [event])
        _made(store.restore_room(drafts, address=rooms.address()), pack.model.title, level, now)
    except (StorageError, EventError, DrawError) as error:
        _refuse("create", str(error))


def _no_seed(seed: int | None) -> str:
    """Why this is no seed; empty where it is one, or none was given: then the pack's own numbers are taken."""
    if seed is None or 0 <= seed < MAX_SEED:
        return ""
    return f"{seed:,} is no seed: take a whole number from 0 to {MAX_SEED - 1:,}."


def _made(new: NewRoom, title: str, level: str, at: float) -> None:
    st.session_state[_MADE] = new
    st.session_state.setdefault(_TO_ADD, []).append((new, title, level, at))


def _links(own: OwnRooms) -> None:
    """The links of the room that was opened just now; the browser's list has those that were made anew since."""
    new: NewRoom | None = st.session_state.get(_MADE)
    if new is None:
        return
    tokens = next((room.tokens for room in own.rooms if room.room == new.room), new.tokens)
    with st.container(border=True):
        st.markdown(f":material/check_circle: **The room {new.room} is open.** Send the candidate their link.")
        mock_links.links(new.room, {"candidate": tokens["candidate"]})
        st.markdown("**Your console** :small[:gray[lead from there; the candidate may come later]]")
        _enter(new.room, tokens)
        mock_links.links(new.room, {role: token for role, token in tokens.items() if role != "candidate"})
        st.markdown(":small[:gray[The links are kept in this browser and nowhere else.]]")


def _enter(room: str, tokens: Mapping[str, str]) -> None:
    query = rooms.query_of(room, tokens["interviewer"])
    st.page_link(registry.path_of("room"), label="Open your console", icon=":material/login:", query_params=query)


def _own(own: OwnRooms) -> None:
    made: NewRoom | None = st.session_state.get(_MADE)
    earlier = [room for room in own.rooms if made is None or room.room != made.room]
    if not earlier:
        return
    st.subheader("Rooms that this browser has opened", anchor=False)
    for room in earlier:
        _own_room(room)


def _own_room(room: OwnRoom) -> None:
    when = f"{datetime.fromtimestamp(room.at, UTC):%d %B, %H:%M} UTC"
    with st.expander(f"{plain(room.title)}, {plain(room.level)}, {when}", key=f"lobby.own.{room.room}"):
        _enter(room.room, room.tokens)
        mock_links.links(room.room, room.tokens)
        with st.container(horizontal=True):
            st.button("Forget its links", key=f"lobby.forget.{room.room}", on_click=partial(_forget, room))
            st.button(
                "Delete the room for everybody",
                key=f"lobby.delete.{room.room}",
                icon=":material/delete:",
                on_click=partial(_delete, room),
            )
        _refusal(room.room)


def _forget(room: OwnRoom) -> None:
    own_list.mount().remove(room.room)


def _delete(room: OwnRoom) -> None:
    """Whoever has its interviewer's link may."""
    try:
        store = rooms.store()
        if is_rater(store.role_of(room.room, room.tokens.get("interviewer", ""))):
            store.delete_room(room.room)
    except StorageError as error:
        _refuse(room.room, str(error))
        return
    _forget(room)


def join() -> None:
    """With a link that somebody sent."""
    st.header("Join by a link", anchor=False)
    with st.form("lobby.join", border=False):
        st.text_input("The link that you were given", key="lobby.link", autocomplete="off", width=READING_WIDTH)
        st.form_submit_button("Join", icon=":material/login:", on_click=_join)
    _refusal("join")
    if (query := st.session_state.pop("lobby.go", None)) is not None:
        st.switch_page(registry.path_of("room"), query_params=query)


def _join() -> None:
    query = mock_links.read_link(st.session_state.get("lobby.link") or "")
    if query is None:
        _refuse("join", "This is no link of a room: it has to carry room=... and key=..., as it was sent to you.")
    else:
        st.session_state["lobby.go"] = query


def restore() -> None:
    """A room from the interviewer's JSON, after the server lost it say; its links are new."""
    with st.expander("Restore a room from its scorecard", icon=":material/restore:", key="lobby.restore"):
        st.markdown("The interviewer's JSON holds the whole log. The room comes back as it was, with new links.")
        st.file_uploader("scorecard/1, as .json", type="json", key="lobby.file")
        st.button("Restore", on_click=_restore, disabled=st.session_state.get("lobby.file") is None)
        _refusal("restore")


def _restore() -> None:
    chosen = st.session_state.get("lobby.file")
    if chosen is None:
        return
    try:
        if chosen.size > MAX_BYTES:
            raise ScorecardError("This file is too large for a scorecard.")
        found = from_json(chosen.getvalue(), rooms.packs(), bank.shipped())
        if not found.card.log:
            raise ScorecardError("This is a candidate's copy: it has no log. Take the interviewer's JSON.")
        if found.card.pack not in rooms.packs():
            raise ScorecardError(found.warnings[0])
        drafts = [Draft(event.actor, event.kind, event.payload, event.at) for event in events_of(found.card)]
        new = rooms.store().restore_room(drafts, address=rooms.address())
    except (ScorecardError, StorageError) as error:
        _refuse("restore", str(error))
        return
    _made(new, found.card.title, found.card.level, rooms.store().now())
    if found.warnings:
        _refuse("restore", " ".join(found.warnings))


def _refuse(where: str, words: str) -> None:
    st.session_state[_REFUSED] = (where, words)


def _refusal(where: str) -> None:
    """Beside the control, until something else is tried."""
    found: tuple[str, str] | None = st.session_state.get(_REFUSED)
    if found is not None and found[0] == where:
        st.markdown(f":red[:material/error: {plain(found[1])}]")
        del st.session_state[_REFUSED]
