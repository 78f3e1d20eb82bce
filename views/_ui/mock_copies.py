"""Copies of a scorecard to take along: Markdown, JSON and a page to print, for candidate and for interviewer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.mock.fold import fold
from core.mock.roles import Rater, is_rater
from core.mock.scorecard import Audience, Scorecard
from core.mock.scorecard_build import scorecard
from core.mock.scorecard_file import to_json
from core.mock.scorecard_page import to_html
from core.mock.scorecard_text import to_markdown
from core.storage.errors import StorageError
from views._ui.room import Room

PLACE = "copies"  # where a refusal is said
FORMATS: dict[str, tuple[str, str, Callable[[Scorecard], str]]] = {
    "Markdown": ("md", "text/markdown", to_markdown),
    "JSON": ("json", "application/json", to_json),
    "Page to print": ("html", "text/html", to_html),
}


def copies(room: Room) -> None:
    """Buttons for every copy that this role may have; each copy is made when it is asked for."""
    st.subheader("Copies", anchor=False)
    audiences: tuple[Audience, ...] = ("interviewer", "candidate") if is_rater(room.role) else ("candidate",)
    with_names = st.toggle("With the names that were given", value=True, key="mock.copies.names")
    for audience in audiences:
        words = "The candidate's copy" if audience == "candidate" else "Your own copy, with notes and the room's log"
        st.markdown(f"{words}:")
        with st.container(horizontal=True):
            for name in FORMATS:
                _button(room, audience, name, with_names)
    room.refusal(PLACE)
    if is_rater(room.role):
        hint = "Your JSON restores this room elsewhere. For a PDF open the page to print, and print it to a file."
        st.markdown(f":small[:gray[{hint}]]")


def _button(room: Room, audience: Audience, name: str, with_names: bool) -> None:
    ending, mime, _ = FORMATS[name]
    st.download_button(
        name,
        partial(asked_for, room, audience, name, with_names),
        file_name=f"scorecard-{room.id}-{audience}.{ending}",
        mime=mime,
        key=f"mock.copies.{audience}.{ending}",
        icon=":material/download:",
        on_click="ignore",
    )


def asked_for(room: Room, audience: Audience, name: str, with_names: bool) -> str:
    """One copy for a download. Where it cannot be made the browser is told that alone, so the page says why.

    Raises:
        StorageError: the room cannot be read.
    """
    try:
        text = written(room, audience, name, with_names)
    except StorageError as error:
        room.tell(PLACE, f"No copy was made. {error}")
        raise
    room.tell(PLACE, "")
    return text


def written(room: Room, audience: Audience, name: str, with_names: bool) -> str:
    """One copy as text, of the room as it is now.

    A download asks for it on a thread of its own, so the tab's room stays as it is.

    Raises:
        StorageError: the room cannot be read.
    """
    rater: Rater | None = room.role if is_rater(room.role) and audience == "interviewer" else None
    log = room.store.events(room.id)
    state = fold(room.state, log)  # of this log to its last line: a card that is read again is made anew from it
    card = scorecard(state, log, room.pack, room.bank, audience=audience, rater=rater, with_names=with_names)
    return FORMATS[name][2](card)
