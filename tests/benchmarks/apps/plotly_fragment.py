"""Baseline for a rerun: the smallest app in which a slider drives a Plotly chart, one fragment and nothing else."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from views._ui.server import tune_server

tune_server()
X = np.linspace(0, 10, 200)


@st.fragment
def panel() -> None:
    height = st.slider("height", 0, 100, 50, key="height")
    wave = go.Scatter(x=X, y=height * np.sin(X), mode="lines")
    st.plotly_chart(go.Figure(wave, layout={"yaxis": {"range": [-110, 110]}, "height": 400}), key="chart")


panel()
