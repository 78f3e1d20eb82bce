"""One text kept in the reader's browser: it outlives reloads, restarts and upgrades; the session is only a cache.

    store = mount(merge=merged, check=readable)    # once a page run, near the top
    if store.ready: ...                            # the browser has answered
    store.save(text)                               # any time after: in the page, in a callback, in a fragment

The browser's side is ``assets/store.js``. Two kinds of messages go down, each a component without looks: a question,
"what do you have?", and a list of commands. Two kinds of events come up: ``text`` (here is what is stored) and
``status`` (done up to this command). Events arrive in a fragment of their own, so a save that went well draws nothing
again; what changes ``Store.text`` from outside runs the page once. Texts travel only when the other side lacks them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState

from views._ui.assets import asset
from views._ui.store_copy import Check, Copy, Health, Merge

_component = st.components.v2.component("store", js=asset("store.js"))
_CSS = asset("store.css")


@dataclass(frozen=True, slots=True)
class Store:
    """The text in the browser, as one page run sees it."""

    _copy: Copy
    _place: DeltaGenerator | None

    @property
    def ready(self) -> bool:
        """Whether the browser has answered. Until then a page shows what needs no progress."""
        return self._copy.ready

    @property
    def text(self) -> str | None:
        """The text with everything that was saved since; None if there is none, or none that can be read."""
        return self._copy.text

    @property
    def conflict(self) -> str | None:
        """Without ``merge``: what another tab has stored; the next ``save`` replaces it."""
        return self._copy.conflict

    @property
    def unreadable(self) -> str | None:
        """A stored text that ``check`` refused, to be shown or downloaded; the next ``save`` keeps a copy of it."""
        return self._copy.unreadable

    @property
    def why_unreadable(self) -> str:
        """The words of that refusal."""
        return self._copy.why_unreadable

    @property
    def health(self) -> Health:
        """Where, when and how much was saved, and what went wrong."""
        return self._copy.health

    @property
    def saving(self) -> bool:
        """Whether the browser has yet to confirm something, or has refused it."""
        return bool(self._copy.commands) or self._copy.failed

    def save(self, text: str) -> None:
        """Keep this text; a text that is kept already costs nothing."""
        if self._copy.save(text):
            self._send()

    def backup(self) -> None:
        """Let the next save first copy what is stored to the backup, both or neither. It replaces the last backup."""
        self._copy.backup_due = True

    def restore(self) -> None:
        """Put the backup in place, and what was in place into the backup: a second call undoes the first."""
        self._copy.command("restore", rev=secrets.token_hex(8))
        self._send()

    def in_fragment(self) -> None:
        """The first line of a fragment that saves: it keeps a place for what its widgets' callbacks order."""
        self._copy.fragments.add(ThreadState.get().fragment_id)
        if self._copy.sent_id < self._copy.last_id:
            self._send()
        elif self._place is not None:
            self._place.empty()

    def _send(self) -> None:
        copy, here = self._copy, ThreadState.get()
        if here.run_location is RunLocation.CALLBACK and here.fragment_id in copy.fragments:
            return  # nothing is drawn in a callback: `mount` sends it, or `in_fragment`
        copy.sent_id, copy.sent = copy.last_id, copy.sent + 1
        message = {"key": copy.key, "session": copy.session, "commands": copy.commands}
        if self._place is None:
            _ask_stand_in(copy, message)
            return
        name = f"browser-store-{copy.key}-{copy.sent}"  # a component of its own each time: each command is obeyed once
        try:
            with self._place:
                _component(key=name, data=[message])
        except StreamlitAPIException:  # in a fragment without `in_fragment`: stand where we are
            _component(key=f"{name}-here", data=[message])


def mount(key: str = "progress", *, merge: Merge | None = None, check: Check | None = None) -> Store:
    """Connect this page to the text in the browser.

    Args:
        key: the text's name in the browser.
        merge: joins two texts that grew from the same one; ``ValueError`` if either cannot be read.
        check: raises ``ValueError``, in words, for a text that cannot be read.

    A test of a page, which has no browser, puts a stand-in into the session under ``<key>.browser``: a callable that
    takes a message and returns events (``tests/pages/stand_in.py``).
    """
    copy: Copy = st.session_state.setdefault(f"{key}.copy", Copy(key))
    copy.merge, copy.check, copy.mounted_in = merge or copy.merge, check or copy.check, _this_run()
    copy.fragments = {None}
    if not copy.ready:
        copy.asked += 1  # ask again: the answer to an earlier question may have been lost on its way
    if f"{key}.browser" in st.session_state:
        place = None
        _ask_stand_in(copy, _question(copy))
    else:
        st.html(f"<style>{_CSS}</style>")
        place = st.container(key=f"browser-store-{key}-place")
        with place:
            _listen(key)
    store = Store(copy, place)
    if copy.commands:
        store._send()
    return store


def is_mounted(key: str = "progress") -> bool:
    """Whether this run has connected the text already."""
    copy: Copy | None = st.session_state.get(f"{key}.copy")
    return copy is not None and copy.mounted_in is not None and copy.mounted_in is _this_run()


def deliver(key: str = "progress") -> None:
    """At the end of a run: hand over what an earlier page ordered, if this page has no store."""
    copy: Copy | None = st.session_state.get(f"{key}.copy")
    if copy and copy.commands and not is_mounted(key):
        mount(key)


def _this_run() -> object:
    """An object that Streamlit makes anew for each run. A flag would stay up after a run that was broken off."""
    run = get_script_run_ctx()
    return run.cursors if run else None


@st.fragment
def _listen(key: str) -> None:
    """Where events arrive. By itself an event runs only this."""
    copy: Copy = st.session_state[f"{key}.copy"]
    _component(
        key=f"browser-store-{key}",
        data=[_question(copy)],
        on_text_change=lambda: _hear(key, "text"),
        on_status_change=lambda: _hear(key, "status"),
    )


def _question(copy: Copy) -> dict[str, Any]:
    return {"key": copy.key, "session": copy.session, "asked": copy.asked, "have": list(copy.own), "ready": copy.ready}


def _hear(key: str, event: str) -> None:
    copy: Copy = st.session_state[f"{key}.copy"]
    value = (st.session_state.get(f"browser-store-{key}") or {}).get(event)
    if copy.hear(event, value):
        st.rerun()


def _ask_stand_in(copy: Copy, message: dict[str, Any]) -> None:
    for event, value in st.session_state[f"{copy.key}.browser"](message):
        copy.hear(event, value)
