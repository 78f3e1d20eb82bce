"""Cheat sheet: the numbers worth knowing by heart on one printable page, all computed by the core."""

import streamlit as st

from core.cheat_sheet import tables
from pages._ui import settings
from pages._ui.sheet import sheet

with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("Cheat sheet", anchor=False)
    st.markdown(
        "Numbers worth knowing by heart, computed when the page opens. Floors are what nothing can beat; "
        "what you measure takes longer. Your browser prints it on two pages."
    )
    sheet(tables(settings.unit()))
