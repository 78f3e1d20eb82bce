"""The end of a sitting: how it went, one confident error to look at, and what waits tomorrow."""

from __future__ import annotations

import streamlit as st

from core.progress.calibration import was_right
from core.progress.document import Attempt
from core.progress.queue import SURE, todays_queue
from views._ui import bank, card_address, learner, registry, sitting_view
from views._ui.card_parts import health_line
from views._ui.step_page import data_table
from views._ui.words import plain


def review_end(here: sitting_view.Running) -> None:
    """What moved."""
    attempts = [attempt for attempt in learner.progress().attempts if attempt.id in here.done]
    graded = [attempt for attempt in attempts if attempt.correct is not None]
    right = sum(map(was_right, graded))
    st.subheader(f"{right} of {len(graded)} right" if graded else "Done", anchor=False)
    _sure_error(graded)
    cards = bank.cards()
    rows = [
        {
            "card": cards[attempt.card_id].title,
            "topic": bank.topic_title(attempt.topic),
            "rated": attempt.rating or "",
        }
        for attempt in attempts
        if attempt.card_id in cards
    ]
    if rows:
        data_table(st.empty(), rows)
    queue = todays_queue(learner.progress(), bank.infos(), learner.now())
    st.markdown(f"Tomorrow: {queue.tomorrow_reviews} to review, {queue.tomorrow_new} new.")
    health_line()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Back to today", type="primary", on_click=sitting_view.leave, args=("review",))
        st.page_link(registry.path_of("progress"), label="See your progress", icon=":material/insights:")


def _sure_error(graded: list[Attempt]) -> None:
    wrong = [attempt for attempt in graded if not was_right(attempt) and (attempt.confidence or 0) >= SURE]
    worst = max(wrong, key=lambda attempt: attempt.confidence or 0, default=None)
    card = bank.cards().get(worst.card_id) if worst else None
    if worst is None or card is None:
        return
    st.markdown(
        f":material/priority_high: You were {worst.confidence}% sure of this one and missed it. Read it once more."
    )
    st.page_link(
        card_address.page_of(card),
        label=plain(card.title),
        query_params=card_address.query_of(card, worst.seed or 0),
    )
