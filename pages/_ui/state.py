"""The one scenario of a session: read from the address, changed by controls, written back to the address.

A change that breaks a rule leaves the last good scenario in place and keeps its sentence for the field that it names.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.constraints import Problem
from core.scenario import Scenario, ScenarioError, changed
from core.scenario_link import KEYS, OBJECT_KEYS, default_scenario, from_address, to_address

_SCENARIO, _PROBLEMS, _NOTES, _WRITTEN, _PAGE = (
    "state.scenario",
    "state.problems",
    "state.notes",
    "state.written",
    "state.page",
)
ADDRESS_KEYS = (*OBJECT_KEYS, *KEYS)


def current() -> Scenario:
    """The scenario that every page shows."""
    if _SCENARIO not in st.session_state:
        st.session_state[_SCENARIO] = default_scenario()
    scenario: Scenario = st.session_state[_SCENARIO]
    return scenario


def replace(scenario: Scenario, *notes: str) -> None:
    """Take another scenario, forgetting refused values; notes are shown once, above the page."""
    st.session_state[_SCENARIO] = scenario
    st.session_state[_PROBLEMS] = []
    st.session_state[_NOTES] = list(notes)


def attempt(make: Callable[[], Scenario]) -> bool:
    """Take the scenario that ``make`` builds; if it refuses, keep the last good one and remember why."""
    try:
        scenario = make()
    except ScenarioError as error:
        st.session_state[_PROBLEMS] = error.problems
        return False
    replace(scenario)
    return True


def change(**fields: object) -> bool:
    """Change fields of the scenario, together with values refused earlier: two edits may only fit as a pair."""
    pending = {problem.field: problem.value for problem in problems()}
    return attempt(lambda: changed(current(), **(pending | fields))) or attempt_alone(fields)


def attempt_alone(fields: dict[str, object]) -> bool:
    """Try the new fields without the pending ones, so that one refused value does not block all others."""
    refused = problems()
    if not attempt(lambda: changed(current(), **fields)):
        return False
    st.session_state[_PROBLEMS] = [problem for problem in refused if problem.field not in fields]
    return True


def problems() -> list[Problem]:
    """What was refused since the last good change."""
    found: list[Problem] = st.session_state.get(_PROBLEMS, [])
    return found


def problem_of(field: str) -> Problem | None:
    """The refusal that names this field, if any."""
    return next((problem for problem in problems() if problem.field == field), None)


def take_notes() -> list[str]:
    """Notes about what was adapted, given out once."""
    notes: list[str] = st.session_state.get(_NOTES, [])
    st.session_state[_NOTES] = []
    return notes


def open_address(page: str) -> None:
    """Read the scenario from the address when somebody other than this app changed it.

    Moving to another page clears the address, which is no wish for another scenario; the same page with another address
    (a link, an edit, Back) is one.
    """
    found = {key: st.query_params[key] for key in ADDRESS_KEYS if key in st.query_params}
    same_page = st.session_state.get(_PAGE) == page
    st.session_state[_PAGE] = page
    untouched = found == st.session_state.get(_WRITTEN, {}) or (not found and not same_page)
    if not untouched:
        attempt(lambda: from_address(found))


def write_address() -> None:
    """Put the scenario into the address, where it differs from what stands there."""
    try:
        address = to_address(current())
    except ScenarioError as error:
        st.session_state["state.address_problem"] = error.problems[0].sentence
        address = {}
    else:
        st.session_state.pop("state.address_problem", None)
    st.session_state[_WRITTEN] = address
    others = {key: st.query_params[key] for key in st.query_params if key not in ADDRESS_KEYS}
    if dict(st.query_params) != others | address:
        st.query_params.from_dict(others | address)


def address_problem() -> str | None:
    """Why the scenario is not in the address, if it is too large for one."""
    sentence: str | None = st.session_state.get("state.address_problem")
    return sentence
