"""Critique a claim: a sentence as people say it, whether it holds, and how to say it better."""

import streamlit as st

from core.cards.claim import ClaimCard
from views._ui import bank
from views._ui.claim_view import claim
from views._ui.one_card import one_at_a_time
from views._ui.practice import practice_page

with practice_page("Critique a claim"):
    st.markdown(
        "Claims as people make them. Some hold, some hold only under a condition that was left out, some do not. Think "
        "of the number or the condition before you commit."
    )
    one_at_a_time("claim", ClaimCard, claim, place="claims", thing="claim")
    st.markdown(f":small[:gray[{len(bank.of_kind('claim'))} claims, each with its reason and sources.]]")
