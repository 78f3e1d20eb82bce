"""Three lines of 200 points and 128 positions: the size on which drawing is measured."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from core.charts.live import LiveFigure, LiveSlider, Readout, TraceTable
from core.charts.over_picture import Limit
from views._ui.live_chart import live_chart

POSITIONS, POINTS = 128, 200
PER_TOKEN = {"kv": 327_680, "weights": 131_072, "activations": 70_272}

tokens = np.linspace(0, 32_768, POINTS)
batch = np.arange(1, POSITIONS + 1)[:, None]
tables = [batch * tokens * each / 1e9 for each in PER_TOKEN.values()]
lines = [
    go.Scatter(x=tokens, y=table[0], mode="lines", name=name, meta={"role": name})
    for name, table in zip(PER_TOKEN, tables, strict=True)
]
figure = go.Figure(lines, {"height": 380, "xaxis": {"title": "tokens"}, "yaxis": {"title": "GB", "range": [0, 200]}})
last = [f"{value:,.1f} GB" for value in tables[0][:, -1]]
st.title("KV cache")
index = live_chart(
    LiveFigure(
        figure,
        tuple(TraceTable(index, "y", table) for index, table in enumerate(tables)),
        LiveSlider("Batch", [f"{n} requests" for n in range(1, POSITIONS + 1)], index=10),
        (Readout("at 32k tokens", last),),
        alt=[f"{n + 1} requests take {text}." for n, text in enumerate(last)],
        limits=(Limit(80, "80 GB of memory", axis="y"),),
    ),
    key="demo.lines",
)
st.caption(f"committed {index}")
