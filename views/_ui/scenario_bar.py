"""The row that every page starts with: which model, on which GPUs, and the ways to change, pin and share that."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.presets import load_presets
from views._ui import hardware_dialog, model_dialog, profile_choice, share_dialog, state
from views._ui.controls import refusal, refused_address
from views._ui.words import plain

_PRESETS = "bar.presets"


def scenario_bar(fields: Collection[str] = (), *, measured: bool = False) -> DeltaGenerator:
    """Draw the row, what was adapted, and refusals that none of the page's own controls (``fields``) will show.

    Args:
        fields: that the page has controls for.
        measured: whether the page's estimates come from the measured profile, where one is chosen.

    Returns:
        the place of the GPU count, which a slider on the page may change: see :func:`show_gpu_count`.
    """
    scenario = state.current()
    with st.container(horizontal=True, vertical_alignment="center", key="scenario_bar"):
        st.button(
            f"Model: {plain(scenario.model.name)}",
            icon=":material/account_tree:",
            help="Change the model, or paste a config.json",
            key="bar.model",
            on_click=model_dialog.forget,
        )
        gpu_count = st.empty()
        st.button(
            f"GPU: {plain(scenario.accelerator.name)}",
            icon=":material/memory:",
            help="Change the accelerator and the links",
            key="bar.hardware",
        )
        # A preset closes its list by putting another, closed one in its place: told to close, it might not hear it.
        with st.popover(
            "Presets",
            icon=":material/bookmarks:",
            help="Scenarios that open with one click",
            key=f"{_PRESETS}.{st.session_state.get(_PRESETS, 0)}",
        ):
            _presets()
        st.button("Share", icon=":material/share:", help="Copy the link, or save the scenario", key="bar.share")
    if st.session_state["bar.model"]:
        model_dialog.show()
    elif st.session_state["bar.hardware"]:
        hardware_dialog.show()
    elif st.session_state["bar.share"]:
        share_dialog.show()
    profile_choice.badge(used=measured)
    for note in state.take_notes():
        st.info(plain(note), icon=":material/info:")
    refused_address()
    for field, problem in state.refusals().items():
        if field not in fields:
            refusal(problem.sentence)
    if sentence := state.address_problem():
        refusal(f"The address does not hold this scenario, so a reload would lose it. {sentence}")
    return gpu_count


def show_gpu_count(place: DeltaGenerator, num_gpus: int) -> None:
    """How many of the accelerator beside it the scenario trains on."""
    place.markdown(f"on **{num_gpus:,}** x", width="content")


def _presets() -> None:
    for preset in load_presets().values():
        st.button(
            preset.title,
            help=preset.about,
            key=f"bar.preset.{preset.id}",
            type="tertiary",
            on_click=_open,
            args=(preset.id,),
        )


def _open(preset_id: str) -> None:
    st.session_state[_PRESETS] = st.session_state.get(_PRESETS, 0) + 1
    state.replace(load_presets()[preset_id].scenario())
