"""Export, import with a preview, and reset with a way back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import streamlit as st

from core.cards.card import AnyCard
from core.cards.flash import flash
from core.progress import recording
from core.progress.document import Progress, standing_resets
from core.progress.exports import needs_export, reviews_csv, weak_points_markdown
from core.progress.merging import Preview, merge, preview
from core.progress.reading import ProgressError, read, to_json
from views._ui import bank, learner
from views._ui.words import counted, plain

MAX_UPLOAD_MB = 50
EVERYTHING = "Everything"


def files() -> None:
    """Everything about the file that the learner owns."""
    st.header("Your file", anchor=False)
    st.markdown("Your progress is kept in this browser only. Export it to keep it safe, or to carry on elsewhere.")
    _remind()
    _export()
    _import()
    _reset()


def _remind() -> None:
    if needs_export(learner.progress(), learner.now()):
        exported = learner.progress().exported_at
        since = "It has been more than a week since your last export." if exported else "You have never exported this."
        st.info(f"{since} One click keeps what you have done.", icon=":material/backup:")


def _export() -> None:
    """Files are made when they are asked for, outside any run of the page: so each takes along what it needs."""
    progress, now = learner.progress(), learner.now()
    cards = [*bank.of_kind("drill"), *bank.of_kind("mcq")]
    infos, titles = bank.infos(), {card.id: card.title for card in bank.cards().values()}
    with st.container(horizontal=True):
        st.download_button(
            "Export progress",
            lambda: to_json(recording.mark_exported(progress, now)),
            file_name="ridgepoint-progress.json",
            mime="application/json",
            type="primary",
            icon=":material/download:",
            key="progress.export",
            on_click=_mark_exported,
        )
        st.download_button(
            "Answers as CSV",
            lambda: reviews_csv(progress).encode("utf-8-sig"),
            file_name="ridgepoint-answers.csv",
            mime="text/csv",
            icon=":material/table:",
            key="progress.csv",
            on_click="ignore",
        )
        st.download_button(
            "Weak points",
            lambda: weak_points_markdown(progress, infos, titles, now),
            file_name="ridgepoint-weak-points.md",
            mime="text/markdown",
            icon=":material/description:",
            key="progress.weak",
            on_click="ignore",
        )
        st.download_button(
            "Cards for Anki",
            lambda: _anki(cards, now),
            file_name="ridgepoint.apkg",
            mime="application/octet-stream",
            icon=":material/style:",
            key="progress.anki",
            on_click="ignore",
            help="All drills at their default numbers and all quiz questions, as a deck.",
        )


def _anki(cards: Sequence[AnyCard], now: datetime) -> bytes:
    from core.anki.deck import AnkiNote, package  # it takes a while to load, and few ask for it

    sides = filter(None, map(flash, cards))
    notes = [AnkiNote(side.id, side.front, side.back, side.tags) for side in sides]
    return package(notes, deck_name="Ridgepoint", at=now)


def _mark_exported() -> None:
    learner.edit(partial(recording.mark_exported, at=learner.now()))


def _import() -> None:
    with st.expander("Import a file", icon=":material/upload:", key="progress.import.box"):
        chosen = st.file_uploader(
            "A file that was exported here", type="json", key="progress.import", max_upload_size=MAX_UPLOAD_MB
        )
        if chosen is None:
            return
        try:
            incoming = read(chosen.getvalue())
            found = preview(learner.progress(), incoming)
            merge(learner.progress(), incoming)
        except ProgressError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        st.markdown(_in_words(found))
        if not found.nothing_new:
            st.button("Merge into my progress", type="primary", on_click=_merge, args=(incoming,), key="progress.merge")


def _in_words(found: Preview) -> str:
    if found.nothing_new:
        return "Everything in this file is here already: importing it changes nothing."
    parts = [
        f"{counted(found.attempts, 'new answer')} ({found.known_attempts:,} already here)",
        counted(found.notes, "note"),
        counted(found.open_answers, "open answer"),
    ]
    hidden = f" {found.hidden_attempts:,} of them from before a reset will not count." if found.hidden_attempts else ""
    settings = " Its settings are newer and replace yours." if found.settings_change else ""
    return f"This file brings {', '.join(parts)}.{hidden}{settings}"


def _merge(incoming: Progress) -> None:
    learner.edit(lambda mine: merge(mine, incoming))


def _reset() -> None:
    with st.expander("Start over", icon=":material/restart_alt:", key="progress.reset.box"):
        chosen = st.selectbox(
            "What to start over",
            [EVERYTHING, *bank.topics()],  # a None among the options would be shown as no choice at all
            format_func=lambda topic: topic if topic == EVERYTHING else bank.topic_title(topic),
            key="progress.reset_topic",
            width=280,
        )
        st.markdown(
            "What you have done so far stops counting. You can undo this below at any time; export first to be safe."
        )
        sure = st.checkbox("I want to start over", key="progress.reset_sure")
        topic = None if chosen == EVERYTHING else chosen
        st.button("Start over", disabled=not sure, on_click=_start_over, args=(topic,), key="progress.reset")
        zone = learner.now().tzinfo
        for reset in reversed(standing_resets(learner.progress())):
            name = "everything" if reset.topic is None else bank.topic_title(reset.topic)
            when = reset.at.astimezone(zone).strftime("%Y-%m-%d %H:%M")
            st.button(
                f"Undo: {name}, {when}",
                key=f"progress.undo.{reset.id}",
                icon=":material/undo:",
                on_click=_undo,
                args=(reset.id,),
            )


def _start_over(topic: str | None) -> None:
    learner.edit(partial(recording.reset, at=learner.now(), topic=topic))
    st.session_state["progress.reset_sure"] = False


def _undo(reset_id: str) -> None:
    learner.edit(partial(recording.undo, reset_id=reset_id, at=learner.now()))
