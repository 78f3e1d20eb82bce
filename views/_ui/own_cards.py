"""A person's own cards on the pages: from a folder of this machine or the browser, beside the shipped ones."""

from __future__ import annotations

import base64
import binascii
import os
from functools import lru_cache
from pathlib import Path

import streamlit as st

from core.cards.card import AnyCard
from core.cards.models import Source
from core.cards.own import OwnCards, OwnCardsError, from_folder, from_zip
from views._ui import bank, store

KEY = "own-cards"
_STORE, _TO_KEEP = "own.store", "own.to_keep"
FOLDER_VARIABLE = "RIDGEPOINT_CARDS"  # a folder on the machine that serves the app, for a private install


def mount() -> None:
    """Take own cards into the bank of this session; called once a run by every page that shows cards."""
    kept = store.mount(KEY, merge=lambda mine, theirs: mine, check=_packed)
    st.session_state[_STORE] = kept
    if _TO_KEEP in st.session_state:
        kept.save(st.session_state.pop(_TO_KEEP))
    found: dict[str, AnyCard] = {}
    sources: dict[str, Source] = {}
    for own in (folder_cards(), uploaded(kept.text)):
        if isinstance(own, OwnCards):
            found |= own.cards
            sources |= own.sources
    bank.keep_own_cards(found, sources)


def ready() -> bool:
    """Whether the browser has said which own cards it keeps: until then a link to one of them leads nowhere yet."""
    kept: store.Store = st.session_state[_STORE]
    return kept.ready


def kept_zip() -> str | None:
    """The zip that the browser keeps, as text; empty or None if there is none."""
    kept: store.Store = st.session_state[_STORE]
    return kept.text


def keep_zip(data: bytes) -> str:
    """Order that the browser keeps this zip from the next run on, in place of the last one.

    One that cannot be read is refused with the returned sentence, and the last one stays.
    """
    text = base64.b64encode(data).decode()
    found = uploaded(text)
    if found is None:
        return "This file is empty. Choose a zip of cards."
    if isinstance(found, OwnCardsError):
        return str(found)
    st.session_state[_TO_KEEP] = text
    return ""


def forget_zip() -> None:
    """Order that the browser keeps none."""
    st.session_state[_TO_KEEP] = ""


def folder_cards() -> OwnCards | OwnCardsError | None:
    """The cards of the private folder, why they cannot be read, or None if none is set."""
    folder = os.environ.get(FOLDER_VARIABLE, "")
    return _folder(folder, _last_change(Path(folder))) if folder else None


@lru_cache(maxsize=8)
def uploaded(text: str | None) -> OwnCards | OwnCardsError | None:
    """The cards of the zip that the browser keeps."""
    if not text:
        return None
    try:
        return from_zip(_packed(text), bank.shipped())
    except OwnCardsError as error:
        return error


def _packed(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise OwnCardsError(f"The kept cards are damaged: {error}") from None


@lru_cache(maxsize=2)
def _folder(folder: str, _changed: float) -> OwnCards | OwnCardsError:
    try:
        return from_folder(Path(folder), bank.shipped())
    except (OwnCardsError, OSError) as error:
        return error if isinstance(error, OwnCardsError) else OwnCardsError(str(error))


def _last_change(folder: Path) -> float:
    """When something in the folder changed last, so that an edit is seen on the next run."""
    try:
        return max((path.stat().st_mtime for path in [folder, *folder.rglob("*")]), default=0.0)
    except OSError:
        return 0.0
