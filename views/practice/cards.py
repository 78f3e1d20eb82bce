"""Cards: browse the bank, or work one open question."""

import streamlit as st

from views._ui import bank, card_address, own_cards
from views._ui.card_list import card_list
from views._ui.card_tools import tools
from views._ui.practice import practice_page
from views._ui.question_view import question
from views._ui.words import plain

with practice_page():
    shown = card_address.shown("question")
    if isinstance(shown, card_address.Shown):
        st.button("All cards", icon=":material/arrow_back:", type="tertiary", on_click=card_address.leave)
        if shown.remark:
            st.info(shown.remark)
        question(shown.card, shown.seed)
        tools(shown.card, shown.seed)
    else:
        st.title("Cards", anchor=False)
        if shown and own_cards.ready():  # it may be one of those that the browser keeps
            st.warning(plain(shown), icon=":material/link_off:")
        st.markdown(
            "Open questions with a rubric, drills, quizzes, faulty programs, claims. Every number is drawn anew."
        )
        card_list(list(bank.cards().values()))
