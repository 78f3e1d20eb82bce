"""Solo mock: a pack by yourself, with its clock, phases and twists; scored by you before the strong answer opens."""

import streamlit as st

from views._ui import rooms, solo
from views._ui.solo_page import session, start_form
from views._ui.words import plain

rooms.keep_browser_id()
rooms.tidy()
found = solo.opened()
if isinstance(found, solo.Solo):
    session(found)
else:
    with st.container(horizontal_alignment="center"), st.container(width=1080):
        st.title("Solo mock", anchor=False)
        if found:
            st.warning(plain(found), icon=":material/link_off:")
        start_form()
