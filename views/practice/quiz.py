"""Quiz: one multiple-choice question at a time, or a check-up of five minutes over all topics."""

import streamlit as st

from core.cards.mcq import McqCard
from views._ui import bank
from views._ui.check_up import check_up
from views._ui.entry_points import CHECK_UP
from views._ui.mcq_view import mcq
from views._ui.one_card import one_at_a_time
from views._ui.practice import practice_page

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
