"""Quiz: one multiple-choice question at a time, or a check-up of five minutes over all topics."""

import streamlit as st

from core.cards.mcq import McqCard
from pages._ui import bank
from pages._ui.check_up import check_up
from pages._ui.entry_points import CHECK_UP
from pages._ui.mcq_view import mcq
from pages._ui.one_card import one_at_a_time
from pages._ui.practice import practice_page

ONE = "One at a time"

with practice_page("Quiz"):
    way = st.segmented_control(
        "Mode", [ONE, CHECK_UP], default=ONE, required=True, key="quiz.way", persist_state="session"
    )
    if way == CHECK_UP:
        check_up()
    else:
        st.markdown("Pick one, say how sure you are, then read the reason for every option.")
        one_at_a_time("mcq", McqCard, mcq, place="quiz", thing="question")
        st.markdown(f":small[:gray[{len(bank.of_kind('mcq'))} questions; options are shuffled at every showing.]]")
