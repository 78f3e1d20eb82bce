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
from views._ui import gpu_run
from views._ui.controls import refusal
from views._ui.state import OWN_PROFILE
from views._ui.words import plain

_MINE, _CHOICE, _UPLOAD, _SEEN = "measure.mine", "measure.result", "measure.upload", "measure.seen"
_IN_BOX, _PROBLEMS = "measure.in_box", "measure.problems"
_HERE, _MY_FILE = "run here", "my file"  # beside the names of recorded ones
MAX_UPLOAD_MB = MAX_CHARS // 1_000_000
MAX_FILES = 8  # of one reader
RECORDED = "run-"  # before the name of a recorded result, in a profile's id


@dataclass(eq=False)
class Opened:
    """A result with what follows from it, worked out once; told apart by identity."""

    result: Result
    text: str
    profile_id: str  # by which the step pages know its kernels
    file_name: str = ""  # of a reader's own

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


def mine() -> tuple[Opened, ...]:
    """The reader's own files that were opened in this session, each once."""
    return tuple(dict.fromkeys(_held().values()))


def own_profile(opened: Opened | None = None) -> Profile | None:
    """Kernels and links of the reader's own results on one kind of device as one profile, as of recorded ones.

    Args:
        opened: one of the results on that device; None: the file that was opened last, else this server's run.
    """
    run = here()
    every = [*mine(), *([run] if run else [])]
    last = opened or (mine()[-1:] or (run,))[0]
    if last is None or last.profile is None:
        return None
    device = last.profile.file.device
    alike = [(one.result, one.profile) for one in every if one.profile and one.profile.file.device == device]
    alike.sort(key=lambda found: -len(found[0].measurements))
    return _joined(tuple(profile for _, profile in alike)) if len(alike) > 1 else last.profile


def estimated_on(opened: Opened) -> Profile | None:
    """The profile that pages take if this result is to be estimated on."""
    return own_profile(opened) if opened.profile_id == OWN_PROFILE else opened.profile


@lru_cache(maxsize=8)
def _joined(profiles: tuple[Profile, ...]) -> Profile:
    return join(profiles)


def _held() -> dict[str, Opened]:
    """Opened files by the id of their upload; each reader has those of the session."""
    held: dict[str, Opened] = st.session_state.setdefault(_MINE, {})
    return held


def upload_box() -> None:
    """Take files of the reader's; what is wrong with one is said in words, good ones stay until they are taken out."""
    files = st.file_uploader(
        f"Results written by the benchmark (JSON, up to {MAX_UPLOAD_MB} MB each); estimates take those of one device "
        "together, such as a full set and collectives",
        type="json",
        accept_multiple_files=True,
        key=_UPLOAD,
        max_upload_size=MAX_UPLOAD_MB,
        on_change=_take,
    )
    in_box = [file.file_id for file in files]  # empty after a visit to another page, where opened files stay opened
    st.session_state[_IN_BOX] = in_box
    if not in_box:
        return
    for problem in st.session_state.get(_PROBLEMS, ()):
        refusal(problem)
    for opened in dict.fromkeys(_held()[file_id] for file_id in in_box if file_id in _held()):
        st.markdown(f":material/check_circle: Opened: {plain(opened.title)}. It is kept for this visit only.")


def _take() -> None:
    files = st.session_state.get(_UPLOAD) or []
    held, ids = _held(), {file.file_id for file in files}
    for file_id in st.session_state.get(_IN_BOX, ()):
        if file_id not in ids:
            held.pop(file_id, None)
    problems: list[str] = []
    new: list[Opened] = []
    for file in files:
        if file.file_id in held:
            continue
        try:
            held[file.file_id] = _open(file.name, file.getvalue())
            new.append(held[file.file_id])
        except ResultError as error:
            problems.append(f"{file.name}: {error}" if len(files) > 1 else str(error))
    st.session_state[_PROBLEMS] = problems
    if new:  # the one with most to show
        largest = max(new, key=lambda opened: len(opened.result.measurements))
        st.session_state[_CHOICE] = next(key for key, one in _choices().items() if one is largest)


def _choices() -> dict[str, Opened]:
    """The reader's files by what the list knows them as, which stays as others come and go."""
    by_file = {opened: file_id for file_id, opened in reversed(_held().items())}
    return {f"{_MY_FILE} {by_file[opened]}": opened for opened in mine()}


def _open(file_name: str, data: bytes) -> Opened:
    """Read one file; the one that is open already if it is the same."""
    result, text = read(data), data.decode("utf-8-sig")
    there = next((one for one in mine() if one.text == text), None)
    if there is None and len(mine()) >= MAX_FILES:
        raise ResultError(f"{MAX_FILES} files are open already.", "Take one out, then choose this one again.")
    return there or Opened(result, text, OWN_PROFILE, file_name)


def choose() -> Opened | None:
    """Which result is shown; None where there is none at all."""
    options: dict[str, str] = {}
    run, own = here(), _choices()
    if run is not None:
        options[_HERE] = f"Run on this server: {run.title}"
    titles = [one.title for one in own.values()]
    for key, one in own.items():
        alike = titles.count(one.title) > 1
        options[key] = f"Your file{f' {one.file_name}' if alike else ''}: {one.title}"
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
    return ({_HERE: run} | own).get(picked) or opened_recorded(picked)
