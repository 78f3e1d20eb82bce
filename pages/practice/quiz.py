"""Quiz: one multiple-choice question at a time, or a check-up of five minutes over all topics."""

import streamlit as st

from core.cards.card import McqCard
from pages._ui import bank, card_address
from pages._ui.card_tools import tools
from pages._ui.check_up import check_up
from pages._ui.mcq_view import mcq
from pages._ui.picker import next_card, topic_filter
from pages._ui.practice import practice_page

ONE, CHECK_UP = "One at a time", "Five-minute check-up"


def one_at_a_time() -> None:
    """The question that the address names, or the next one of a topic."""
    st.markdown("Pick one, say how sure you are, then read the reason for every option.")
    cards = topic_filter("mcq")
    shown = card_address.shown("mcq")
    if isinstance(shown, str):
        st.warning(shown, icon=":material/link_off:")
    if not isinstance(shown, card_address.Shown):
        shown = next_card(cards)
    if shown is None or not isinstance(shown.card, McqCard):
        st.info("There is no question on this topic. Choose another.")
        return
    if shown.remark:
        st.info(shown.remark)
    done = mcq(shown.card, shown.seed, "quiz", "quiz")
    st.button(
        "Next question",
        type="primary" if done else "secondary",
        icon=":material/arrow_forward:",
        on_click=lambda: next_card(cards, after=shown.card),
    )
    if done:
        tools(shown.card, shown.seed)
    st.markdown(f":small[:gray[{len(bank.of_kind('mcq'))} questions; options are shuffled at every showing.]]")


with practice_page("Quiz"):
    way = st.segmented_control(
        "Mode", [ONE, CHECK_UP], default=ONE, required=True, key="quiz.way", persist_state="session"
    )
    if way == CHECK_UP:
        check_up()
    else:
        one_at_a_time()
