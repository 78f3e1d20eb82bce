"""What is known of a training run, typed by hand: MFU or tokens a second, what that counts, an HFU beside it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.bottleneck_counts import (
    COUNTS,
    REPORTED,
    SHORT_WORDS,
    Utilization,
    counted,
    known_of,
    percent_problem,
    share_of,
)
from core.bottleneck_verdict import verdicts
from core.constraints import Problem
from core.hardware import Accelerator
from core.scenario import Scenario
from views._ui import profile_choice

_KINDS = ("MFU", "tokens/s")
_KEPT: Any = {"persist_state": "session"}


def known_run_inputs(accelerator: Accelerator) -> None:
    """The boxes; what they hold is read by :func:`counted_run`."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "What is known", _KINDS, default=_KINDS[0], required=True, key="bottleneck.kind", **_KEPT
        )
        st.segmented_control(
            "Attention that MFU counts",
            COUNTS,
            default=COUNTS[0],
            required=True,
            format_func=lambda count: SHORT_WORDS[count],
            key="bottleneck.count",
            **_KEPT,
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label, hint = ("MFU, %", "35") if kind == _KINDS[0] else ("Tokens a second, all GPUs", "the estimate above")
        key = f"bottleneck.typed.{kind}"
        st.number_input(label, value=None, placeholder=hint, format="%g", key=key, width=220, **_KEPT)
        st.number_input("Reported HFU, %", value=REPORTED, format="%g", key="bottleneck.reported", width=160, **_KEPT)
        if accelerator.peak_dtypes:
            half = accelerator.half_dtype or accelerator.peak_dtypes[0]
            st.selectbox(
                "Dense peak of",
                accelerator.peak_dtypes,
                index=accelerator.peak_dtypes.index(half),
                key=f"bottleneck.dtype.{accelerator.id}",
                width=140,
                **_KEPT,
            )


def peak_dtype(accelerator: Accelerator) -> str | None:
    """The format whose dense peak shares are of; None where no peak is confirmed."""
    value: str | None = _held(f"dtype.{accelerator.id}", accelerator.half_dtype)
    return value


def counted_run(scenario: Scenario) -> Utilization | Problem:
    """The run counted every way, or why what was typed is no use."""
    kind, dtype = _held("kind", _KINDS[0]), peak_dtype(scenario.accelerator)
    found = known_of(
        kind,
        _held(f"typed.{kind}", None),
        _held("count", COUNTS[0]),
        estimate=verdicts(scenario, profile_choice.active())[0].tokens_per_s,
        has_peak=dtype is not None,
    )
    if isinstance(found, Problem):
        return found
    return percent_problem("reported_hfu", _held("reported", REPORTED)) or counted(scenario.training, found, dtype)


def reported_share() -> float:
    """The HFU to explain. [-]"""
    return share_of(_held("reported", REPORTED))


def _held(name: str, default: Any) -> Any:
    value = st.session_state.get(f"bottleneck.{name}")
    return default if value is None else value
