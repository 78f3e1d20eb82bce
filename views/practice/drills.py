"""Drills: one number at a time, against the clock, or as an estimator."""

import streamlit as st

from core.cards.card import Card
from views._ui import bank
from views._ui.card_tools import tools
from views._ui.drill_view import drill
from views._ui.entry_points import SPRINT
from views._ui.picker import next_card, on_page, topic_filter
from views._ui.practice import practice_page
from views._ui.sprint import sprint

ONE, ESTIMATOR = "One at a time", "Estimator"
ABOUT = {
    ONE: "Work out one number. At first some of the steps are given; they fade with practice.",
    SPRINT: "Ten numbers in ten minutes, no steps given. The clock runs from Start.",
    ESTIMATOR: "Within a factor of 2 counts as right, as at a whiteboard. Aim for ten seconds.",
}

with practice_page("Drills"):
    with st.container(horizontal=True, vertical_alignment="bottom"):
        mode = st.segmented_control(
            "Mode", list(ABOUT), default=ONE, required=True, key="drills.mode", persist_state="session"
        )
        cards = topic_filter("drill")
    st.markdown(ABOUT[mode])
    if mode == SPRINT:
        sprint(cards)
    else:
        shown = on_page("drill", cards, "drill")
        if shown and isinstance(shown.card, Card):
            done = drill(shown.card, shown.seed, "drills", "estimator" if mode == ESTIMATOR else "drill")
            with st.container(horizontal=True):
                st.button(
                    "Next drill",
                    type="primary" if done else "secondary",
                    icon=":material/arrow_forward:",
                    on_click=lambda: next_card(cards, after=shown.card),
                )
                st.button("New numbers", icon=":material/casino:", on_click=lambda: next_card([shown.card]))
            if done:
                tools(shown.card, shown.seed)
    st.markdown(f":small[:gray[{len(bank.of_kind('drill'))} drills; every showing draws new numbers.]]")
