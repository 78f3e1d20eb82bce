"""A solo mock: a room in which one person has both seats, so that everything a live session has is there as well.

The interviewer's seat releases, scores and commits; the candidate's writes, rates and commits. The address holds both
links, so a reload brings the session back.
"""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass

import streamlit as st

from core.cards.draw import MAX_SEED, DrawError
from core.cards.models import Level
from core.mock.fold import prepare
from core.mock.opening import opening
from core.mock.plan import plan_of
from core.mock.reading import Pack
from core.mock.state import RoomState
from core.storage.errors import StorageError
from core.storage.records import Draft
from views._ui import bank, rooms
from views._ui.room import Room, open_link

OWN_KEY = "own"  # of the address: the candidate's token
NOT_SOLO = "This address is of a room for two. Open it as it was given to you."
DRAWS = 50
_KEPT = "solo.seats"


@dataclass(frozen=True, slots=True)
class Solo:
    """Both seats of one room."""

    lead: Room
    own: Room

    def sync(self) -> None:
        """What one seat has written, the other has read."""
        self.lead.begin()
        self.own.begin()


def opened() -> Solo | str | None:
    """The session of the address; words why it cannot be opened, or None where the address names none."""
    names = (rooms.ROOM_KEY, rooms.TOKEN_KEY, OWN_KEY)
    asked = tuple(st.query_params.get(name, "") for name in names)
    if not any(asked):
        return None
    kept: tuple[tuple[str, ...], Solo] | None = st.session_state.get(_KEPT)
    if kept is None or kept[0] != asked or kept[1].lead.closed:
        room, lead_token, own_token = asked
        try:
            lead, own = open_link(room, lead_token), open_link(room, own_token)
        except StorageError as error:
            return str(error)
        if isinstance(lead, str):
            return lead
        if isinstance(own, str) or (lead.role, own.role) != ("interviewer", "candidate"):
            return NOT_SOLO
        if lead.state.opened is None or not lead.state.opened.solo:
            return NOT_SOLO
        kept = st.session_state[_KEPT] = (asked, Solo(lead, own))
    solo = kept[1]
    solo.sync()
    return solo.lead.closed or solo


def start(pack: Pack, level: Level, *, fresh_numbers: bool) -> str:
    """Make a room, sit down on both seats and put it into the address; or why that was refused, in words."""
    store = rooms.store()
    try:
        seed = drawn_seed(pack) if fresh_numbers else None
        fields = opening(pack, bank.shipped(), level=level, seed=seed, solo=True)
        payload = prepare(RoomState(plan_of(pack, bank.shipped())), "interviewer", "opened", store.now(), **fields)
        made = store.create_room(Draft("interviewer", "opened", payload), address=rooms.address())
    except (StorageError, DrawError) as error:
        return str(error)
    for role in ("interviewer", "candidate"):
        seat = open_link(made.room, made.tokens[role])
        if isinstance(seat, str):
            return seat
        for kind, given in (("joined", {"holder": seat.tab}), ("consented", {}), ("ready", {})):
            if not seat.act(kind, **given):
                return seat.refused(kind)
    st.query_params.update({**rooms.query_of(made.room, made.tokens["interviewer"]), OWN_KEY: made.tokens["candidate"]})
    return ""


def drawn_seed(pack: Pack) -> int:
    """A seed for which every card of the pack has a variant.

    Raises:
        DrawError: none was found in many tries.
    """
    stream = random.Random(secrets.token_bytes(8))
    for _ in range(DRAWS):
        seed = stream.randrange(MAX_SEED)
        try:
            opening(pack, bank.shipped(), level=pack.model.level, seed=seed)
        except DrawError:
            continue
        return seed
    raise DrawError("No fresh numbers were found for this pack. Take its own.")


def leave() -> None:
    """Take the session out of the address; the room stays for whoever has its links."""
    for name in (rooms.ROOM_KEY, rooms.TOKEN_KEY, OWN_KEY):
        if name in st.query_params:
            del st.query_params[name]
