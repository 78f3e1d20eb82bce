"""Calibrate yourself: score three scripted answers to a pack's question, then see item by item where you differ."""

import streamlit as st

from views._ui import rooms
from views._ui.mock_calibration import answers, calibrate

with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("Calibrate yourself", anchor=False)
    st.markdown(
        "Three people answer the same question; you score each on the pack's rubric. Then you see the scores and "
        "reasons of those who wrote the answers. Do it once before you score a person."
    )
    packs = rooms.packs()
    chosen = st.selectbox(
        "Pack",
        list(answers()),
        format_func=lambda pack: f"{packs[pack].model.title} ({packs[pack].model.minutes} min)",
        key="calibration.pack",
        persist_state="session",
    )
    if chosen:
        calibrate(chosen)
