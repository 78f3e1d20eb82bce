"""A small app around the live chart, for its browser tests: `streamlit run` it with the repository on PYTHONPATH."""

from pathlib import Path

import streamlit as st

from views._ui.server import tune_server
from views._ui.static_files import ensure_static

ensure_static(Path(__file__).parent / "static")
tune_server()
st.set_page_config(page_title="Live chart", layout="wide")
st.session_state["runs"] = st.session_state.get("runs", 0) + 1
page = st.navigation(
    [
        st.Page("views/bars.py", title="Bars", url_path="bars", default=True),
        st.Page("views/lines.py", title="Lines", url_path="lines"),
        st.Page("views/parts.py", title="Parts", url_path="parts"),
        st.Page("views/dots.py", title="Dots", url_path="dots"),
    ]
)
page.run()
st.caption(f"runs {st.session_state['runs']}")
