"""Stacked bars, a dashed limit with its name, totals in a column at the right, three readouts."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from core.charts.live import LiveFigure, LiveSlider, Readout, TraceTable
from core.charts.over_picture import Limit, RowLabels
from views._ui.live_chart import live_chart, move_live_slider

STAGES = ["no shard", "stage 1", "stage 2", "<b>stage 3</b>"]
HBM_GB = 80.0


def memory_live(billions: float) -> LiveFigure:
    gpus = 2 ** np.arange(11.0)[:, None]  # (positions, 1) against (4,) stages
    stage = np.arange(4)
    parts = {
        "weights": 2 * billions / np.where(stage >= 3, gpus, 1),
        "gradients": 2 * billions / np.where(stage >= 2, gpus, 1),
        "optimizer": 12 * billions / np.where(stage >= 1, gpus, 1),
    }
    total = sum(parts.values())
    bars = [
        go.Bar(name=name, y=STAGES, x=part[0], orientation="h", meta={"role": name}) for name, part in parts.items()
    ]
    for bar in bars:
        bar.update(hovertemplate="%{x:,.1f} GB<extra>%{fullData.name}</extra>")
    figure = go.Figure(bars)
    figure.update_layout(
        barmode="stack",
        height=300,
        margin={"t": 28, "b": 44},
        dragmode=False,
        xaxis={"title": "GB per GPU", "range": [0, 16 * billions], "fixedrange": True},
        yaxis={"autorange": "reversed", "fixedrange": True},
    )
    sizes = [[f"{value:,.0f} GB" if value >= 100 else f"{value:.1f} GB" for value in row] for row in total]
    room = HBM_GB - total[:, 3]
    return LiveFigure(
        figure,
        tuple(TraceTable(index, "x", part) for index, part in enumerate(parts.values())),
        LiveSlider("GPUs", [f"{int(n):,}" for n in gpus[:, 0]], index=6),
        (
            Readout("stage 3 leaves, per GPU", [row[3] for row in sizes], emphasis=True),
            Readout(
                "room for activations",
                [f"{max(left, 0):.1f} GB" for left in room],
                ["fits; did not fit before" if left > 0 else f"short by {-left:,.0f} GB" for left in room],
            ),
            Readout("price: traffic per step", ["1.5 ×"] * 11, ["3 Ψ instead of 2 Ψ elements, per GPU"] * 11),
        ),
        alt=[
            f"With {int(n):,} GPUs stage 3 leaves {row[3]} on each." for n, row in zip(gpus[:, 0], sizes, strict=True)
        ],
        limits=(Limit(HBM_GB, "80 GB of HBM"),),
        labels=RowLabels(sizes, bold=3),
    )


st.title("Partition until it fits")
billions = st.slider("Parameters in billions", 10, 100, 70, key="billions")
left, right = st.columns(2)
left.button("Reset", on_click=move_live_slider, args=("demo.bars", 0))
right.button("Rerun")
index = live_chart(
    memory_live(float(billions)),
    key="demo.bars",
    on_commit=lambda chosen: st.session_state.update(commits=[*st.session_state.get("commits", []), chosen]),
)
st.caption(f"committed {index}")
st.caption(f"commits {st.session_state.get('commits', [])}")
