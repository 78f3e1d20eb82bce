"""Baseline for a poll: the smallest page that asks its server again and again, a fragment with nothing in it."""

import streamlit as st


@st.fragment(run_every=float(st.query_params.get("every", "1")))
def empty() -> None:
    """Nothing."""


empty()
