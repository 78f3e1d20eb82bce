"""Which of the four limits binds a scenario, in training and in serving, and how far each of the others is from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core import inference, training
from core.constraints import length_note
from core.hardware import Link
from core.measured_profile import Profile
from core.measured_training import measured_training
from core.memory import training_memory
from core.scenario import Scenario, ServingScenario, TrainingScenario
from core.serving_messages import GPUS_OF_A_NODE, Fabric

LIMITS: tuple[training.Limit, ...] = ("capacity", "compute", "communication", "bandwidth")


@dataclass(frozen=True, slots=True)
class Pressure:
    """How near one limit is to binding."""

    limit: str
    share: float  # 1 binds; a capacity above 1 does not fit; NaN where it is not known
    value: float  # bytes needed, or seconds; NaN where it is not known
    whole: float  # bytes there are, or the longest of the times

    @property
    def room(self) -> float:
        """How many times as much it takes until this limit binds too. [-]"""
        return 1 / self.share if self.share > 0 else np.inf


@dataclass(frozen=True, slots=True)
class Verdict:
    """One part of a scenario."""

    of: str  # "training" or "serving"
    limit: str  # what binds
    pressures: tuple[Pressure, ...]  # in the order of LIMITS
    step_s: float  # estimate of an optimizer or a decode step, if it fitted; NaN where there is none
    tokens_per_s: float  # estimate; NaN where there is none
    runs: bool  # whether neither memory nor a limit of the model forbids it
    notes: tuple[str, ...]  # what the numbers assume

    @property
    def complete(self) -> bool:
        """Whether all four limits are known."""
        return all(np.isfinite(pressure.share) for pressure in self.pressures)

    @property
    def next(self) -> Pressure:
        """The limit that binds after this one."""
        others = [pressure for pressure in self.pressures if pressure.limit != self.limit]
        return max(others, key=lambda pressure: -1.0 if np.isnan(pressure.share) else pressure.share)


def verdicts(scenario: Scenario, profile: Profile | None = None) -> tuple[Verdict, Verdict]:
    """Training and serving; kept, since a change of one leaves the other as it was.

    Args:
        scenario: what is judged.
        profile: measured kernels that estimates come from; None: stated efficiencies.
    """
    return (
        training_verdict(scenario.training, scenario.scale_up, scenario.scale_out, profile),
        serving_verdict(scenario.serving, scenario.scale_up, scenario.scale_out, profile),
    )


@lru_cache(maxsize=128)
def training_verdict(run: TrainingScenario, scale_up: Link, scale_out: Link, profile: Profile | None = None) -> Verdict:
    """What binds the optimizer step: memory first, else what its estimated time goes to."""
    hbm = float(run.accelerator.hbm_bytes)
    try:
        report, more = _training_report(run, scale_up, scale_out, profile)
    except ValueError as error:  # no confirmed peak, so no time
        need = float(training_memory(run.model, **run.layout).peak_bytes.max())
        over = need > hbm
        unknown = tuple(Pressure(limit, np.nan, np.nan, np.nan) for limit in LIMITS[1:])
        return Verdict(
            "training",
            "capacity" if over else "unknown",
            (Pressure("capacity", need / hbm, need, hbm), *unknown),
            np.nan,
            np.nan,
            not over,
            (f"{error}.", *([beyond] if (beyond := length_note(run.model, run.seq_len)) else [])),
        )
    times = {limit: float(seconds) for limit, seconds in report.time.by_limit().items()}
    longest = max(times.values())
    capacity = Pressure("capacity", report.pressure["capacity"], report.pressure["capacity"] * hbm, hbm)
    return Verdict(
        "training",
        report.limit,
        (capacity, *(Pressure(limit, report.pressure[limit], times[limit], longest) for limit in LIMITS[1:])),
        report.step_s,
        report.tokens_per_s,
        not report.problems,
        (*report.notes, *more),
    )


def _training_report(
    run: TrainingScenario, scale_up: Link, scale_out: Link, profile: Profile | None
) -> tuple[training.TrainingReport, tuple[str, ...]]:
    """The report, and what a profile says of itself."""
    if profile is None:
        return training.estimate(run, scale_up=scale_up, scale_out=scale_out), ()
    measured = measured_training(profile, run, scale_up=scale_up, scale_out=scale_out)
    return measured.report, (f"Estimates from measured kernels of {profile.name}.", *measured.notes)


@lru_cache(maxsize=256)
def serving_verdict(
    scenario: ServingScenario, scale_up: Link, scale_out: Link, profile: Profile | None = None
) -> Verdict:
    """What binds a decode step: memory that the engine may take, else the longest of its estimated times."""
    nodes = scenario.accelerator.scale_up_domain or GPUS_OF_A_NODE
    report = inference.estimate(scenario, fabric=Fabric(scale_up, scale_out, nodes), profile=profile)
    times = {
        "compute": float(report.estimate.compute_s),
        "communication": float(report.estimate.communication_s),
        "bandwidth": float(report.estimate.bandwidth_s),
    }
    longest = max(seconds for seconds in times.values() if np.isfinite(seconds))
    need, budget = float(report.memory.total_bytes), float(report.memory.budget_bytes)
    return Verdict(
        "serving",
        report.limit,
        (
            Pressure("capacity", report.shares["capacity"], need, budget),
            *(Pressure(limit, report.shares[limit], times[limit], longest) for limit in LIMITS[1:]),
        ),
        float(report.estimate.sequential_s),
        scenario.batch / float(report.estimate.sequential_s),
        not report.problems,
        report.notes,
    )
