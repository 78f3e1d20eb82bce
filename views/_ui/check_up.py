"""The check-up: ten mixed cards over the topics, then the map of what is known."""

from __future__ import annotations

import streamlit as st

from core.cards.draw import seed_from
from core.cards.picking import mixed
from core.progress.calibration import was_right
from core.progress.document import active_attempts
from core.progress.recording import new_id
from core.progress.schedule import replay
from core.progress.topic_map import topic_map
from views._ui import bank, learner, registry, sitting_view
from views._ui.map_view import map_view
from views._ui.picker import seen

PLACE, COUNT, MCQS = "checkup", 10, 6


def check_up() -> None:
    """Offer it, run it, and end with the map."""
    if sitting_view.running(PLACE) is None:
        st.markdown(
            f"{COUNT} cards from different topics, quiz and numbers mixed. Answer fast and say how sure you are; "
            "at the end, a map shows what to practise."
        )
        st.button("Start the check-up", type="primary", icon=":material/timer:", on_click=_start)
        return
    sitting_view.run(PLACE, "checkup", _end)


def _start() -> None:
    done, seed = seen(), seed_from(new_id())
    questions = mixed(bank.of_kind("mcq"), done, MCQS, seed=seed)
    asked = {card.topic for card in questions}
    others = [card for card in bank.of_kind("drill") if card.topic not in asked] or bank.of_kind("drill")
    drills = mixed(others, done, COUNT - len(questions), seed=seed)
    cards = mixed([*questions, *drills], {}, COUNT, seed=seed)
    sitting_view.start(PLACE, [card.id for card in cards], repeats=False)


def _end(here: sitting_view.Running) -> None:
    progress, now = learner.progress(), learner.now()
    answers = [attempt for attempt in progress.attempts if attempt.id in here.done]
    right = sum(map(was_right, answers))
    st.subheader(f"{right} of {len(answers)} right", anchor=False)
    attempts = active_attempts(progress)
    found = topic_map(bank.infos(), replay(attempts, progress.settings, now), attempts, now)
    map_view(found)
    weak = [bank.topic_title(topic) for topic in found.weakest_topics()]
    st.markdown(f"Begin with {', '.join(weak)}: the review puts them first.")
    with st.container(horizontal=True):
        st.page_link(registry.path_of("review"), label="Go to today's review", icon=":material/event_repeat:")
        st.button("Another check-up", on_click=sitting_view.leave, args=(PLACE,))
