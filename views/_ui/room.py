"""A mock interview's room as one browser tab has it: opened by its link, folded as it grows, drawn in parts.

    room = opened()                      # a Room, or words why there is none
    room.part("board", draw_board, lambda room: room.public.prompts)     # redrawn when that value changes
    room.pulse()                         # once, at the end of the page

A part is a fragment. Once a second the browser asks for the room's revision; only when it has grown is the log folded
on, and only the parts whose value has changed are run again. What a part's buttons do is a callback that writes and
then redraws what it changed, at once:

    st.button("Pause", on_click=room.do, args=("paused",))               # one event
    def released() -> None:                                              # several
        room.act("hint_released", card=card, hint=1) and room.act("node_visited", card=card, node="start")
        room.redraw()
    ...
    room.refusal("paused")               # beside the control: why the last try was refused, if it was

Never write an event in the body of a part: it would be written at every redraw.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState, get_script_run_ctx

from core.cards.library import Bank
from core.mock.attendance import Attendance, attendance
from core.mock.clock import Clock, clock
from core.mock.events import EventError
from core.mock.fold import fold, passed_over, prepare
from core.mock.opening import holder_of, session_name
from core.mock.plan import plan_of
from core.mock.reading import Pack
from core.mock.roles import ROLES, SERVER, Role
from core.mock.state import RoomState
from core.mock.views import CandidateView, ObserverView, PublicView, RaterView, View, view_for
from core.storage.errors import NotARoom, StorageError
from core.storage.records import StoredEvent
from core.storage.rooms import RoomStore
from views._ui import bank, room_polls, rooms
from views._ui.assets import asset
from views._ui.words import plain

BEAT_S, HIDDEN_BEAT_S = 1.0, 5.0  # a seat turns grey after 10 s without a sign
PRESENCE_S = 4.5  # between signs that a tab is there: every fifth beat, and each of a hidden tab
POLLS_AFTER_S = 1800.0  # after the end, for words that are still added to the scorecard
NO_ROOM = "This address names no room. Open the link that you were given, or start at Mock interviews."
_WATCHING = "You are watching: take the seat first."
_GONE_PACK = "This room plays {}, which this version of the app does not have."
_KEY = "mock.room"

_pulse = st.components.v2.component("room_pulse", js=asset("pulse.js"), css=asset("pulse.css"))
Watch = Callable[["Room"], object]


@dataclass(slots=True)
class _Part:
    """What a part depends on, that value when it was drawn last, and the part that it lies in."""

    watch: Watch
    drawn: object
    fragment_id: str | None
    parent: str | None = None


@dataclass(slots=True, weakref_slot=True)
class Room:
    """One open tab. ``state`` is the fold so far; ``attendance`` who is here; ``closed`` why the link opens no more."""

    store: RoomStore
    id: str
    token: str = field(repr=False)  # a repr may end in a log
    role: Role
    tab: str
    pack: Pack
    bank: Bank
    state: RoomState
    attendance: Attendance = field(default_factory=lambda: Attendance(frozenset(), 0, leader_away=False))
    trouble: str = ""  # of the store, as long as it lasts
    closed: str = ""
    _view: View | None = None
    _parts: dict[str, _Part] = field(default_factory=dict)
    _drawing: list[str] = field(default_factory=list)  # the parts that are being drawn, the outermost first
    _refused: dict[str, str] = field(default_factory=dict)
    _told: bool = False  # something was refused outside any run, and is still to be drawn
    _present_at: float = 0.0

    # What is seen

    @property
    def view(self) -> View:
        """What this role may see."""
        if self._view is None or self._view.public.seq != self.state.seq:
            self._view = view_for(self.role, self.state, self.pack, self.bank)
        return self._view

    @property
    def public(self) -> PublicView:
        """The part of the view that everybody has."""
        return self.view.public

    @property
    def rater(self) -> RaterView:
        """The view of an interviewer or second rater."""
        assert isinstance(self.view, RaterView)
        return self.view

    @property
    def candidate(self) -> CandidateView:
        """The view of a candidate."""
        assert isinstance(self.view, CandidateView)
        return self.view

    @property
    def observer(self) -> ObserverView:
        """The view of an observer."""
        assert isinstance(self.view, ObserverView)
        return self.view

    @property
    def seated(self) -> bool:
        """Whether this browser holds its role's seat; an observer has none."""
        seat = self.state.seats.get(self.role)
        return seat is not None and seat.holder == self.tab

    def clock(self) -> Clock:
        """The clock at the server's time."""
        return clock(self.state, self.store.now())

    # What is done

    def act(self, kind: str, /, *, at: str = "", **fields: Any) -> bool:
        """Write one event as this role; False where it was refused, and ``refusal(at or kind)`` then says why.

        Call it in a callback, then ``redraw``.
        """
        place = at or kind
        self._refused.pop(place, None)
        try:
            self._write(kind, fields)
        except NotARoom as error:
            self.closed = str(error)
            self._refused[place] = str(error)
        except (EventError, StorageError) as error:
            self._refused[place] = str(error)
        return place not in self._refused

    def do(self, kind: str, /, *, at: str = "", **fields: Any) -> None:
        """A callback: write one event and redraw what it changed. ``kwargs={"card": ..., "hint": 1}`` of a button."""
        self.act(kind, at=at, **fields)
        self.redraw()

    def refuse(self, place: str, words: str) -> None:
        """Keep words of the page's own for ``refusal``."""
        self._refused[place] = words

    def tell(self, place: str, words: str) -> None:
        """The same from a thread of no run, a download's say: the next beat draws the parts that depend on it."""
        if words != self.refused(place):
            self._refused[place], self._told = words, True

    def refused(self, place: str) -> str:
        """The same words, or none."""
        return self._refused.get(place, "")

    def refusal(self, *places: str) -> None:
        """Draw why the last try there was refused, if it was."""
        for place in places:
            if words := self._refused.get(place):
                st.markdown(f":red[:material/error: {plain(words)}]")

    def rotate(self, role: Role) -> str:
        """A new link's token for a seat; this tab goes on with its own.

        Raises:
            StorageError: the link of this tab does not hold any more, or the database refused.
        """
        self._check_link()
        token = self.store.rotate(self.id, role)
        if role == self.role:
            self.token = token
        return token

    def delete(self) -> None:
        """Remove the room for everybody.

        Raises:
            StorageError: the link of this tab does not hold any more, or the database refused.
        """
        self._check_link()
        self.store.delete_room(self.id)
        self.closed = "This room was deleted."

    def _write(self, kind: str, fields: dict[str, Any]) -> None:
        self._check_link()
        self._read_on()
        if kind != "joined" and not self.seated:
            raise EventError(_WATCHING)
        payload = prepare(self.state, self.role, kind, self.store.now(), **fields)
        seq = self.store.append(self.id, self.role, kind, payload, client_id=uuid.uuid4().hex, token=self.token)
        try:
            log = self.store.events(self.id, self.state.seq)
        except NotARoom:
            raise
        except StorageError as error:  # it is written all the same: a beat will read it
            self.trouble = str(error)
            return
        # What another browser wrote between may stand against it: the session is finished, the seat is taken.
        overtaken_by = [event for event in log if event.seq < seq]
        before = fold(self.state, overtaken_by)
        self.state = fold(before, log)
        if overtaken_by and (refusal := passed_over(before, log[len(overtaken_by)])):
            raise EventError(refusal)

    def _check_link(self) -> None:
        if self.store.role_of(self.id, self.token) != self.role:
            raise NotARoom("This link was given to another role: open it anew.")

    # How it is kept up to date

    def _read_on(self) -> None:
        if self.store.revision(self.id) > self.state.seq:
            self.state = fold(self.state, self.store.events(self.id, self.state.seq))

    def refresh(self, *, presence: bool = False) -> None:
        """Read on in the log; every few seconds also say that this tab is here and look who else is."""
        try:
            self._read_on()
            now = self.store.now()
            if presence or now - self._present_at >= PRESENCE_S:
                self._check_link()
                self.store.touch(self.id, self.role, self.tab)
                self.attendance = attendance(self.state, self.store.presence(self.id), now)
                self._present_at = now
                if self.attendance.leader_away:
                    self._pause_for_leader(now)
            self.trouble = ""
        except NotARoom as error:
            self.closed = str(error)
        except StorageError as error:
            self.trouble = str(error)

    def _pause_for_leader(self, now: float) -> None:
        """Any tab may do it, as the server; one of them does, since they name the same moment of the log."""
        try:
            payload = prepare(self.state, SERVER, "paused", now, reason="away")
        except EventError:
            return
        self.store.append(self.id, SERVER, "paused", payload, client_id=f"away:{self.state.seq}")
        self._read_on()

    # How it is drawn

    def begin(self) -> None:
        """The start of a page run."""
        self._parts, self._drawing = {}, []
        self.refresh()

    def part(self, key: str, draw: Callable[[], None], watch: Watch) -> None:
        """Draw a part of the page that is run again, alone, when ``watch(room)`` has another value than it had then.

        Args:
            key: its name on this page.
            draw: draws it; its widgets' callbacks may call ``act`` and ``redraw``.
            watch: what it depends on, as a value that can be compared.

        It may lie in another part: that one, run again, may leave it out.
        """
        parent = self._drawing[-1] if self._drawing else None

        @st.fragment(key=_name(key))
        def drawn() -> None:
            self._forget_within(key)
            self._parts[key] = _Part(watch, watch(self), ThreadState.get().fragment_id, parent)
            self._drawing.append(key)
            try:
                draw()
            finally:
                self._drawing.remove(key)

        drawn()

    def _forget_within(self, key: str) -> None:
        """Forget the parts within one that is drawn anew: it may draw others."""
        for inner in [name for name, part in self._parts.items() if part.parent == key]:
            self._forget_within(inner)
            del self._parts[inner]

    def pulse(self) -> None:
        """The heart of the page: draw it once, last. It asks for news and runs the parts that have any."""

        @st.fragment(key=_name("pulse"))
        def drawn() -> None:
            fragment = ThreadState.get().fragment_id
            self._parts["pulse"] = _Part(_pulse_depends_on, _pulse_depends_on(self), fragment)
            if fragment is not None and (run := get_script_run_ctx()) is not None:
                room_polls.watch(run.session_id, fragment, self)
            if self.trouble:
                st.warning(plain(self.trouble), icon=":material/cloud_off:")
            _pulse(key="room.pulse", data=list(pace(self)), on_beat_change=self._beat, height="content")

        drawn()
        # Outside the fragment: after a lost connection it runs the whole page, which a new server does not know yet.
        _pulse(key="room.again", data=[], on_again_change=lambda: None, height="content")

    def has_news(self) -> bool:
        """Whether a beat has to be run: the log has grown, a sign of presence is due, or something is to be said.

        It changes nothing, and any thread may ask.
        """
        if self.closed or self.trouble or self._told or self.store.now() - self._present_at >= PRESENCE_S:
            return True
        if pace(self) != self._drawn_pace():
            return True
        try:
            return self.store.revision(self.id) != self.state.seq
        except StorageError:
            return True

    def _beat(self) -> None:
        """A callback: has anything changed?"""
        before = (self.state.seq, self.attendance, self.trouble, self.closed)
        told, self._told = self._told, False
        self.refresh()
        unchanged = (self.state.seq, self.attendance, self.trouble, self.closed) == before
        if unchanged and not told and pace(self) == self._drawn_pace():
            return
        self.redraw()

    def _drawn_pace(self) -> object:
        drawn = self._parts["pulse"].drawn if "pulse" in self._parts else None
        return drawn[0] if isinstance(drawn, tuple) else None

    def redraw(self) -> None:
        """At the end of a callback: run the part that it belongs to and every part whose value has changed.

        Where the widget belongs to no part, or the page itself has changed, the whole page is run.
        """
        here = ThreadState.get()
        assert here.run_location is RunLocation.CALLBACK
        if self.closed or here.fragment_id is None or "page" not in self._parts:
            return_to_page = True
        else:
            return_to_page = self._parts["page"].watch(self) != self._parts["page"].drawn
        if return_to_page:
            st.rerun()
        changed = [
            key for key, part in self._parts.items() if part.fragment_id == here.fragment_id or self._differs(part)
        ]
        if changed:
            st.rerun([_name(key) for key in changed])

    def _differs(self, part: _Part) -> bool:
        return part.watch(self) != part.drawn

    def page(self, watch: Watch) -> None:
        """What the layout of the whole page depends on: when it changes, all of it is run."""
        self._parts["page"] = _Part(watch, watch(self), None)


def _name(key: str) -> str:
    return f"room.part.{key}"


def _pulse_depends_on(room: Room) -> object:
    return pace(room), room.trouble


def pace(room: Room) -> tuple[int, int]:
    """How often the browser asks, in ms, with the tab visible and hidden; 0 for not at all.

    Every second while the session goes on, and until both have committed; then as seldom as in a hidden tab; half an
    hour after the end no more.
    """
    finished_at = room.state.time.finished_at
    over = finished_at is not None and room.state.revealed
    if room.closed or (over and finished_at is not None and room.store.now() - finished_at > POLLS_AFTER_S):
        return 0, 0
    return round(1000 * (HIDDEN_BEAT_S if over else BEAT_S)), round(1000 * HIDDEN_BEAT_S)


def opened() -> Room | str:
    """The room of the address as this session has it, brought up to date; or why there is none, in words."""
    asked = (st.query_params.get(rooms.ROOM_KEY, ""), st.query_params.get(rooms.TOKEN_KEY, ""))
    if not all(asked):
        return NO_ROOM
    kept: Room | None = st.session_state.get(_KEY)
    same = kept is not None and (kept.id, kept.token) == asked
    if kept is None or not same or kept.closed:
        try:
            found = open_link(*asked)
        except StorageError as error:
            return kept.closed if kept is not None and same else str(error)
        if isinstance(found, str):
            return found
        kept = st.session_state[_KEY] = found
    kept.begin()
    return kept.closed or kept


def open_link(room: str, token: str) -> Room | str:
    """A room by its code and token, or why this app cannot play it.

    Raises:
        StorageError: the link opens nothing, or the database refused.
    """
    store = rooms.store()
    role = store.role_of(room, token)
    assert _is_role(role)
    log = store.events(room)
    named = next((str(event.payload.get("pack", "")) for event in log if event.kind == "opened"), "")
    pack = rooms.packs().get(named)
    if pack is None:
        return _GONE_PACK.format(named or "no pack")
    state = fold(RoomState(plan_of(pack, bank.shipped())), log)
    return Room(store, room, token, role, _tab(role, state, log), pack, bank.shipped(), state)


def _tab(role: Role, state: RoomState, log: Sequence[StoredEvent]) -> str:
    """This browser's name in the room. Rooms of earlier versions have its own name at the seats that it holds."""
    browser, seat = rooms.browser_id(), state.seats.get(role)
    if state.opened is None or (seat is not None and seat.holder == browser):
        return browser
    return holder_of(browser, session_name(log[0].at, state.opened))


def _is_role(role: str) -> TypeGuard[Role]:
    return role in ROLES
