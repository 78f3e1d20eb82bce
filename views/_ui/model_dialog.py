"""Choose a model: from the catalog, or any config.json, pasted, uploaded or edited by hand."""

from __future__ import annotations

import json

import numpy as np
import streamlit as st
from numpy.typing import ArrayLike

from core.display import show_bytes, show_count
from core.hf_config import ConfigError, check_length, parse_hf_config
from core.kv_cache import kv_bytes, kv_parts, state_bytes
from core.model_catalog import load_catalog_rows
from core.model_spec import ModelSpec, load_models
from core.params import count_params
from core.scenario import with_model
from views._ui import settings, state
from views._ui.controls import refusal
from views._ui.step_page import data_table
from views._ui.words import plain

TOKENS = (1, 32_768)
_PICK, _TEXT, _UPLOADS, _TOO_LONG = "model.pick", "model.text", "model.uploads", "model.too_long"


def forget() -> None:
    """Start from an empty box the next time the dialog opens."""
    st.session_state[_TEXT] = ""


@st.dialog("Model", width="medium")
def show() -> None:
    """The dialog; it closes when a model is taken."""
    models = load_models()
    names = {row.id: row.name for row in load_catalog_rows()}
    ids = list(names)
    here = state.current().model.id
    st.session_state.setdefault(_PICK, here if here in names else ids[0])
    st.selectbox("From the catalog", ids, format_func=lambda i: f"{names[i]}  ({i})", key=_PICK)
    picked = st.session_state[_PICK]
    with st.container(horizontal=True):
        if st.button("Use this model", type="primary", key="model.use"):
            _take(models[picked])
        st.button("Edit its config by hand", key="model.edit", on_click=_edit, args=(picked,))
    st.markdown("**Or bring your own.** Paste a `config.json` of Hugging Face and press Ctrl+Enter, or upload it.")
    # A new key after each upload: the file goes into the box, and what stands in the box is what counts.
    file = f"model.file.{st.session_state.setdefault(_UPLOADS, 0)}"
    st.file_uploader(
        "Upload config.json", type=["json", "txt"], key=file, on_change=_upload, args=(file,), max_upload_size=5
    )
    st.text_area("config.json", key=_TEXT, height=150, placeholder='{"model_type": "llama", "hidden_size": 4096, ...}')
    if too_long := st.session_state.pop(_TOO_LONG, None):
        refusal(too_long)
    text = st.session_state[_TEXT]
    if not text.strip():
        return
    try:
        model = parse_hf_config(text)
    except ConfigError as error:
        refusal(str(error))
        return
    _summary(model)
    if st.button("Use this config", type="primary", key="model.use_config"):
        _take(model)


def _summary(model: ModelSpec) -> None:
    """What the config was read as, before it is taken."""
    unit, count = settings.unit(), count_params(model)
    rows = {
        "parameters": f"{count.total:,} ({show_count(count.total)})",
        "used per token": show_count(count.active),
        "layers": f"{model.num_layers}",
    }
    for tokens in TOKENS:
        parts = kv_parts(model, tokens, indexer="included")
        rows[f"KV cache, {tokens:,} token{'s' if tokens > 1 else ''}"] = _bytes(kv_bytes(model, tokens), unit)
        if not np.array_equal(parts.total_bytes, kv_bytes(model, tokens)):
            rows[f"with index keys, {tokens:,}"] = _bytes(parts.total_bytes, unit)
    if constant := float(state_bytes(model)):
        rows["constant state a sequence, in fp32"] = _bytes(constant, unit)
    st.markdown(f"**{plain(model.name)}**")
    data_table(st.empty(), [{"": name, "in 16-bit": value} for name, value in rows.items()])
    for note in model.notes:
        st.caption(plain(note))


def _bytes(value: ArrayLike, unit: str) -> str:
    number = float(np.asarray(value))
    return f"{number:,.0f} B ({show_bytes(number, unit)})"


def _take(model: ModelSpec) -> None:
    scenario, said = with_model(state.current(), model)
    state.replace(scenario, *said)
    st.rerun()


def _upload(key: str) -> None:
    file = st.session_state[key]
    if file is None:
        return
    st.session_state[_UPLOADS] += 1
    text = file.getvalue().decode("utf-8", errors="replace")
    try:
        check_length(text)
    except ConfigError as error:
        st.session_state[_TEXT], st.session_state[_TOO_LONG] = "", str(error)
    else:
        st.session_state[_TEXT] = text


def _edit(model_id: str) -> None:
    config = next(row.config for row in load_catalog_rows() if row.id == model_id)
    st.session_state[_TEXT] = json.dumps(config, indent=1)
