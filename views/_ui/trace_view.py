"""Traces on a page: taken in within limits, read once, and shown as a verdict, splits, kernels and launches."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st

from core.charts import trace as charts
from core.display import show_percent, show_seconds
from core.trace import tables
from core.trace.columns import TraceError
from core.trace.examples import Example, examples
from core.trace.reading import MAX_BYTES, read_trace
from core.trace.report import TraceReport, report
from core.trace.verdict import TraceVerdict, verdict
from views._ui import place, registry, settings
from views._ui.live_chart import live_chart
from views._ui.predict import READING_WIDTH
from views._ui.step_page import csv_download, data_table
from views._ui.words import counted, inline, plain

HOSTED_MB, LOCAL_MB = 20, 500  # of one file
HOSTED_UNPACKED_BYTES = 250_000_000
_READ, _PROBLEM, _UPLOAD = "trace.read", "trace.problem", "trace.upload"
_ONE_AT_A_TIME = threading.Lock()  # a reading takes a core and its columns; several at once would take the server
WAIT_SECONDS = 60.0  # for another's reading; a trace of 200 MB takes 15
_RECORDED_NAMES = {"decode": "Decoding, launched kernel by kernel", "training": "Training on two GPUs"}


@dataclass(eq=False)
class Read:
    """What was found in one upload or example; told apart by identity."""

    name: str
    report: TraceReport
    recorded: dict[str, str]

    @cached_property
    def verdict(self) -> TraceVerdict:
        """The limit that it names."""
        return verdict(self.report)


def limit_mb() -> int:
    """Largest file that may be uploaded here; the server's own limit, which ``make gpu`` lifts, holds too. [MB]"""
    return min(LOCAL_MB if place.is_trusted() else HOSTED_MB, int(st.get_option("server.maxUploadSize")))


def unpacked_limit() -> int:
    """Most that an upload may come to when unpacked. [bytes]"""
    return MAX_BYTES if place.is_trusted() else HOSTED_UNPACKED_BYTES


def take() -> None:
    """The upload, and the examples that ship with the app."""
    files = st.file_uploader(
        f"Traces of the PyTorch profiler: one file a rank, or a zip of them (.json, .json.gz, .zip; up to {limit_mb()} "
        "MB each)",
        type=["json", "gz", "zip"],
        accept_multiple_files=True,
        key=_UPLOAD,
        max_upload_size=limit_mb(),
    )
    if files:
        ids = tuple(file.file_id for file in files)
        if st.session_state.get("trace.ids") != ids:  # a new choice of files, and not the rerun of a widget
            st.session_state["trace.ids"] = ids
            _read(", ".join(file.name for file in files[:3]), [(file.name, file) for file in files], {})
    elif st.session_state.pop("trace.ids", None):  # taken out again
        st.session_state[_PROBLEM] = ""
    if shipped := examples():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("Or open a recorded one:", width="content")
            for name, example in shipped.items():
                st.button(_example_name(name), key=f"trace.example.{name}", on_click=_open, args=(example,))
    with st.expander("How to record one", icon=":material/help:"):
        st.markdown(
            "A few steps after warm-up are enough. Stacks and shapes make the file large and are not read.",
            width=READING_WIDTH,
        )
        st.code(_HOW, language=None)  # colours of code fail the contrast of small text
    if problem := st.session_state.get(_PROBLEM):
        st.error(plain(problem), icon=":material/error:")


_HOW = """from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
    schedule=schedule(wait=5, warmup=2, active=3),
    on_trace_ready=tensorboard_trace_handler("traces", use_gzip=True),  # a file for each rank
) as profiler:
    for batch in batches:
        train_step(batch)
        profiler.step()"""


def current() -> Read | None:
    """What was read last in this session."""
    found: Read | None = st.session_state.get(_READ)
    return found


def _example_name(name: str) -> str:
    return _RECORDED_NAMES.get(name, name.replace("_", " ").capitalize())


def _open(example: Example) -> None:
    _read(_example_name(example.name), example.files(), example.recorded)


def _read(name: str, files: Sequence[tuple[str, Any]], recorded: dict[str, str]) -> None:
    """Read with progress; what cannot be read leaves the last trace in place and is said in words."""
    st.session_state[_PROBLEM] = ""
    bar = st.progress(0.0, text="Waiting for another trace to be read")
    try:
        with _alone():
            trace = read_trace(
                files,
                max_bytes=unpacked_limit(),
                progress=lambda share: bar.progress(share, text=f"Reading: {show_percent(share)}"),
            )
            bar.progress(1.0, text="Splitting the time")
            st.session_state[_READ] = Read(name, report(trace), recorded)
    except TraceError as error:
        st.session_state[_PROBLEM] = str(error)
    finally:
        bar.empty()


@contextmanager
def _alone() -> Iterator[None]:
    """One reading at a time for the whole server.

    Raises:
        TraceError: another has not ended within the wait; in words.
    """
    if not _ONE_AT_A_TIME.acquire(timeout=WAIT_SECONDS):
        raise TraceError(
            f"This server reads one trace at a time, and another one was not done after {show_seconds(WAIT_SECONDS)}. "
            "Nothing of yours was read: in a minute take the file out and choose it again, or press the button again."
        )
    try:
        yield
    finally:
        _ONE_AT_A_TIME.release()


def show(read: Read) -> None:
    """Verdict, split, kernels, launches."""
    found = read.report
    _head(read)
    _verdict(read.verdict)
    names = [charts.gpu_name(gpu, found) for gpu in found.gpus]
    st.header("Where the time went", anchor="split")
    if hidden := names[charts.MOST_ROWS :]:
        st.caption(f"The first {charts.MOST_ROWS} GPUs are drawn; {len(hidden)} more are in the table and the CSV.")
    live_chart(charts.by_gpu(found), key="trace.gpus")
    with st.expander("As a table", icon=":material/table:"):
        data_table(st.empty(), tables.split_rows(names, [gpu.whole for gpu in found.gpus]))
    csv_download("CSV", lambda: tables.split_columns(found), key="trace.csv")
    st.caption(
        "Compute: a kernel that is no collective runs. Communication counts as exposed while no compute runs, copies "
        "while neither does. A gap is named after what its end waited on: nothing was launched yet (launch, or input "
        "where the host loaded data, or communication where the host itself communicated), or the event was queued."
    )
    _steps(read, names)
    _kernels(read)


def _head(read: Read) -> None:
    found = read.report
    about = [counted(len(found.ranks), "rank"), counted(len(found.gpus), "GPU")]
    about += [value for key, value in read.recorded.items() if key in ("what", "gpu", "torch", "date")]
    st.markdown(f"**{plain(read.name)}** · {inline(' · '.join(about))}")
    for note in found.notes:
        st.warning(plain(note), icon=":material/warning:")


def _verdict(found: TraceVerdict) -> None:
    with st.container(border=True):
        st.markdown(f"**{inline(found.title)}.**")
        st.markdown("\n".join(f"- {inline(sentence)}" for sentence in found.evidence), width=READING_WIDTH)
        st.markdown(f"**What to do:** {inline(found.advice)}", width=READING_WIDTH)
        _read_step("Read", found.step)
        if found.also_step is not None and found.also_step != found.step:
            _read_step("Then", found.also_step)


def _read_step(words: str, number: int) -> None:
    step = registry.STEPS[number - 1]
    if step.url_path:
        st.page_link(
            registry.path_of(step.url_path),
            label=f"**{words} step {step.number}: {step.title}**",
            icon=":material/arrow_forward:",
        )


def _steps(read: Read, names: list[str]) -> None:
    """One GPU's steps."""
    with_steps = [at for at, gpu in enumerate(read.report.gpus) if gpu.steps.size]
    if not with_steps:
        return
    st.header("Step by step", anchor="steps")
    at = with_steps[0]
    if len(with_steps) > 1:
        at = st.selectbox("GPU", with_steps, format_func=names.__getitem__, key="trace.gpu", width=220)
    gpu = read.report.gpus[at]
    live_chart(charts.by_step(gpu), key="trace.steps")
    with st.expander("As a table", icon=":material/table:"):
        steps = [f"step {number}" for number in gpu.steps]
        data_table(st.empty(), tables.split_rows(steps, [tables.step_split(gpu.by_step, k) for k in range(len(steps))]))


def _kernels(read: Read) -> None:
    """Top kernels, collectives and launches of one rank."""
    found = read.report
    st.header("Kernels", anchor="kernels")
    at = 0
    if len(found.ranks) > 1:
        ranks = range(len(found.ranks))
        at = st.selectbox("Rank", ranks, format_func=lambda k: f"rank {found.ranks[k]}", key="trace.rank", width=220)
    data_table(st.empty(), tables.kernel_rows(found.kernels[at]))
    st.caption("What a kernel works on is guessed from its name. Times of overlapping kernels add up.")
    if found.collectives[at]:
        st.subheader("Collectives", anchor=False)
        data_table(st.empty(), tables.collective_rows(found.collectives[at], settings.unit()))
        st.caption("A collective's time includes waiting for the slowest rank.")
    st.header("Launches", anchor="launches")
    data_table(st.empty(), tables.launch_rows(found.ranks, found.launches))
