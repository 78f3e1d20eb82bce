"""The interview room: one address for every role, and what a role may see is decided by its link."""

import streamlit as st

from core.mock.opening import changes
from core.mock.roles import is_rater
from views._ui import mock_links, registry, rooms
from views._ui.mock_candidate import candidate, observer
from views._ui.mock_console import console
from views._ui.mock_door import door, watches, watching_note
from views._ui.room import Room, opened
from views._ui.words import plain


def inside(room: Room) -> None:
    """The page of a seat."""
    if room.role == "observer":
        observer(room)
    elif not is_rater(room.role):
        candidate(room)
    else:
        for words in changes(room.state, room.bank):
            st.warning(plain(words), icon=":material/published_with_changes:")
        console(room)


rooms.keep_browser_id()
rooms.tidy()
room = opened()
if isinstance(room, str):
    st.title("Interview room", anchor=False)
    st.warning(plain(room), icon=":material/link_off:")
    st.page_link(registry.path_of("mock"), label="Mock interviews", icon=":material/groups:")
else:
    room.page(lambda room: (room.seated, room.public.finished))
    if room.role == "observer" or room.seated:
        inside(room)
    elif watches(room):
        watching_note(room)
        inside(room)
    else:
        door(room)
    mock_links.keep_replaced()
    room.pulse()
