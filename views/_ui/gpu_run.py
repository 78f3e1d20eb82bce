"""The benchmark on a page: what can be measured here, the run with its progress, and why it is off where it is."""

from __future__ import annotations

import atexit
import os
import re
import sys
import time
from functools import lru_cache
from importlib.util import find_spec

import streamlit as st

from core.display import show_bytes, show_seconds
from core.microbench.job import BusyError, Desk, Job, Order, Progress
from core.microbench.plan import MAX_SECONDS
from core.microbench.probe import Choice, Found, look
from core.microbench.reading import ResultError, read
from core.microbench.result import Result
from core.model_spec import load_models
from views._ui.controls import refusal
from views._ui.place import ALLOW, runs_allowed
from views._ui.words import counted, plain

PYTHON_VARIABLE = "RIDGEPOINT_GPU_PYTHON"  # another interpreter that has torch
SECONDS_VARIABLE = "RIDGEPOINT_GPU_SECONDS"  # the operator's bound on any run
DESK = Desk()  # one for the server, whoever asks
atexit.register(DESK.clear)  # the last run's folder goes with the server
CPU_QUICK_SECONDS = 300.0  # the quick set's minute is meant for a GPU
_DEVICE, _SET, _MODEL, _START, _TOLD = "measure.device", "measure.set", "measure.model", "measure.start", "measure.told"
_SETS = {"quick": "Quick: under a minute on a GPU", "full": "Full: four to ten minutes", "collectives": "Collectives"}
_PLAIN_MODEL = "built-in"
_ON_THE_COMMAND_LINE = re.compile(r"[,;] or use --device cpu$")  # here the choice stands beside it


def python() -> str:
    """The interpreter that runs the benchmark."""
    return os.environ.get(PYTHON_VARIABLE) or sys.executable


def has_torch() -> bool:
    """Whether that interpreter may have torch; our own is asked without loading it."""
    return bool(os.environ.get(PYTHON_VARIABLE)) or find_spec("torch") is not None


@lru_cache(maxsize=4)
def found(interpreter: str) -> Found:
    """What it can measure; asked once, in a process of its own, and again when the reader looks again."""
    return look(interpreter)


def running() -> bool:
    """Whether a run is on."""
    return DESK.job is not None and DESK.job.progress.running


def run_box() -> None:
    """Everything about a run on this machine: why not, or what, and how far it is."""
    if not runs_allowed():
        st.info(
            "Runs are off here: this server can be reached from other machines, and a benchmark would take its "
            f"hardware from everybody. On your own machine start it with `make gpu`, which listens on localhost only, "
            f"or set `{ALLOW}=1`. Your own result from anywhere can be opened below.",
            icon=":material/lock:",
        )
        return
    job = DESK.job
    if job is not None and job.progress.running:
        _running(job)
        return
    if not has_torch():
        _without_torch("torch is not installed here.")
        return
    with st.spinner("Looking for devices: torch is loaded in a process of its own ..."):
        there = found(python())
    if there.torch is None:
        _without_torch(there.problem or "torch does not work here.")
        return
    if job is not None:
        _ended(job)
    _choose(there)


def last_result() -> tuple[str, Result] | None:
    """The result of the run that is on or was last here, with a word on its version; None before there is one."""
    job = DESK.job
    if job is None or not runs_allowed():
        return None
    try:
        return _read(job, job.version())
    except ResultError as error:
        refusal(str(error))
        return None


@lru_cache(maxsize=2)
def _read(job: Job, version: int) -> tuple[str, Result] | None:
    text = job.text() if version else None
    return (text, read(text)) if text is not None else None


def _without_torch(problem: str) -> None:
    st.info(
        f"{plain(problem)}  \nInstall it beside the app with `pip install -r requirements-gpu.txt` and start the app "
        f"again, or name a Python that has it: `{PYTHON_VARIABLE}=/path/to/python`.",
        icon=":material/extension_off:",
    )
    st.button("Look again", icon=":material/refresh:", key="measure.again", on_click=found.cache_clear)


def _choose(there: Found) -> None:
    """Device, set and model, and the button that starts."""
    if there.problem and not there.gpus:
        st.caption(f"No GPU: {plain(_ON_THE_COMMAND_LINE.sub('', there.problem))}.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choices = range(len(there.choices))
        picked = st.selectbox(
            "Device", choices, format_func=lambda i: _device_name(there.choices[i]), key=_DEVICE, width=320
        )
        choice = there.choices[picked]
        sets = [name for name in _SETS if name != "collectives" or (choice.kind == "cuda" and len(there.gpus) > 1)]
        chosen = st.selectbox("Set", sets, format_func=lambda name: _SETS[name], key=_SET, width=280)
        models = [_PLAIN_MODEL, *load_models()]
        model = st.selectbox(
            "Model whose layer is measured",
            models,
            format_func=lambda name: "the usual ones" if name == _PLAIN_MODEL else name,
            key=_MODEL,
            width=300,
            disabled=chosen == "collectives",
        )
        st.button(
            "Measure",
            type="primary",
            icon=":material/play_arrow:",
            key=_START,
            on_click=_start,
            args=(_order(choice, chosen, model, len(there.gpus)),),
        )
    seconds = _seconds(choice.kind, chosen)
    st.caption(
        f"It runs in a process of its own, begins nothing new after {show_seconds(seconds)} and keeps what it has; "
        f"it takes at most four fifths of the {show_bytes(choice.free_bytes)} that are free. Close what else uses "
        "the device: a shared one measures its neighbours too."
    )
    if told := st.session_state.pop(_TOLD, ""):
        refusal(told)


def _device_name(choice: Choice) -> str:
    where = "" if choice.kind != "cuda" else f" ({choice.index})"
    return f"{choice.name}{where}, {show_bytes(choice.memory_bytes)}"


def _seconds(kind: str, set_name: str) -> float:
    usual = CPU_QUICK_SECONDS if (kind, set_name) == ("cpu", "quick") else MAX_SECONDS[set_name]
    said = os.environ.get(SECONDS_VARIABLE, "")
    return min(usual, float(said)) if said.isdecimal() and int(said) else usual


def _order(choice: Choice, set_name: str, model: str, gpus: int) -> Order:
    collectives = set_name == "collectives"
    return Order(
        python=python(),
        set_name=set_name,
        device=choice.kind,
        index=choice.index,
        max_seconds=_seconds(choice.kind, set_name),
        models=() if collectives or model == _PLAIN_MODEL else (model,),
        ranks=gpus if collectives else 1,
    )


def _start(order: Order) -> None:
    try:
        DESK.start(order)
    except (BusyError, OSError) as error:
        st.session_state[_TOLD] = f"{error}"


def _running(job: Job) -> None:
    """Progress, drawn again each second; the whole page once when the run has ended."""

    @st.fragment(run_every=1.0)
    def follow() -> None:
        now = job.progress
        if not now.running:
            st.rerun(scope="app")
        st.progress(now.share, text=plain(where(now, time.monotonic())))
        if now.skipped:
            st.caption(f"{counted(now.skipped, 'point')} could not be measured; the reasons are with the result.")

    follow()
    st.button("Cancel", icon=":material/stop:", key="measure.cancel", on_click=job.cancel)


def where(now: Progress, at: float) -> str:
    """How far a run is, in words; ``at`` is the monotonic clock's time. [s]"""
    if now.state == "cancelling":
        return "Ending, what is measured is kept"
    words = f"{now.done} of {now.total}: {now.item}" if now.total else "Starting: torch is loaded"
    left = now.left_s(at)
    if left is None:
        return words
    return f"{words} · {f'about {show_seconds(max(left, 1.0))} left' if left else 'longer than planned'}"


def _ended(job: Job) -> None:
    """How the last run ended."""
    now = job.progress
    if now.state == "complete":
        st.success(f"Measured in {show_seconds(job.elapsed_s)}. The result is chosen below.", icon=":material/check:")
    elif now.state == "refused":
        st.error(f"Nothing was measured: {plain(now.reason)}.", icon=":material/error:")
    else:
        kept = " What it had measured until then is kept, and marked partial." if job.version() else ""
        st.warning(f"The run ended early: {plain(now.reason)}.{kept}", icon=":material/warning:")
