"""A line that stands still, a dot on it, words beside the dot, and two limits close together."""

import numpy as np
import streamlit as st

from core.charts.live import LiveFigure, LiveSlider
from core.charts.over_picture import Dots, Limit, PointLabels
from views._ui.live_chart import live_chart

x = np.arange(1.0, 101.0)[:, None]
y = x**2
line = {"type": "scatter", "mode": "lines", "name": "square", "x": x[:, 0], "y": y[:, 0], "meta": {"role": "kv"}}
texts = [f"{n:,.0f}" for n in y[:, 0]]
st.title("Dots")
index = live_chart(
    LiveFigure(
        {"data": [line], "layout": {"height": 320, "margin": {"t": 30}, "xaxis": {"range": [0, 100]}}},
        slider=LiveSlider("Number", [f"{int(n)}" for n in x[:, 0]], index=19),
        alt=texts,
        limits=(Limit(95, "the first of two near ones"), Limit(97, "the second", role="muted")),
        point_labels=PointLabels([[text] for text in texts], x, y, [["top left"]] * 100, np.full((100, 1), 6.0)),
        dots=Dots(x, y, ["kv"]),
    ),
    key="demo.dots",
)
st.caption(f"committed {index}")
