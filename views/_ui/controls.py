"""One control a scenario field: it shows the value, hands on each change, and says beside itself what was refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial

import streamlit as st

from core import constraints
from core.scenario import FIELDS, Choice, WholeNumber, field_values
from views._ui import state
from views._ui.mirrored import moved, own_key_of
from views._ui.words import plain

NARROW, WIDE = 180, 260  # pixels; a wide one holds the words of its options
_EXACT = 2**53  # a float holds every whole number up to here

OPTION_WORDS: Mapping[str, Mapping[object, str]] = {
    "recipe": {
        "adam": "Adam, mixed precision (16 B)",
        "adam-fp32-grads": "Adam, fp32 gradients (18 B)",
        "adam-8bit": "Adam, 8-bit states",
        "adam-bf16": "Adam, all bf16 (8 B)",
        "adam-fp32": "Adam, all fp32 (16 B)",
        "sgd-momentum": "SGD with momentum (12 B)",
        "lora": "LoRA, bf16 base",
        "qlora": "QLoRA, 4-bit base",
    },
    "offload": {"none": "none", "optimizer": "optimizer", "optimizer+parameters": "optimizer and parameters"},
    "zero_stage": {
        0: "no sharding",
        1: "ZeRO-1: optimizer states",
        2: "ZeRO-2: and gradients",
        3: "ZeRO-3: and weights",
    },
}


def field_row(fields: Sequence[str], *, topic: str, folded: str | None = None) -> None:
    """Controls side by side; with ``folded``, behind a line that opens by itself when something in it was refused.

    It stays open when the value is mended: closing by itself would take the box from under the hand.
    """
    opened = f"{topic}.{folded}.opened"
    if any(field in state.refusals() for field in fields):
        st.session_state[opened] = True
    expanded = st.session_state.get(opened, False)
    with st.expander(folded, expanded=expanded) if folded else nullcontext(), st.container(horizontal=True):
        for field in fields:
            with st.container(width=WIDE if field in OPTION_WORDS else NARROW):
                field_control(field, topic=topic)


def field_control(field: str, *, topic: str) -> None:
    """The control of one field, with its refusal under it. Its key begins with ``<topic>.<field>``."""
    name, kind = f"{topic}.{field}", FIELDS[field]
    refused = state.refusals().get(field)
    # A refused value stays in its box, so that it can be corrected instead of typed again.
    value = refused.value if refused else field_values(state.current())[field]
    label = constraints.label(field)
    words = OPTION_WORDS.get(field, {})

    def say(option: object) -> str:
        return words.get(option, str(option))

    key = own_key_of(name, value)
    changed = partial(_commit, field, name, key)
    if kind is bool:
        st.toggle(label, value=value, key=key, on_change=changed)
    elif isinstance(kind, Choice) or (field in OPTION_WORDS and isinstance(kind, WholeNumber)):
        options = list(kind.options if isinstance(kind, Choice) else range(kind.low, kind.high + 1))
        st.selectbox(label, options, options.index(value), format_func=say, key=key, on_change=changed)
    elif isinstance(kind, WholeNumber):
        # A box for any number: one for whole numbers would silently read 1e30 and 1.5 as 1, where a refusal is due.
        st.number_input(label, value=float(value), step=1.0, format="%g", key=key, on_change=changed)
    else:
        st.slider(label, 0.05, 1.0, value, step=0.05, key=key, on_change=changed)
    if refused:
        refusal(refused.sentence)


def refusal(sentence: str) -> None:
    """One refused value in words, beside its field."""
    st.markdown(f":red[:material/error: {plain(sentence)}]")


def refused_address() -> None:
    """Why the scenario of the address is not the one that is shown, if so."""
    if problems := state.link_refusals():
        refusal(" ".join(["This address was not opened.", *(problem.sentence for problem in problems)]))


def _commit(field: str, name: str, key: str) -> None:
    state.by_hand()
    if not moved(None, name, key):
        return
    value = st.session_state[key]
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        value = int(value)
    state.change(**{field: value})
