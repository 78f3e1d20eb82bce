"""Ridgepoint: practise one interview question about large-scale LLM training and inference, with numbers that hold."""

from pathlib import Path

import streamlit as st

from pages._ui import deliver, page_change, registry, server, settings, state, static_files

st.set_page_config(page_title="Ridgepoint", page_icon=str(Path(__file__).parent / "assets" / "icon.png"), layout="wide")
static_files.ensure_static()
server.tune_server()
page_change.guard()
state.carry_address()
page = st.navigation(registry.pages(), position="top")
page_change.arrived()
settings.load()
state.open_address()
page.run()
state.write_address()
settings.keep()
deliver.to_browser()
