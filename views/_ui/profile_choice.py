"""The measured profile that estimates come from: chosen on a page of My GPU, named on every page that uses it."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.batch import measured_of
from core.hardware import Accelerator
from core.links import links_of
from core.measured_profile import Profile, load_profile, profile_ids
from core.measured_working import basis_in_words
from core.microbench.recorded import names
from core.scenario import ScenarioError, build, field_values
from views._ui import state
from views._ui.controls import refusal
from views._ui.results import RECORDED, joined_recorded, opened_recorded
from views._ui.words import inline, plain

_OWN, _REFUSED = "profile.own", "profile.refused"
_NOTES_SHOWN = 3  # the derivation has them all


def known(profile_id: str) -> Profile | None:
    """The profile of this id: of the catalog, of a recorded run, or the reader's own; None if there is none here."""
    if profile_id == state.OWN_PROFILE:
        own: Profile | None = st.session_state.get(_OWN)
        return own
    if profile_id in profile_ids():
        return load_profile(profile_id)
    if profile_id.startswith(RECORDED) and profile_id.removeprefix(RECORDED) in names():
        return recorded_profile(profile_id.removeprefix(RECORDED))
    return joined_recorded().get(profile_id) if profile_id.startswith(RECORDED) else None


def recorded_profile(name: str) -> Profile | None:
    """Kernels and links of a recorded run; None where it holds none."""
    return opened_recorded(name).profile


def active() -> Profile | None:
    """The chosen profile, while the scenario runs on the accelerator that it measured."""
    profile_id = state.profile_id()
    profile = known(profile_id) if profile_id else None
    fits = profile is not None and profile.file.accelerator == state.current().accelerator.id
    return profile if fits else None


def badge(*, used: bool = True) -> None:
    """Whose kernels the estimates come from, and the way back; nothing where no profile is chosen.

    Args:
        used: whether this page's estimates come from a profile; a page of which they do not says so.
    """
    profile_id = state.profile_id()
    if profile_id is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="profile_badge"):
        st.markdown(_said(profile_id, used), width="content")
        if st.button("Back to stated efficiencies", type="tertiary", icon=":material/undo:", key="profile.stop"):
            state.choose_profile(None)
            st.rerun()  # the whole page, also where this stands in a fragment


def _said(profile_id: str, used: bool) -> str:
    profile = known(profile_id)
    if profile is None:
        return f":gray[The measured profile {plain(profile_id[:60])} is not here; estimates are stated ones.]"
    name = inline(profile.name)
    if active() is None:
        other = inline(state.current().accelerator.name)
        return (
            f":gray[Measured kernels of {name} are set aside: the scenario is on {other}; estimates are stated ones.]"
        )
    if not used:
        return f":gray[Measured kernels of {name} are chosen; the times on this page stay at stated efficiencies.]"
    return f":blue-badge[:material/speed: estimates from measured kernels of {name}]"


def coverage(place: DeltaGenerator) -> None:
    """How much of the decode step's estimate was measured, and where tables end; nothing without a profile."""
    profile = active()
    if profile is None:
        place.empty()
        return
    step = measured_of(state.current(), profile)
    place.caption(inline(" ".join([basis_in_words(step), *step.notes[:_NOTES_SHOWN]])))


def use_button(profile: Profile, profile_id: str, *, key: str) -> None:
    """Take the profile and its accelerator into the scenario; where that cannot be, the reason."""
    chip = profile.accelerator
    if chip is None:
        st.caption(
            f"Pages cannot estimate on it: the catalog has no datasheet of {plain(profile.file.device)}, whose floors "
            "would stand beside."
        )
        return
    if profile_id == state.profile_id() and active() is profile:  # and not an earlier one of the reader's own
        st.markdown(":material/check_circle: The step pages estimate on it.")
        return
    words = "Moves the scenario to this accelerator: estimates from its measured kernels, floors from the datasheet"
    if st.button("Use as my accelerator", type="primary", icon=":material/speed:", key=key, help=words):
        _use(profile, profile_id, chip)
        st.rerun()
    if told := st.session_state.pop(_REFUSED, ""):
        refusal(told)


def _use(profile: Profile, profile_id: str, chip: Accelerator) -> None:
    here = state.current()
    if here.accelerator.id != chip.id:
        links = links_of(chip)
        try:
            state.replace(build(here.model, chip, links.scale_up, links.scale_out, field_values(here)))
        except ScenarioError as error:
            st.session_state[_REFUSED] = " ".join(problem.sentence for problem in error.problems)
            return
    if profile_id == state.OWN_PROFILE:
        st.session_state[_OWN] = profile
    state.choose_profile(profile_id)
