"""Mock interviews: open a room, join one, come back to one, or restore one from its scorecard."""

import streamlit as st

from views._ui import rooms
from views._ui.mock_lobby import join, lead, own_rooms, restore
from views._ui.practice import practice_page

with practice_page("Mock interviews"):
    rooms.keep_browser_id()
    rooms.tidy()
    st.markdown(
        "One leads, one answers, each in their own browser, anywhere. The one who leads gets the script, the truth and "
        "the next question, and need not be the expert; the score rests on written evidence."
    )
    own = own_rooms()
    lead(own)
    join()
    restore()
