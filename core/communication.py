"""What step 3 shows of a training scenario: bytes and time on the links by axis, over GPUs; how the run scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypedDict

import numpy as np

from core.axis_traffic import AXES, Axis, model_flows
from core.checks import Floats
from core.collective_table import MeasuredCollective
from core.constraints import feasible
from core.data_traffic import data_flows
from core.efficiency import Efficiency
from core.flow_time import is_measured, seconds, timed
from core.hardware import Link
from core.layout import Layout
from core.links import Links, links_of
from core.measured_profile import Profile
from core.measured_training import MeasuredRates, measured_rates
from core.partition import positions
from core.scenario import Scenario, TrainingScenario
from core.training import interconnect_of
from core.training_sweep import scaling_curve, sweep

MOST_GPUS = 16_384
RANKS = tuple(2**k for k in range(15))
MICRO_BATCH = ("forward", "backward", "again")  # moments that come back with each micro-batch


class Measured(TypedDict, total=False):
    """What a profile puts in the place of stated efficiencies."""

    efficiency: Efficiency
    tables: tuple[MeasuredCollective, ...]


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers that a person compares before and after a change. Times are estimates, None without a peak."""

    sent_bytes: float  # by one GPU, all axes [bytes]
    on_links_s: float  # communication, hidden or not [s]
    exposed_s: float | None
    bubble_s: float | None
    step_s: float | None
    mfu: float | None

    @property
    def exposed_share(self) -> float | None:
        """Exposed communication over the step. [-]"""
        return self.exposed_s / self.step_s if self.exposed_s is not None and self.step_s else None

    def against(self, pinned: Headline) -> Difference:
        """How far these numbers lie above pinned ones."""
        return Difference(
            sent_bytes=self.sent_bytes - pinned.sent_bytes,
            on_links_s=self.on_links_s - pinned.on_links_s,
            exposed_s=_less(self.exposed_s, pinned.exposed_s),
            step_s=_less(self.step_s, pinned.step_s),
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """One headline less another; None where one of them is unknown."""

    sent_bytes: float
    on_links_s: float
    exposed_s: float | None
    step_s: float | None


@dataclass(frozen=True, slots=True, eq=False)
class AxisSweep:
    """Bytes and times of a step by axis, one entry a position of the GPU slider. Times are estimates."""

    data_parallel: tuple[int, ...]
    num_gpus: tuple[int, ...]
    axes: tuple[Axis, ...]  # those that the layout uses
    sent_bytes: Mapping[Axis, Floats]  # by a GPU of the stage that sends most [bytes]
    exposed_s: Mapping[Axis, Floats]  # without a peak all of the time on the links, since nothing is known to hide it
    hidden_s: Mapping[Axis, Floats]
    work_s: Floats | None  # kernels and the optimizer; None: the accelerator has no confirmed peak to estimate with
    bubble_s: Floats | None
    step_s: Floats | None
    mfu: Floats | None

    def headline(self, index: int) -> Headline:
        """One position."""

        def total(parts: Mapping[Axis, Floats]) -> float:
            return sum(float(parts[axis][index]) for axis in AXES)

        known = self.step_s is not None
        return Headline(
            sent_bytes=total(self.sent_bytes),
            on_links_s=total(self.exposed_s) + total(self.hidden_s),
            exposed_s=total(self.exposed_s) if known else None,
            bubble_s=_at(self.bubble_s, index),
            step_s=_at(self.step_s, index),
            mfu=_at(self.mfu, index),
        )

    def busiest(self, index: int) -> Axis | None:
        """The axis that sends most; None where nothing is sent."""
        axis = max(AXES, key=lambda name: float(self.sent_bytes[name][index]))
        return axis if self.sent_bytes[axis][index] > 0 else None


@dataclass(frozen=True, slots=True)
class Curve:
    """One way to scale: how much of the peak is used on more and more GPUs."""

    num_gpus: tuple[int, ...]
    mfu: tuple[float, ...]
    of_first: tuple[float, ...]  # tokens per second and GPU, over those of the first point
    fits: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Strong: the batch stays, so each rank gets less of it. Weak: each rank keeps its part, so the batch grows."""

    strong: Curve
    weak: Curve
    own_gpus: int


def has_peak(scenario: Scenario) -> bool:
    """Whether the accelerator has a confirmed peak in a 16-bit format, without which no step time can be estimated."""
    return scenario.accelerator.half_dtype is not None


def links(scenario: Scenario) -> Links:
    """The scenario's links and the GPUs of a node."""
    return links_of(scenario.accelerator, scale_up=scenario.scale_up, scale_out=scenario.scale_out)


def rates_of(scenario: Scenario, profile: Profile | None) -> MeasuredRates | None:
    """What the times take from a measured profile; None: stated efficiencies, also where no peak is confirmed."""
    if profile is None or not has_peak(scenario):
        return None
    anywhere = scenario.training.model_copy(update={"data_parallel": 1, "num_micro_batches": 1})
    return _rates(profile, anywhere, scenario.scale_up)


@lru_cache(maxsize=64)
def _rates(profile: Profile, run: TrainingScenario, up: Link) -> MeasuredRates:
    return measured_rates(profile, run, scale_up=up)


@lru_cache(maxsize=128)
def over_gpus(scenario: Scenario, profile: Profile | None = None) -> AxisSweep:
    """Every axis at every position of the GPU slider, in one call; more GPUs are more data-parallel ranks.

    Args:
        scenario: the layout and its links.
        profile: measured kernels and collectives that times come from; None: stated efficiencies.

    Kept for the next call: moving the slider changes neither the positions nor what stands at them.
    """
    run = scenario.training
    each = run.gpus_per_replica
    standard = tuple(n for n in RANKS if n * each <= MOST_GPUS)
    ranks = np.array(positions(standard, run.data_parallel))
    can_run = feasible(run.model, run.layout | {"data_parallel": ranks}) & np.ones(ranks.shape, dtype=np.bool_)
    anywhere = run.model_copy(update={"data_parallel": 1})
    rates = rates_of(scenario, profile)
    return _over_gpus(anywhere, scenario.scale_up, scenario.scale_out, tuple(ranks[can_run].tolist()), rates)


@lru_cache(maxsize=128)
def _over_gpus(
    run: TrainingScenario, up: Link, out: Link, ranks: tuple[int, ...], rates: MeasuredRates | None
) -> AxisSweep:
    gpus = tuple(n * run.gpus_per_replica for n in ranks)
    column, axes = np.array(ranks), _axes_in_use(run)
    if run.accelerator.half_dtype is None:
        sent, on_links = _on_links(run, up, out, column)
        nothing = dict.fromkeys(AXES, np.zeros(len(ranks)))
        return AxisSweep(ranks, gpus, axes, sent, on_links, nothing, None, None, None, None)
    rows = sweep(run, scale_up=up, scale_out=out, data_parallel=column, **options_of(rates))
    return AxisSweep(
        ranks,
        gpus,
        axes,
        rows.time.sent_bytes,
        rows.time.exposed_s,
        rows.time.hidden_s,
        rows.time.compute_s + rows.time.bandwidth_s,
        rows.time.bubble_s,
        rows.time.step_s,
        rows.mfu,
    )


def options_of(rates: MeasuredRates | None) -> Measured:
    """As :func:`core.training.estimate` and its sweeps take them; nothing without a profile."""
    return {} if rates is None else {"efficiency": rates.efficiency, "tables": rates.tables}


def _axes_in_use(run: TrainingScenario) -> tuple[Axis, ...]:
    return tuple(axis for axis in AXES if axis == "data" or run.layout[f"{axis}_parallel"] > 1)


def _on_links(
    run: TrainingScenario, up: Link, out: Link, ranks: Floats
) -> tuple[dict[Axis, Floats], dict[Axis, Floats]]:
    """Bytes and time by axis on the stage where each is most; needs the links and no peak. [bytes], [s]"""
    layout = Layout.of(**(run.layout | {"data_parallel": ranks}))
    joined, rates = links_of(run.accelerator, scale_up=up, scale_out=out), Efficiency.of(run.accelerator)
    flows = (*model_flows(run.model, layout), *data_flows(run.model, layout))
    calls = timed(flows, layout.groups(joined.gpus_per_node), interconnect_of(joined, rates))
    wide = (len(ranks), layout.pipeline_parallel)

    def most(values: Floats) -> Floats:
        return np.asarray(np.broadcast_to(values, wide).max(axis=-1))

    zero: Floats = np.zeros(())
    sent = {axis: most(sum((f.sent_bytes for f in flows if f.axis == axis), zero)) for axis in AXES}
    times = {
        axis: most(
            layout.num_micro_batches * seconds(calls, axis=axis, when=MICRO_BATCH)
            + seconds(calls, axis=axis, when=("step",))
        )
        for axis in AXES
    }
    return sent, times


def measured_axes(scenario: Scenario, profile: Profile | None) -> tuple[Axis, ...]:
    """Axes of which some collective's time is a measured one: inside a node, of a measured op, size and GPU count."""
    rates, layout = rates_of(scenario, profile), Layout.of(**scenario.training.layout)
    if rates is None:
        return ()
    model, joined = scenario.training.model, links(scenario)
    between = interconnect_of(joined, rates.efficiency, rates.tables)
    groups = layout.groups(joined.gpus_per_node)
    flows = (*model_flows(model, layout), *data_flows(model, layout))
    found = {flow.axis for flow in flows if is_measured(flow, groups, between).any()}
    return tuple(axis for axis in AXES if axis in found)


def headline_of(scenario: Scenario, profile: Profile | None = None) -> Headline:
    """The scenario's own numbers; profile as in :func:`over_gpus`."""
    here = over_gpus(scenario, profile)
    return here.headline(here.data_parallel.index(scenario.training.data_parallel))


def scaling(scenario: Scenario, profile: Profile | None = None) -> Scaling | None:
    """MFU over GPUs, strong and weak, one call each; None without a peak. Profile as in :func:`over_gpus`."""
    if not has_peak(scenario):
        return None
    return _scaling(scenario.training, scenario.scale_up, scenario.scale_out, rates_of(scenario, profile))


@lru_cache(maxsize=64)
def _scaling(run: TrainingScenario, up: Link, out: Link, rates: MeasuredRates | None) -> Scaling:
    each, batches = run.gpus_per_replica, run.data_parallel * run.num_micro_batches
    divisors = [n for n in range(1, MOST_GPUS + 1) if batches % n == 0]
    counts = {"strong": divisors, "weak": [*RANKS, run.data_parallel]}

    def curve(mode: Literal["strong", "weak"]) -> Curve:
        ranks = {n for n in counts[mode] if n * each <= MOST_GPUS} | {run.data_parallel}
        gpus = np.array(sorted(ranks)) * each
        rows = scaling_curve(run, gpus, mode=mode, scale_up=up, scale_out=out, **options_of(rates))
        can, rate = rows.can_run, rows.tokens_per_s / rows.num_gpus
        return Curve(
            tuple(rows.num_gpus[can].astype(int).tolist()),
            tuple(rows.mfu[can].tolist()),
            tuple((rate[can] / rate[can][0]).tolist()),
            tuple(rows.fits[can].tolist()),
        )

    return Scaling(curve("strong"), curve("weak"), run.num_gpus)


def _at(values: Floats | None, index: int) -> float | None:
    return None if values is None else float(values[index])


def _less(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other
