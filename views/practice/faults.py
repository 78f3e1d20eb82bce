"""Spot the bug: a short program, the line at fault to commit to, then a run of it beside the mended one."""

import streamlit as st

from core.cards.bug import BugCard
from views._ui import bank
from views._ui.bug_view import bug
from views._ui.one_card import one_at_a_time
from views._ui.practice import practice_page

with practice_page("Spot the bug"):
    st.markdown(
        "Each program runs, or seems to, and does not do what it is meant to. Choose the line where it goes wrong; "
        "where there are several, one is enough."
    )
    one_at_a_time("bug", BugCard, bug, place="faults", thing="program")
    st.markdown(f":small[:gray[{len(bank.of_kind('bug'))} programs, each of which is run to show its fault.]]")
