"""Ridgepoint: practise one interview question about large-scale LLM training and inference, with numbers that hold."""

from pathlib import Path

import streamlit as st

from views._ui import deliver, races, registry, server, settings, state, static_files

st.set_page_config(page_title="Ridgepoint", page_icon=str(Path(__file__).parent / "assets" / "icon.png"), layout="wide")
static_files.ensure_static()
server.tune_server()
races.guard()
state.carry_address()
page = st.navigation(registry.pages(), position="top")
races.arrived()
settings.load()
state.open_address()
page.run()
state.write_address()
settings.keep()
deliver.to_browser()
