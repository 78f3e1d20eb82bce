"""Review: today's cards, mixed by topic, then what came of them."""

from functools import partial

import streamlit as st

from core.progress import recording
from core.progress.queue import Queue, todays_queue
from core.progress.streak import streak
from views._ui import bank, learner, registry, sitting_view
from views._ui.practice import practice_page
from views._ui.review_end import review_end
from views._ui.words import counted

PLACE = "review"
REASONS = {"due": "due", "new": "new", "revised": "revised", "sure but wrong": "missed while sure"}


def counts(queue: Queue) -> str:
    """What waits, in words."""
    numbers = [(word, len([item for item in queue.items if item.reason == reason])) for reason, word in REASONS.items()]
    return ", ".join(f"{number} {word}" for word, number in numbers if number)


def begin(queue: Queue) -> None:
    """The day's offer: what waits, and one button."""
    progress, now = learner.progress(), learner.now()
    if not queue.items:
        st.success("Nothing is due today. Come back tomorrow, or practise freely.", icon=":material/task_alt:")
        st.page_link(registry.path_of("drills"), label="Drill some numbers", icon=":material/calculate:")
        return
    st.markdown(f"**{counted(len(queue.items), 'card')} today**: {counts(queue)}.")
    if queue.left_for_later:
        st.markdown(f"Due as well, but left for another day: {queue.left_for_later}.")
    if queue.catching_up:
        st.markdown("You are catching up: the backlog is spread over three days, and new cards wait.")
    with st.container(horizontal=True):
        st.button(
            "Start",
            type="primary",
            icon=":material/play_arrow:",
            on_click=partial(sitting_view.start, PLACE, [item.card.id for item in queue.items], repeats=True),
        )
        if queue.offers_catch_up:
            st.button("Catch up over 3 days instead", icon=":material/event_repeat:", on_click=catch_up)
    run = streak(progress.attempts, now)
    if progress.settings.show_streak and run.days:
        days, free = counted(run.days, "day"), counted(run.skips_left, "free day")
        st.markdown(f":small[:gray[{days} in a row, {free} left this week]]")


def catch_up() -> None:
    """Spread the backlog over three days from today."""
    today = learner.now()
    learner.edit(partial(recording.change_settings, at=today, catch_up_from=today.date()))


with practice_page("Review"):
    if not learner.ready():
        st.markdown(":gray[Reading your progress from this browser ...]")
    elif sitting_view.running(PLACE) is None:
        st.markdown("Cards come back when you are about to forget them, mixed by topic. A missed card comes once more.")
        begin(todays_queue(learner.progress(), bank.infos(), learner.now()))
    else:
        sitting_view.run(PLACE, "review", review_end)
