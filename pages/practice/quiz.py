"""Quiz: one multiple-choice question at a time."""

import streamlit as st

from pages._ui import bank, card_address
from pages._ui.mcq_view import mcq
from pages._ui.picker import next_card, topic_filter
from pages._ui.practice import practice_page

with practice_page("Quiz"):
    st.markdown("Pick one, say how sure you are, then read the reason for every option.")
    cards = topic_filter("mcq")
    shown = card_address.shown("mcq")
    if isinstance(shown, str):
        st.warning(shown, icon=":material/link_off:")
    if not isinstance(shown, card_address.Shown):
        shown = next_card(cards)
    if shown:
        done = mcq(shown.card, shown.seed, "quiz", "quiz")
        st.button(
            "Next question",
            type="primary" if done else "secondary",
            icon=":material/arrow_forward:",
            on_click=lambda: next_card(cards, after=shown.card),
        )
    else:
        st.info("There is no question of this topic. Choose another.")
    st.markdown(f":small[:gray[{len(bank.of_kind('mcq'))} questions; options are shuffled at every showing.]]")
