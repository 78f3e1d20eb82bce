"""The end of a solo mock: score what was said on the rubric, commit, and only then read the strong answer."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.cards.card import Card
from core.mock.truth import truths
from views._ui import drafts
from views._ui.card_parts import text
from views._ui.mock_console_evidence import evidence_tab
from views._ui.mock_console_rubric import rubric_tab
from views._ui.mock_scorecard import scorecard_view
from views._ui.solo import Solo
from views._ui.words import plain

SIGNS = {"+": "speaks for me", "-": "speaks against me"}
HOW = (
    "Now you are the interviewer. For each item write down at least one thing that you said or wrote, then choose the "
    "highest level whose words fit it. The strong answer opens when you have committed."
)


def scoring(solo: Solo) -> None:
    """Scores first; after the commit the scorecard, then what a strong candidate would have said."""
    lead = solo.lead
    if lead.state.self_rating is None:
        return
    if lead.rater.private.own.committed is None:
        st.header("Score it", anchor="score")
        st.markdown(HOW)
        _evidence(solo)
        rubric_tab(lead)
        return
    if not lead.public.finished:
        st.button(
            "Finish the session",
            key="solo.finish",
            type="primary",
            icon=":material/flag:",
            on_click=partial(lead.do, "finished"),
        )
    scorecard_view(lead)
    _strong_answers(solo)


def _evidence(solo: Solo) -> None:
    lead = solo.lead
    with st.form("solo.evidence.form", border=True):
        st.text_input("What did you say or write?", key="solo.evidence", placeholder="asked for the target first")
        with st.container(horizontal=True):
            st.selectbox(
                "Item",
                list(lead.state.plan.items),
                key="solo.evidence.item",
                width=220,
            )
            st.segmented_control(
                "This line",
                list(SIGNS),
                format_func=SIGNS.__getitem__,
                default="+",
                required=True,
                key="solo.evidence.sign",
            )
        lead.refusal("evidence")
        st.form_submit_button("Keep this line", on_click=partial(_keep, solo))
    drafts.keep(lead, "solo.evidence", "solo.evidence")
    with st.expander("Common observations, and the lines that you kept", icon=":material/list:"):
        evidence_tab(lead)


def _keep(solo: Solo) -> None:
    chosen = st.session_state
    if solo.lead.act(
        "evidence",
        text=chosen.get("solo.evidence") or "",
        sign=chosen.get("solo.evidence.sign") or "?",
        item=chosen.get("solo.evidence.item") or "",
    ):
        chosen["solo.evidence"] = ""
        drafts.settled("solo.evidence")
    solo.lead.redraw()


def _strong_answers(solo: Solo) -> None:
    """What was sealed until now: a strong answer to each card, what follow-ups and twists were after."""
    lead = solo.lead
    private, found = lead.rater.private, truths(lead.state, lead.bank)
    for card_id in lead.state.shown_cards:
        card, variant = lead.bank.cards[card_id], found[card_id].base
        assert isinstance(card, Card)
        st.header(f"A strong answer: {plain(card.title)}", anchor=False)
        text(variant.fill(card.sections["Strong answer"]))
        with st.expander("What the follow-up questions were after", icon=":material/account_tree:"):
            for node in private.tree:
                if node.card == card_id:
                    text(f"**{node.say}**  \n{node.good}")
    if applied := [row for row in private.twists if row.applied]:
        with st.expander("What a strong candidate notices when the facts change", icon=":material/bolt:"):
            for row in applied:
                text(f"**{row.say}**  \n{row.expect}")
