"""Stacked bars as one trace of parts, with a limit, totals at the right, and a bar that goes on past the axis."""

import numpy as np
import streamlit as st

from core.charts.live import LiveSlider
from core.charts.memory import stacked_bars
from views._ui.live_chart import live_chart

gpus = 2 ** np.arange(11.0)[:, None]  # (positions, 1) against (3,) rows
sharded = np.array([False, False, True])
parts = {
    "weights": 140e9 / np.where(sharded, gpus, 1),
    "optimizer": 840e9 / np.where([False, True, True], gpus, 1),
    "activations": np.full((11, 3), 10e9),
}
st.title("Parts")
index = live_chart(
    stacked_bars(
        parts,
        ["nothing is sharded", "optimizer", "all"],
        80e9,
        unit="GB",
        bold=2,
        slider=LiveSlider("GPUs", [f"{int(n):,}" for n in gpus[:, 0]], index=6),
    ),
    key="demo.parts",
)
st.caption(f"committed {index}")
