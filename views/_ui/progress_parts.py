"""Parts of the progress page: calibration's numbers, the history, and the plan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.cards.competence import FEWEST_MARKS, standings
from core.progress import recording
from core.progress.calibration import ALWAYS_HALF, Calibration, error_in_words
from core.progress.document import Attempt, Progress, active_attempts
from views._ui import bank, learner
from views._ui.step_page import data_table

SHOWN = 20
_FIELDS = ("new_per_day", "cap", "retention", "interview_date", "show_streak")


def numbers(result: Calibration) -> list[dict[str, str]]:
    """Accuracy, Brier score and its parts, each with what it means."""
    return [
        _row("accuracy", f"{result.accuracy:.0%} of {result.answers}", "share of answers that were right"),
        _row("mean confidence", f"{result.mean_confidence:.0%}", _gap(result.gap_points)),
        _row("Brier score", f"{result.brier:.3f}", f"0 is perfect; always saying 50% gives {ALWAYS_HALF}"),
        _row("reliability", f"{result.reliability:.3f}", "how far confidence lies from the share right; 0 is perfect"),
        _row("resolution", f"{result.resolution:.3f}", "how well confidence tells right from wrong; more is better"),
        _row("uncertainty", f"{result.uncertainty:.3f}", "the Brier score of always stating your average"),
    ]


def _row(name: str, value: str, meaning: str) -> dict[str, str]:
    return {"number": name, "value": value, "meaning": meaning}


def _gap(points: float) -> str:
    side = "overconfident" if points > 0 else "underconfident"
    return f"{abs(points):.0f} points {side}"


def history(progress: Progress, error: float | None) -> None:
    """The last answers, and how far off numbers are."""
    st.header("History", anchor=False)
    attempts = active_attempts(progress)
    if not attempts:
        st.markdown("Nothing yet.")
        return
    if error is not None:
        st.markdown(f"{error_in_words(error)} Aim for 2 when you estimate and 1.1 in the interview.")
    cards, zone = bank.cards(), learner.now().tzinfo
    with st.expander(f"The last {min(len(attempts), SHOWN)} of {len(attempts):,} answers", icon=":material/history:"):
        data_table(
            st.empty(),
            [
                {
                    "when": attempt.at.astimezone(zone).strftime("%Y-%m-%d %H:%M"),
                    "card": cards[attempt.card_id].title if attempt.card_id in cards else attempt.card_id,
                    "result": _result(attempt.correct, attempt.dont_know),
                    "sure": "" if attempt.confidence is None else f"{attempt.confidence}%",
                    "mode": attempt.mode,
                }
                for attempt in reversed(attempts[-SHOWN:])
            ],
        )


def _result(correct: bool | None, dont_know: bool) -> str:
    if dont_know:
        return "not known"
    return "self-marked" if correct is None else "right" if correct else "missed"


def plan_settings() -> None:
    """How many cards per day, and the date of the interview."""
    settings = learner.progress().settings
    with st.expander("Plan: cards per day, interview date", icon=":material/event:"), st.form("progress.plan"):
        with st.container(horizontal=True):
            st.number_input("New cards per day", 0, 100, settings.new_per_day, key="plan.new_per_day", width=160)
            st.number_input("Reviews per day, at most", 1, 500, settings.cap, key="plan.cap", width=180)
            st.slider(
                "Target recall", 0.70, 0.99, settings.retention, 0.01, format="percent", key="plan.retention", width=220
            )
        st.date_input("Interview date", settings.interview_date, key="plan.interview_date", width=220)
        st.toggle("Show my streak of days", settings.show_streak, key="plan.show_streak")
        st.form_submit_button("Save the plan", on_click=_keep_plan)


def _keep_plan() -> None:
    changes = {field: st.session_state.get(f"plan.{field}") for field in _FIELDS}
    learner.edit(partial(recording.change_settings, at=learner.now(), **changes))


def competencies(attempts: Sequence[Attempt]) -> None:
    """The six ladders: own marks of open questions against what a seniority is expected to show."""
    st.header("Six competencies", anchor=False)
    marked = [(attempt.card_id, attempt.scores) for attempt in attempts if attempt.scores]
    if not marked:
        st.markdown(
            "Mark your own answers to open questions, and see here how they compare with mid, senior and staff level."
        )
        return
    found = standings(marked, bank.cards(), bank.shipped().competencies)
    staff = sum(standing.reached == "staff" for standing in found)
    st.markdown(f"The staff bar is reached in **{staff} of {len(found)}**. Marks are your own, so be strict.")
    data_table(
        st.empty(),
        [
            {
                "competency": standing.title,
                "mean of your last marks": "" if standing.mean is None else f"{standing.mean:.1f} of 4",
                "marks": str(standing.marks),
                "bar reached": standing.reached or ("too few marks" if standing.marks < FEWEST_MARKS else "below mid"),
            }
            for standing in found
        ],
    )
