"""Take a scenario along: a link to copy, or a file; and open such a file again."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from core.scenario import ScenarioError
from core.scenario_link import default_scenario, from_file, to_address, to_file
from views._ui import state
from views._ui.controls import refusal


@st.dialog("Share this scenario")
def show() -> None:
    """The dialog; it closes when a file is opened or the scenario is reset."""
    scenario = state.current()
    try:
        address = to_address(scenario)
    except ScenarioError as error:
        refusal(error.problems[0].sentence)
    else:
        st.markdown("**Link.** It opens this page with this scenario; a first visit is asked for its predictions.")
        scheme, host, path, _, _ = urlsplit(st.context.url or "")
        st.code(urlunsplit((scheme, host, path, urlencode(address), "")), language=None, wrap_lines=True)
    st.download_button(
        "Save scenario",
        to_file(scenario),
        file_name="ridgepoint-scenario.json",
        mime="application/json",
        icon=":material/download:",
        key="share.save",
        on_click="ignore",
    )
    uploaded = st.file_uploader("Open a saved scenario", type="json", key="share.file", max_upload_size=5)
    if uploaded is not None:
        try:
            opened = from_file(uploaded.getvalue().decode("utf-8", errors="replace"))
        except ScenarioError as error:
            for problem in error.problems:
                refusal(problem.sentence)
        else:
            if st.button("Use this scenario", type="primary", key="share.use"):
                state.replace(opened)
                st.rerun()
    if st.button("Reset to the start scenario", icon=":material/restart_alt:", key="share.reset"):
        state.replace(default_scenario())
        st.rerun()
