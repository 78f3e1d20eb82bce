"""What every card offers besides its question: a permalink, new numbers, own notes, its step page, an error report."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.cards.card import AnyCard, Card
from core.cards.draw import draw
from core.cards.report import report
from core.cards.scene import scenario_of
from core.progress import recording
from core.progress.document import MAX_TEXT_CHARS
from core.scenario import ScenarioError
from core.scenario_link import to_address
from views._ui import bank, card_address, learner, registry
from views._ui.picker import new_seed
from views._ui.predict import READING_WIDTH


def tools(card: AnyCard, seed: int) -> None:
    """All of them, under the card."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if isinstance(card, Card):
            if card.kind == "question":  # drills have the button beside the next one
                st.button(
                    "New numbers", key="tools.new", icon=":material/casino:", on_click=partial(_new_numbers, card)
                )
            _open_in_step(card, seed)
    _notes(card)
    with st.expander("Report an error", icon=":material/flag:"):
        st.markdown("Copy this text into an issue, then add what is wrong and the source that says so.")
        st.code(report(card, seed), language="markdown", wrap_lines=True)


def _new_numbers(card: Card) -> None:
    card_address.show(card, new_seed(card))


def _open_in_step(card: Card, seed: int) -> None:
    """A link to the page where the topic's numbers live, with this variant's numbers where the card maps them."""
    entry = bank.topics().get(card.topic)
    if entry is None:
        return
    try:
        scenario = scenario_of(draw(card, seed))
        query = to_address(scenario) if scenario else {}
    except ScenarioError:  # this draw is no scenario: the page still opens
        query = {}
    label = "Open in the step page with these numbers" if query else "Open the step page"
    st.page_link(registry.path_of(entry.page), label=label, icon=":material/open_in_new:", query_params=query or None)


def _notes(card: AnyCard) -> None:
    if not learner.ready():  # an empty box would stay empty, and saving it would take the note away
        return
    note = learner.progress().notes.get(card.id)
    key = f"notes.{card.id}"
    title = "Your notes" + (" (written)" if note and note.text else "")
    with st.expander(title, icon=":material/sticky_note_2:", key=f"{key}.box"):
        st.text_area(
            "Notes stay in this browser and go into your export.",
            value=note.text if note else "",
            key=key,
            max_chars=MAX_TEXT_CHARS,
            width=READING_WIDTH,
        )
        st.button("Save the note", key=f"{key}.keep", on_click=_keep_note, args=(card.id, key))


def _keep_note(card_id: str, key: str) -> None:
    learner.edit(partial(recording.write_note, card_id=card_id, text=st.session_state.get(key) or "", at=learner.now()))
