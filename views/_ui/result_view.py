"""One result of the benchmark: pictures, each with its numbers as a table, and predictions against measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import streamlit as st

from core import run_tables
from core.charts import measured as profile_charts
from core.charts import own_run
from core.charts.live import LiveFigure
from core.layer_memory import memory_score
from core.layer_prediction import scores
from core.measured_collectives import collective_over_bytes
from core.measured_roofline import at_the_roofline
from core.own_views import AttentionPair, attention_pairs, bandwidth, host_rows, launch_view, product_note, shapes_of
from views._ui import gpu_run, profile_choice, results, settings
from views._ui.live_chart import live_chart
from views._ui.predict import READING_WIDTH
from views._ui.results import Opened
from views._ui.step_page import csv_download, data_table
from views._ui.words import inline, plain

TABS = ("Roofline", "Memory", "Attention", "Launches", "Collectives", "Predict against measure", "All numbers")
REDRAW_SECONDS = 3.0  # the run writes its file every two
_NONE = "This result has none: {}"


def follow() -> None:
    """The chosen result; while a run is on, drawn again as it comes."""

    @st.fragment(run_every=REDRAW_SECONDS if gpu_run.running() else None)
    def chosen() -> None:
        opened = results.choose()
        if opened:
            show(opened)

    chosen()


def show(opened: Opened) -> None:
    """What the result says of itself, then the open tab; the others are neither computed nor sent."""
    if opened.result.stopped is not None:
        st.warning(f"A partial result: {plain(opened.result.stopped)}.", icon=":material/warning:")
    for note in opened.result.notes:
        st.caption(plain(note))
    if used := results.estimated_on(opened):
        profile_choice.use_button(used, opened.profile_id, key="measure.use")
        if used is not opened.profile:
            st.caption(
                f"Estimates take all your results on {plain(used.file.device)} together: each table is that of the "
                "largest result that has it. The pictures below are of the one chosen above."
            )
        profile_choice.badge()
    parts: dict[str, Callable[[Opened], None]] = dict(
        zip(TABS, (_roofline, _memory, _attention, _launches, _collectives, _predictions, _numbers), strict=True)
    )
    for name, tab in zip(TABS, st.tabs(TABS, key="measure.tab", on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                parts[name](opened)


def _say(*sentences: str) -> None:
    st.markdown("  \n".join(map(inline, sentences)), width=READING_WIDTH)


def _rows(rows: Sequence[dict[str, str]], name: str) -> None:
    """The picture's numbers, to read in its place."""
    if rows:
        with st.expander("As a table", icon=":material/table:", key=f"measure.{name}.table", on_change="rerun") as box:
            if box.open:
                data_table(st.empty(), rows)


def _none(why: str) -> None:
    st.markdown(f":gray[{_NONE.format(why)}]")


def _roofline(opened: Opened) -> None:
    profile = opened.profile
    dtypes = profile.dtypes if profile else ()
    if not dtypes:
        _none("no product was measured.")
        return
    usual = opened.result.run.dtype
    dtype = st.segmented_control(
        "Format of the products",
        dtypes,
        default=usual if usual in dtypes else dtypes[0],
        required=True,
        key="measure.dtype",
    )
    chart = _roofline_chart(opened, dtype)
    _say(*chart.alt)
    if note := product_note(opened.entry, dtype):
        st.caption(inline(note))
    live_chart(chart, key="measure.roofline")
    st.caption(
        "Points are measured products, each operand counted once; rows grow from left to right. Dotted is the roof as "
        "measured: the best product or plain call, and weights read at few rows. Solid is the datasheet's, where the "
        "catalog has one."
    )
    placed = at_the_roofline(profile, shapes_of(opened.entry, dtype), dtype) if profile else None
    if placed:
        _rows(run_tables.roofline_rows(placed), "roofline")


@lru_cache(maxsize=8)
def _roofline_chart(opened: Opened, dtype: str) -> LiveFigure:
    assert opened.profile is not None
    placed = at_the_roofline(opened.profile, shapes_of(opened.entry, dtype), dtype)
    return profile_charts.at_roofline([placed] if placed else [])


def _memory(opened: Opened) -> None:
    chip = opened.profile.accelerator if opened.profile else None
    found = bandwidth(opened.entry, chip.hbm_bytes_per_s if chip else None)
    if found is None:
        _none("no copy was measured.")
    else:
        _say(own_run.bandwidth_text(found))
        live_chart(own_run.bandwidth(found), key="measure.memory")
        st.caption(own_run.bandwidth_note(found))
        _rows(run_tables.bandwidth_rows(found), "memory")
    if links := host_rows(opened.entry):
        st.subheader("Between host and device", anchor=False)
        data_table(st.empty(), run_tables.host_table(links))


def _attention(opened: Opened) -> None:
    pairs, unit = attention_pairs(opened.entry), settings.unit()
    if not pairs:
        _none("attention was not measured.")
        return
    # Where both curves were measured first: that is what this is about.
    shapes = list(dict.fromkeys(pair.heads for pair in sorted(pairs, key=lambda pair: -len(pair.seconds))))
    chosen = shapes[0]
    if len(shapes) > 1:
        chosen = st.selectbox("Heads", shapes, key="measure.heads", width=320)
    for pair in pairs:
        if pair.heads == chosen:
            _attention_pair(pair, unit)


def _attention_pair(pair: AttentionPair, unit: str) -> None:
    st.subheader("Forward" if pair.direction == "forward" else "Forward and backward", anchor=False)
    _say(own_run.attention_text(pair))
    live_chart(own_run.attention_times(pair), key=f"measure.attention.{pair.direction}")
    if pair.peak_bytes:
        _say(own_run.memory_text(pair, unit))
        live_chart(own_run.attention_memory(pair, unit), key=f"measure.attention_memory.{pair.direction}")
    else:
        st.caption("Peak memory is counted on CUDA devices only.")
    for text in pair.missing:
        st.caption(plain(text))
    _rows(run_tables.attention_rows(pair, unit), f"attention.{pair.direction}")


def _launches(opened: Opened) -> None:
    view = launch_view(opened.entry)
    if view is None:
        _none("no launch was measured.")
        return
    _say(own_run.launch_text(view))
    if view.kernels:
        live_chart(own_run.launches(view), key="measure.launches")
        _rows(run_tables.launch_rows(view), "launches")
    if view.steps:
        st.subheader("The same step, launched one by one and from a graph", anchor=False)
        _say(own_run.graph_text(view))
        _rows(run_tables.step_rows(view), "steps")


def _collectives(opened: Opened) -> None:
    messages = opened.profile.messages if opened.profile else {}
    if not messages or opened.profile is None:
        _none("collectives need two or more GPUs and their own set: `--set collectives` under torchrun.")
        return
    for op, ranks in messages:
        curves, fits = collective_over_bytes([opened.profile], op, ranks)
        _say(*map(profile_charts.fit_text, fits))
        live_chart(profile_charts.collectives(curves, fits), key=f"measure.{op}.{ranks}")
        data_table(st.empty(), run_tables.fit_rows(op, fits))
        _rows(run_tables.curve_rows(curves, "bytes"), f"{op}.{ranks}")


def _predictions(opened: Opened) -> None:
    if not opened.judged and not opened.judged_memory:
        _none("no step of a layer was measured beside the kernels that would predict it.")
    if opened.judged:
        _predicted_times(opened)
    if opened.judged_memory:
        _predicted_memory(opened)


def _predicted_times(opened: Opened) -> None:
    judged = opened.judged
    st.markdown(
        "Steps of one decoder layer, predicted from kernels and links of the same run. The prediction never sees a "
        "step: kernels calibrate, steps judge. Errors as they are:",
        width=READING_WIDTH,
    )
    data_table(st.empty(), run_tables.score_rows(scores(judged)))
    live_chart(_predictions_chart(opened), key="measure.predictions")
    st.caption("On the line prediction and measurement agree; the thin lines are 20% to either side.")
    _rows(run_tables.judged_rows(judged), "predictions")


def _predicted_memory(opened: Opened) -> None:
    judged = opened.judged_memory
    score = memory_score(judged)
    assert score is not None
    st.subheader("Memory of a training step", anchor=False)
    st.markdown(
        "The same layers' forward and backward pass without an optimizer: what the first keeps, and the peak of both. "
        "Predicted from the layer's sizes alone, by step 2's count of kept tensors; gradients of the weights pile up "
        "while the backward pass frees what it has used.",
        width=READING_WIDTH,
    )
    data_table(st.empty(), [run_tables.memory_score_row(score)])
    st.caption(
        "As PyTorch's allocator counts it, beside weights and input. What it reserves beyond that, and the CUDA "
        "context, come on top."
    )
    _rows(run_tables.memory_rows(judged, settings.unit()), "memory_predictions")


@lru_cache(maxsize=4)
def _predictions_chart(opened: Opened) -> LiveFigure:
    return own_run.predictions(opened.judged)


def _numbers(opened: Opened) -> None:
    data_table(st.empty(), run_tables.fact_rows(opened.entry))
    with st.container(horizontal=True):
        st.download_button(
            "The result as JSON",
            opened.text,
            file_name="result.json",
            mime="application/json",
            icon=":material/download:",
            type="tertiary",
            key="measure.json",
            on_click="ignore",
        )
        csv_download("All measurements as CSV", lambda: run_tables.measurement_columns(opened.entry), key="measure.csv")
    if skipped := run_tables.skipped_rows(opened.entry):
        st.subheader("Not measured, and why", anchor=False)
        data_table(st.empty(), skipped)
