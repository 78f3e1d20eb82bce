"""Export, import with a preview, and reset with a way back."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.progress import recording
from core.progress.document import Progress, standing_resets
from core.progress.merging import Preview, merge, preview
from core.progress.reading import ProgressError, read, to_json
from pages._ui import bank, learner
from pages._ui.words import plain

MAX_UPLOAD_MB = 50
REMIND_AFTER_DAYS = 7


def files() -> None:
    """Everything about the file that the learner owns."""
    st.header("Your file", anchor=False)
    st.markdown("Progress lies in this browser alone. Export it to keep it safe, or to carry on elsewhere.")
    _remind()
    _export()
    _import()
    _reset()


def _remind() -> None:
    progress = learner.progress()
    if not progress.attempts:
        return
    last = progress.exported_at or progress.attempts[0].at
    if (learner.now() - last).days >= REMIND_AFTER_DAYS:
        st.info("It is a week since your last export. One click keeps what you have done.", icon=":material/backup:")


def _export() -> None:
    with st.container(horizontal=True):
        st.download_button(
            "Export progress",
            lambda: to_json(recording.mark_exported(learner.progress(), learner.now())),
            file_name="ridgepoint-progress.json",
            mime="application/json",
            type="primary",
            icon=":material/download:",
            key="progress.export",
            on_click=_mark_exported,
        )


def _mark_exported() -> None:
    learner.edit(partial(recording.mark_exported, at=learner.now()))


def _import() -> None:
    with st.expander("Import a file", icon=":material/upload:"):
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
            st.button("Merge it into mine", type="primary", on_click=_merge, args=(incoming,), key="progress.merge")


def _in_words(found: Preview) -> str:
    if found.nothing_new:
        return "All of this file is here already: importing it again changes nothing."
    parts = [
        f"{found.attempts:,} new answers ({found.known_attempts:,} are here already)",
        f"{found.notes:,} notes",
        f"{found.open_answers:,} open answers",
    ]
    hidden = f" {found.hidden_attempts:,} were made before a reset and will not count." if found.hidden_attempts else ""
    settings = " Its settings are newer and take the place of yours." if found.settings_change else ""
    return f"This file brings {', '.join(parts)}.{hidden}{settings}"


def _merge(incoming: Progress) -> None:
    learner.edit(lambda mine: merge(mine, incoming))


def _reset() -> None:
    with st.expander("Start over", icon=":material/restart_alt:"):
        topic = st.selectbox(
            "What to start over",
            [None, *bank.topics()],
            format_func=lambda topic: "Everything" if topic is None else bank.topic_title(topic),
            key="progress.reset_topic",
            width=280,
        )
        st.markdown(
            "What was done so far stops counting. You can take that back below at any time; export first to be safe."
        )
        sure = st.checkbox("I want to start over", key="progress.reset_sure")
        st.button("Start over", disabled=not sure, on_click=_start_over, args=(topic,), key="progress.reset")
        zone = learner.now().tzinfo
        for reset in reversed(standing_resets(learner.progress())):
            name = "everything" if reset.topic is None else bank.topic_title(reset.topic)
            when = reset.at.astimezone(zone).strftime("%Y-%m-%d %H:%M")
            st.button(
                f"Take back: {name}, {when}",
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
