"""The one scenario of a session: read from the address, changed by controls, written back to the address.

What breaks a rule leaves the last good scenario in place. A refused value waits beside its control, with the sentence
that refuses it, and is tried again with each later change: two values may only fit as a pair.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.constraints import Problem
from core.scenario import Scenario, ScenarioError, changed, field_values
from core.scenario_link import KEYS, OBJECT_KEYS, default_scenario, from_address, to_address

_SCENARIO, _REFUSED, _NOTES, _LINK_REFUSALS, _ADDRESS, _TO_ADDRESS, _PAGE, _PROFILE, _BY_HAND = (
    "state.scenario",
    "state.refused",
    "state.notes",
    "state.link_refusals",
    "state.address",
    "state.to_address",
    "state.page",
    "state.profile",
    "state.by_hand",
)
PROFILE_KEY = "profile"  # of the address: measured kernels that estimates come from
OWN_PROFILE = "own"
ADDRESS_KEYS = (*OBJECT_KEYS, *KEYS, PROFILE_KEY)


def current() -> Scenario:
    """The scenario that every page shows."""
    if _SCENARIO not in st.session_state:
        st.session_state[_SCENARIO] = default_scenario()
    scenario: Scenario = st.session_state[_SCENARIO]
    return scenario


def profile_id() -> str | None:
    """Id of the measured profile that was chosen beside the scenario; None: estimates at stated efficiencies."""
    chosen: str | None = st.session_state.get(_PROFILE)
    return chosen


def choose_profile(chosen: str | None) -> None:
    """Take a measured profile by its id, or none."""
    by_hand()
    st.session_state[_PROFILE] = chosen


def by_hand() -> None:
    """A control was moved, and this run answers it: see `open_address`."""
    st.session_state[_BY_HAND] = True


def replace(scenario: Scenario, *notes: str) -> None:
    """Take another scenario, forgetting refused values; notes are shown once, above the page."""
    by_hand()
    _take(scenario, *notes)


def _take(scenario: Scenario, *notes: str) -> None:
    st.session_state[_SCENARIO] = scenario
    st.session_state[_REFUSED] = {}
    st.session_state[_LINK_REFUSALS] = []
    st.session_state[_NOTES] = list(notes)


def change(**fields: object) -> bool:
    """Change fields of the scenario, and with them what waits, as far as it fits; the rest waits on.

    Returns:
        whether all of ``fields`` were taken.
    """
    by_hand()
    here = current()
    waiting = {field: problem.value for field, problem in refusals().items() if field not in fields}
    wanted = waiting | fields
    scenario = _with(here, wanted)
    if scenario is None:
        scenario = _with(here, fields) or here
        for field, value in [*waiting.items()] * len(waiting):  # over again: one that fits may let another in
            scenario = _with(scenario, {field: value}) or scenario
    if scenario != here:
        replace(scenario)
    values = field_values(scenario)
    left = {field: value for field, value in wanted.items() if values[field] != value}
    st.session_state[_REFUSED] = {field: _why(scenario, field, left) for field in left}
    return not left.keys() & fields.keys()


def _with(scenario: Scenario, fields: Mapping[str, object]) -> Scenario | None:
    """The scenario with these fields, if it can be."""
    try:
        return changed(scenario, **fields)
    except ScenarioError:
        return None


def _why(scenario: Scenario, field: str, left: Mapping[str, object]) -> Problem:
    """What refuses a value, alone or else with the others; a rule that names another field as seen from this one."""
    for values in ({field: left[field]}, left):
        try:
            changed(scenario, **values)
        except ScenarioError as error:
            own = next((problem for problem in error.problems if problem.field == field), None)
            return own or error.problems[0].seen_from(field, left[field])
    return Problem(field, left[field], "it did not fit when it was chosen", "Choose it again.")


def refusals() -> Mapping[str, Problem]:
    """Refused values that wait beside their controls, by field."""
    found: Mapping[str, Problem] = st.session_state.get(_REFUSED, {})
    return found


def link_refusals() -> list[Problem]:
    """Why the address could not be opened, until the next good change."""
    found: list[Problem] = st.session_state.get(_LINK_REFUSALS, [])
    return found


def take_notes() -> list[str]:
    """Notes about what was adapted, given out once."""
    notes: list[str] = st.session_state.get(_NOTES, [])
    st.session_state[_NOTES] = []
    return notes


def carry_address() -> None:
    """Put the scenario back into the address when the reader has moved to another page, which drops it.

    Before ``st.navigation`` names the new page: later it would be a second step of the browser's history, and Back
    would land on a page without its scenario.
    """
    before, here = st.session_state.get(_PAGE), _page()
    st.session_state[_PAGE] = here
    if before not in (None, here) and not _in_address():
        write_address()


def open_address() -> None:
    """Read the scenario from the address when somebody other than this app changed it: a link, an edit, Back.

    What a hand has just changed is newer than the address: that one came along from a browser which may not have heard
    of the last one yet.
    """
    found = _in_address()
    seen, _ = st.session_state.get(_ADDRESS, ({}, None))
    if st.session_state.pop(_BY_HAND, False) or found == seen:
        return
    try:
        _take(from_address({key: value for key, value in found.items() if key != PROFILE_KEY}))
    except ScenarioError as error:
        st.session_state[_LINK_REFUSALS] = error.problems
    if PROFILE_KEY in found or profile_id() != OWN_PROFILE:
        st.session_state[_PROFILE] = found.get(PROFILE_KEY)
    st.session_state[_ADDRESS] = (found, _shown())


def write_address() -> None:
    """Put the scenario into the address, unless what stands there was written or read for it.

    An address that came from outside is not tidied up: that would be a step of the browser's history, and the first
    press of Back would lead nowhere.
    """
    st.session_state.pop(_BY_HAND, None)  # a change that the page itself made is no hand's, for the next run
    found, shown = _in_address(), _shown()
    seen, stands_for = st.session_state.get(_ADDRESS, ({}, (None, None)))
    scenario, profile = shown
    if found == seen and scenario is stands_for[0] and profile == stands_for[1]:
        return
    address, _ = _address_of(scenario)
    if profile is not None:
        address = address | {PROFILE_KEY: profile}
    st.session_state[_ADDRESS] = (address, shown)
    _show(address)


def address_problem() -> str | None:
    """Why the scenario is not in the address, if it is too large for one."""
    _, sentence = _address_of(current())
    return sentence


def _shown() -> tuple[Scenario, str | None]:
    """What the address stands for. A profile of one's own stays in the session: no link could bring it along."""
    profile = profile_id()
    return current(), None if profile == OWN_PROFILE else profile


def _page() -> str:
    """Which page this run is for; ``st.navigation`` has not been called yet."""
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""


def _show(address: Mapping[str, str]) -> None:
    """Write our part of the address, leaving the rest as it is."""
    if _in_address() != address:
        others = {key: st.query_params[key] for key in st.query_params if key not in ADDRESS_KEYS}
        st.query_params.from_dict(others | address)


def _in_address() -> dict[str, str]:
    whole = st.query_params.to_dict()  # once: each look at the parameters goes through the session's lock
    return {key: whole[key] for key in ADDRESS_KEYS if key in whole}


def _address_of(scenario: Scenario) -> tuple[dict[str, str], str | None]:
    """The address that reopens a scenario, or none and why; worked out once for each scenario."""
    kept: tuple[Scenario, dict[str, str], str | None] | None = st.session_state.get(_TO_ADDRESS)
    if kept is None or kept[0] is not scenario:
        try:
            kept = (scenario, to_address(scenario), None)
        except ScenarioError as error:
            kept = (scenario, {}, error.problems[0].sentence)
        st.session_state[_TO_ADDRESS] = kept
    return kept[1], kept[2]
