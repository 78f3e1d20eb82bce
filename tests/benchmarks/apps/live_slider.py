"""Baseline for a drag: the smallest chart that follows the hand, three lines of 200 points at 128 slider positions.

`plotly.min.js` must lie in `static/` beside this file; drag.py puts both into a folder of their own.
"""

import base64

import numpy as np
import streamlit as st

HTML = '<div class="smallest"><input type="range"> <output></output><div class="plot"></div></div>'
JS = """
const plotly = (window.__plotly ??= new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = new URL("app/static/plotly.min.js", document.baseURI).href;
  script.onload = () => done(window.Plotly);
  script.onerror = failed;
  document.head.append(script);
}));
const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const LAYOUT = { height: 380, margin: { t: 20 }, uirevision: "keep", yaxis: { range: [0, 200] } };

export default function ({ data, parentElement, setStateValue }) {
  const [input, output, plot] = ["input", "output", ".plot"].map((part) => parentElement.querySelector(part));
  const x = floats(data.x);
  const tables = data.tables.map(floats);
  const draw = async (row) => {
    const library = await plotly;
    const start = performance.now();
    const traces = tables.map((table) => {
      return { type: "scatter", mode: "lines", x, y: table.subarray(row * x.length, (row + 1) * x.length) };
    });
    await library.react(plot, traces, LAYOUT, { displayModeBar: false, responsive: true });
    output.value = data.readouts[row];
    (window.__frames ??= []).push(performance.now() - start);
  };
  let wanted = null;
  input.max = data.readouts.length - 1;
  input.oninput = () => {
    if (wanted === null) {
      requestAnimationFrame(() => {
        draw(wanted);
        wanted = null;
      });
    }
    wanted = Number(input.value);
  };
  input.onchange = () => setStateValue("row", Number(input.value));
  draw(Number(input.value));
}
"""
POSITIONS = 128
BYTES_PER_TOKEN = (327_680, 131_072, 70_272)

component = st.components.v2.component("smallest_live_chart", html=HTML, js=JS, isolate_styles=False)


def packed(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.float32).tobytes()).decode()


tokens = np.linspace(0, 32_768, 200)
batch = np.arange(1, POSITIONS + 1)[:, None]
tables = [batch * tokens * each / 1e9 for each in BYTES_PER_TOKEN]
readouts = [f"{size} requests: {table[-1]:.1f} GB" for size, table in enumerate(tables[0], start=1)]
component(
    key="live",
    data={"x": packed(tokens), "tables": [packed(table) for table in tables], "readouts": readouts},
    default={"row": 0},
    on_row_change=lambda: None,
)
