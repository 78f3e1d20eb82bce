"""Results of the benchmark that a page can show: recorded ones, this server's last run, a file of the reader's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import streamlit as st

from core.layer_memory import JudgedMemory, judge_memory
from core.layer_prediction import Judged, judge
from core.measured_profile import Profile
from core.microbench.reading import MAX_CHARS, ResultError, read
from core.microbench.recorded import names, recorded, title
from core.microbench.result import Result
from core.own_profile import join, profile_of
from pages._ui import gpu_run
from pages._ui.controls import refusal
from pages._ui.state import OWN_PROFILE
from pages._ui.words import plain

_MINE, _CHOICE, _UPLOAD, _SEEN = "measure.mine", "measure.result", "measure.upload", "measure.seen"
_HERE, _MY_FILE = "run here", "my file"  # beside the names of recorded ones
MAX_UPLOAD_MB = MAX_CHARS // 1_000_000
RECORDED = "run-"  # before the name of a recorded result, in a profile's id


@dataclass(eq=False)
class Opened:
    """A result with what follows from it, worked out once; told apart by identity."""

    result: Result
    text: str
    profile_id: str  # by which the step pages know its kernels

    @cached_property
    def entry(self) -> dict[str, Any]:
        """As plain values, which is how formulas take it."""
        return self.result.model_dump()

    @cached_property
    def profile(self) -> Profile | None:
        """Its kernels and links; None where it holds none, as a run that was cancelled early."""
        try:
            return profile_of(self.entry)
        except ValueError:
            return None

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """Its steps beside their predictions."""
        return judge(self.entry, self.profile) if self.profile else ()

    @cached_property
    def judged_memory(self) -> tuple[JudgedMemory, ...]:
        """Memory of its training steps beside the prediction, which takes no measurement at all."""
        return judge_memory(self.entry)

    @property
    def title(self) -> str:
        """Device, set and date."""
        return title(self.result)


@lru_cache(maxsize=16)
def opened_recorded(name: str) -> Opened:
    """One that ships with the app."""
    result = recorded(name)
    return Opened(result, result.model_dump_json(), f"{RECORDED}{name}")


@lru_cache(maxsize=1)
def largest_first() -> tuple[str, ...]:
    """Names of the recorded results, those with most measurements first."""
    return tuple(sorted(names(), key=lambda name: -len(opened_recorded(name).result.measurements)))


@lru_cache(maxsize=1)
def joined_recorded() -> dict[str, Profile]:
    """Recorded runs on one kind of device as one profile, where there are several; by the profile's id."""
    by_device: dict[str, list[Profile]] = {}
    for name in largest_first():
        if profile := opened_recorded(name).profile:
            by_device.setdefault(profile.file.id, []).append(profile)
    return {
        f"{RECORDED}all-{device.removeprefix('own-')}": join(profiles)
        for device, profiles in by_device.items()
        if len(profiles) > 1
    }


@lru_cache(maxsize=2)
def _of_run(text: str) -> Opened:
    return Opened(read(text), text, OWN_PROFILE)


def here() -> Opened | None:
    """What this server's run has, or had."""
    found = gpu_run.last_result()
    return _of_run(found[0]) if found else None


def mine() -> Opened | None:
    """The reader's own file, if one was opened in this session."""
    opened: Opened | None = st.session_state.get(_MINE)
    return opened


def upload_box() -> None:
    """Take a file of the reader's; what is wrong with it is said in words, and the last good one stays."""
    chosen = st.file_uploader(
        f"A result written by the benchmark (JSON, up to {MAX_UPLOAD_MB} MB)",
        type="json",
        key=_UPLOAD,
        max_upload_size=MAX_UPLOAD_MB,
        on_change=_take,
    )
    if chosen is None:
        return
    if problem := st.session_state.get(f"{_UPLOAD}.problem"):
        refusal(problem)
    elif opened := mine():
        st.markdown(f":material/check_circle: Opened: {plain(opened.title)}. It is kept for this visit only.")


def _take() -> None:
    chosen = st.session_state.get(_UPLOAD)
    st.session_state[f"{_UPLOAD}.problem"] = ""
    if chosen is None:
        return
    data = chosen.getvalue()
    try:
        st.session_state[_MINE] = Opened(read(data), data.decode("utf-8-sig"), OWN_PROFILE)
        st.session_state[_CHOICE] = _MY_FILE
    except ResultError as error:
        st.session_state[f"{_UPLOAD}.problem"] = str(error)


def choose() -> Opened | None:
    """Which result is shown; None where there is none at all."""
    options: dict[str, str] = {}
    run, own = here(), mine()
    if run is not None:
        options[_HERE] = f"Run on this server: {run.title}"
    if own is not None:
        options[_MY_FILE] = f"Your file: {own.title}"
    options |= {name: f"Recorded: {opened_recorded(name).title}" for name in largest_first()}
    if not options:
        st.info("No result is recorded yet: measure, or open a file.", icon=":material/info:")
        return None
    job = gpu_run.DESK.job
    if run is not None and st.session_state.get(_SEEN) is not job:  # a new run's result is shown by itself
        st.session_state[_SEEN] = job
        st.session_state[_CHOICE] = _HERE
    if st.session_state.get(_CHOICE) not in options:
        st.session_state[_CHOICE] = next(iter(options))
    picked = st.selectbox("Result", list(options), format_func=options.__getitem__, key=_CHOICE, width=640)
    return {_HERE: run, _MY_FILE: own}.get(picked) or opened_recorded(picked)
