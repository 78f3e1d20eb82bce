"""Progress: what is known, how well confidence fits, what was done, and the file that the learner owns."""

import streamlit as st

from core.charts.calibration import reliability_plot
from core.progress.calibration import FEWEST_FOR_PLOT, calibration, estimator_error, in_words
from core.progress.document import active_attempts
from core.progress.schedule import replay
from core.progress.topic_map import topic_map, weakest_cards
from views._ui import bank, card_address, learner
from views._ui.card_parts import health_line
from views._ui.map_view import map_view
from views._ui.practice import practice_page
from views._ui.progress_files import files
from views._ui.progress_parts import competencies, history, numbers, plan_settings
from views._ui.step_page import data_table
from views._ui.svg_picture import svg_picture
from views._ui.words import plain


def known() -> None:
    """The map, and the three weakest cards of a topic."""
    progress, now = learner.progress(), learner.now()
    attempts = active_attempts(progress)
    states = replay(attempts, progress.settings, now)
    found = topic_map(bank.infos(), states, attempts, now)
    map_view(found)
    weakest = found.weakest_topics()
    topic = st.selectbox(
        "Weakest three cards of",
        [*weakest, *[topic for topic in found.topics if topic not in weakest]],
        format_func=bank.topic_title,
        key="progress.topic",
        width=320,
    )
    for info in weakest_cards([card for card in bank.infos() if card.topic == topic], states, now):
        card = bank.cards()[info.id]
        label = f"{bank.KIND_WORDS[card.kind]}: {plain(card.title)}"
        card_address.link(card, label)


def sure() -> None:
    """Calibration in words and numbers, and as a plot once there are enough answers."""
    st.header("Are you as right as you are sure?", anchor=False)
    result = calibration(active_attempts(learner.progress()))
    if result is None:
        st.markdown("Say how sure you are when you answer drills and quizzes. How well that fits is shown here.")
        return
    for one in result.bins:
        st.markdown(f"- {in_words(one)}{' :gray[(few answers)]' if one.is_thin else ''}")
    data_table(st.empty(), numbers(result))
    if result.is_plottable:
        svg_picture(reliability_plot(result.bins), key="progress.reliability")
    else:
        st.markdown(f":small[:gray[The plot appears from {FEWEST_FOR_PLOT} answers on; you have {result.answers}.]]")


with practice_page("Progress"):
    if not learner.ready():
        st.markdown(":gray[Reading your progress from this browser ...]")
    else:
        health_line()
        known()
        sure()
        competencies(active_attempts(learner.progress()))
        history(learner.progress(), estimator_error(active_attempts(learner.progress())))
        plan_settings()
        files()
