"""The learner's progress as pages use it: read from the browser, added to by answers, written back.

Callbacks run before the page is drawn, when the browser's copy is not at hand: they queue edits, and ``mount`` applies
and saves them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from core.prediction import right_on
from core.progress import recording
from core.progress.document import Progress
from core.progress.merging import merge
from core.progress.reading import ProgressError, read, to_json
from views._ui import store
from views._ui.store_copy import Health
from views._ui.words import plain

Edit = Callable[[Progress], Progress]
_STORE, _PARSED, _EDITS, _REFUSED = "learner.store", "learner.parsed", "learner.edits", "learner.refused"


def mount() -> store.Store:
    """Connect a practice page to the browser's copy, near the top of its run, and save what callbacks ordered."""
    kept = store.mount(merge=_merge_texts, check=read)
    st.session_state[_STORE] = kept
    _apply(kept)
    return kept


def _apply(kept: store.Store) -> None:
    """Make the ordered changes and save the result."""
    whole = before = progress()
    for edit in st.session_state.pop(_EDITS, []):
        try:
            whole = edit(whole)
        except ProgressError as error:
            st.session_state[_REFUSED] = str(error)
    if whole is not before:
        text = to_json(whole)
        st.session_state[_PARSED] = (text, whole)
        kept.save(text)


def ready() -> bool:
    """Whether the browser has answered: until then nothing is known of the learner."""
    kept: store.Store | None = st.session_state.get(_STORE)
    return kept is not None and kept.ready


def health() -> Health:
    """How the copy in the browser is doing."""
    kept: store.Store = st.session_state[_STORE]
    return kept.health


def saving() -> bool:
    """Whether the browser has yet to confirm a change, which it does without another run of the page."""
    kept: store.Store = st.session_state[_STORE]
    return kept.saving and not kept.health.error


def trouble() -> None:
    """Say what keeps progress from being read or kept, and offer what is there for download."""
    kept: store.Store = st.session_state[_STORE]
    if kept.unreadable is not None:
        st.warning(
            f"What this browser holds cannot be read: {plain(kept.why_unreadable)} It is left where it is: "
            "download it here, and your next answer starts a new file beside it.",
            icon=":material/warning:",
        )
        st.download_button("Download what is there", kept.unreadable, "progress-unreadable.txt", "text/plain")
    if kept.health.error:
        st.warning(plain(kept.health.error), icon=":material/warning:")
        st.download_button(
            "Download my progress",
            to_json(progress()),
            "ridgepoint-progress.json",
            "application/json",
            key="learner.rescue",
            on_click="ignore",
        )
    if sentence := st.session_state.pop(_REFUSED, ""):
        st.error(plain(sentence), icon=":material/error:")


def progress() -> Progress:
    """Everything known of the learner; empty until the browser has answered."""
    kept: store.Store | None = st.session_state.get(_STORE)
    text = kept.text if kept else None
    parsed: tuple[str | None, Progress] | None = st.session_state.get(_PARSED)
    if parsed is None or parsed[0] != text:
        parsed = (text, read(text) if text is not None else Progress())
        st.session_state[_PARSED] = parsed
    return parsed[1]


def edit(change: Edit) -> None:
    """Order a change of the document; it is made and saved by the run that follows."""
    st.session_state.setdefault(_EDITS, []).append(change)


def keep_guess(question: str, guess: float | str, truth: float | str, confidence: int | None) -> None:
    """Log a guess of a step page; ``question`` begins with the page's name."""
    number = guess if isinstance(guess, float) else None
    attempt = recording.predicted(
        question,
        question.split(".")[0],
        attempt_id=recording.new_id(),
        at=now(),
        correct=guess == truth if isinstance(guess, str) else right_on(guess, float(truth)),
        answer=str(guess),
        number=number,
        truth=float(truth) if number is not None else None,
        confidence=confidence,
    )
    edit(partial(recording.log, attempt=attempt))


def deliver() -> None:
    """At the end of a run: make and save changes that the page ordered while it was drawn."""
    if not st.session_state.get(_EDITS):
        return
    if store.is_mounted():
        _apply(st.session_state[_STORE])
    else:
        mount()


def now() -> datetime:
    """This moment with the learner's time zone, so that "today" is theirs."""
    try:
        zone = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    return datetime.now(UTC).astimezone(zone)


def _merge_texts(mine: str, theirs: str) -> str:
    return to_json(merge(read(mine), read(theirs)))
