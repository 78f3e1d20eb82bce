"""The interview room: one address for every role."""

import streamlit as st

from pages._ui import room as rooms_ui

room = rooms_ui.opened()
if isinstance(room, str):
    st.warning(room)
else:
    room.page(lambda room: room.seated)
    room.part("prompt", lambda: st.markdown(str(room.public.replies)), lambda room: room.public.replies)
    room.pulse()
