"""Derivations of the headline numbers of step 3: bytes and time by axis, what is exposed, the bubble, the step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.axis_traffic import AXES, Axis, model_flows
from core.collectives import bytes_per_rank
from core.communication import links, measured_axes, options_of, rates_of
from core.communication_questions import FEW, MANY, RingQuestion, ring_bytes
from core.data_traffic import data_flows
from core.efficiency import Efficiency
from core.flow_time import TimedFlow, is_measured, timed
from core.layout import Layout
from core.measured_profile import Profile
from core.measured_training import MeasuredRates
from core.parallelism import pipeline_bubble, schedule_bubble
from core.pipeline_drawing import PipelineDrawing
from core.scenario import Scenario
from core.training import TrainingReport, estimate, interconnect_of
from core.training_working import axis_working, bubble_working, mfu_working, step_working
from core.working import Term, Working, number, product


def axis_workings(scenario: Scenario, profile: Profile | None = None) -> Iterator[Working]:
    """What each axis sends and how long that takes; with a peak also what is exposed, and the step.

    Args:
        scenario: the layout and its links.
        profile: measured kernels and collectives that times come from; None: stated efficiencies.
    """
    if scenario.accelerator.half_dtype is None:
        yield from (links_working(scenario, axis) for axis in _axes(scenario))
        return
    rates = rates_of(scenario, profile)
    measured = options_of(rates)
    report = estimate(scenario.training, scale_up=scenario.scale_up, scale_out=scenario.scale_out, **measured)
    for axis in _axes(scenario):
        yield axis_working(report, axis)
        yield links_working(scenario, axis, stage=int(report.time.slowest_stage), profile=profile)
    if _sends(scenario):
        yield exposed_working(report)
    yield (
        step_working(report) if rates is None or profile is None else _on_profile(step_working(report), rates, profile)
    )
    yield mfu_working(report)


def _on_profile(working: Working, rates: MeasuredRates, profile: Profile) -> Working:
    """With whose kernels its shares are, and what of them was read otherwise than as it stands."""
    source = f"shares of products and attention, and the memory's rate: {profile.citation}; others: core.efficiency"
    return replace(working, assumptions=(*working.assumptions, *rates.notes), source=source)


def pipeline_workings(drawing: PipelineDrawing, place: int) -> Iterator[Working]:
    """The idle share of a drawn schedule at one position: of the whole step, and over the ideal time."""
    stages, virtual_stages, m = drawing.stages, drawing.virtual_stages, drawing.micro_batches[place]
    if drawing.kind == "zb-h1":
        yield zero_bubble_working(stages, m)
        return
    yield bubble_working(stages, m, virtual_stages=virtual_stages)
    ideal = float(pipeline_bubble(stages, m, virtual_stages=virtual_stages).of_ideal)
    yield Working(
        name="Pipeline bubble, over the ideal time",
        formula="(p - 1) / (v m)",
        terms=(
            Term("idle time", f"({number(stages)} - 1) / ({product(virtual_stages, m)})", ideal, "of the ideal time"),
        ),
        value=ideal,
        unit="of the ideal time",
        assumptions=("p equal stages, m micro-batches, v chunks of layers a stage; sending takes no time",),
        source="Narayanan et al. 2021, arXiv:2104.04473, section 2.2",
    )


def zero_bubble_working(stages: int, micro_batches: int) -> Working:
    """Idle over ideal time when each pass takes one unit: forward, the input's gradient, the weights' gradient."""
    value = float(schedule_bubble("zb-h1", stages, micro_batches).of_ideal)
    p, m, filled = number(stages), number(micro_batches), number(min(stages, micro_batches))
    return Working(
        name="Pipeline bubble of the zero-bubble schedule, over the ideal time",
        formula="((p - 1) (f + b - w) - (min(p, m) - 1) w) / (m (f + b))",
        terms=(
            Term(
                "idle time", f"(({p} - 1) × (1 + 2 - 1) - ({filled} - 1) × 1) / ({m} × 3)", value, "of the ideal time"
            ),
        ),
        value=value,
        unit="of the ideal time",
        assumptions=(
            "forward pass f = 1, backward pass b = 2, of which the weights' gradient w = 1 is put off",
            "of the whole step it is this over itself and 1",
        ),
        source="Qi et al. 2024, arXiv:2401.10241, table 1: schedule ZB-H1",
    )


def ring_workings(scenario: Scenario) -> Iterator[Working]:
    """What one GPU sends in a ring all-reduce of the gradients, over few ranks and over many."""
    ring: RingQuestion = ring_bytes(scenario.training)
    for ranks in (FEW, MANY):
        value = float(bytes_per_rank("all_reduce", ring.gradient_bytes, ranks))
        share = f"({number(ranks)} - 1) / {number(ranks)}"
        yield Working(
            name=f"Ring all-reduce of the gradients over {ranks} GPUs, sent by each",
            formula="2 × gradients × (n - 1) / n",
            terms=(
                Term("reduce-scatter, then all-gather", f"2 × {product(ring.gradient_bytes, share)}", value, "bytes"),
            ),
            value=value,
            unit="bytes",
            assumptions=("gradients of one whole copy of the model, in the recipe's format",),
            source="Thakur, Rabenseifner and Gropp 2005, Optimization of Collective Communication Operations in MPICH",
        )


def links_working(
    scenario: Scenario, axis: Axis, *, stage: int | None = None, profile: Profile | None = None
) -> Working:
    """Estimated time of an axis on its links in a step, hidden or not.

    Args:
        scenario: the layout and its links.
        axis: which one.
        stage: the pipeline stage; None: the one where it takes longest.
        profile: as in :func:`axis_workings`.
    """
    run = scenario.training
    layout, joined = Layout.of(**run.layout), links(scenario)
    flows = (*model_flows(run.model, layout), *data_flows(run.model, layout))
    rates = rates_of(scenario, profile)
    stated = Efficiency.of(run.accelerator)
    between = interconnect_of(joined, stated) if rates is None else interconnect_of(joined, stated, rates.tables)
    groups = layout.groups(joined.gpus_per_node)
    calls = timed(flows, groups, between)
    own = [call for call in calls if call.flow.axis == axis]
    wide = (layout.pipeline_parallel,)

    def each(call: TimedFlow) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.broadcast_to(call.each_s * call.flow.micro_batches, wide).reshape(-1)

    by_stage = np.asarray(sum((each(call) for call in own), np.zeros(wide)))
    here = int(np.argmax(by_stage)) if stage is None else stage

    def on_stage(values: object) -> float:
        return float(np.broadcast_to(np.asarray(values, dtype=np.float64), wide)[here])

    def term(call: TimedFlow) -> Term:
        flow = call.flow
        times, batches, one = on_stage(flow.calls), on_stage(flow.micro_batches), on_stage(call.call_s)
        when = {"again": "recomputation", "step": "once a step"}.get(flow.when, flow.when)
        size = f"{number(on_stage(flow.num_bytes))} bytes over {number(on_stage(flow.ranks))} GPUs"
        read = ", as measured" if on_stage(is_measured(flow, groups, between)) else ""
        label = f"{flow.what}, {flow.op.replace('_', '-')} of {size}, {when}{read}"
        return Term(label, product(times, batches, one), float(each(call)[here]), "s")

    return Working(
        name=f"{axis.capitalize()}-parallel time on the links, a step",
        formula="Σ calls × micro-batches × time of one call",
        terms=tuple(term(call) for call in own if on_stage(call.flow.calls) > 0 and on_stage(call.flow.ranks) > 1),
        value=float(by_stage[here]),
        unit="s",
        assumptions=(
            f"an estimate, on a GPU of stage {here + 1} of {layout.pipeline_parallel}",
            "a call takes a start, a latency for each message that waits, and its bytes over the rate that is reached",
        ),
        source="the latency-bandwidth model of NCCL's own tuner; rates: core.collective_time"
        + (f"; calls as measured: {profile.citation}" if profile and axis in measured_axes(scenario, profile) else ""),
    )


def exposed_working(report: TrainingReport) -> Working:
    """What of the communication nothing hides, axis by axis."""
    exposed = {axis: float(report.time.exposed_s[axis]) for axis in AXES}
    hidden = {axis: float(report.time.hidden_s[axis]) for axis in AXES}
    return Working(
        name="Exposed communication of one step",
        formula="Σ over the axes of time on the links - time hidden behind work",
        terms=tuple(
            Term(
                f"{axis} parallel",
                f"({number(exposed[axis] + hidden[axis])} - {number(hidden[axis])})",
                exposed[axis],
                "s",
            )
            for axis in AXES
            if exposed[axis] or hidden[axis]
        ),
        value=sum(exposed.values()),
        unit="s",
        assumptions=(
            "on the slowest stage; of a pipeline also one message at each boundary while it fills and drains",
            "data parallelism on the stage where most of it shows",
        ),
        source="what may hide behind what: core.exposure, core.efficiency",
    )


def _sends(scenario: Scenario) -> bool:
    """Whether any axis has more than one GPU."""
    return next(_axes(scenario), None) is not None


def _axes(scenario: Scenario) -> Iterator[Axis]:
    run = scenario.training
    for axis in AXES:
        shared = run.context_parallel > 1 if axis == "data" else False
        if run.layout[f"{axis}_parallel"] > 1 or shared:
            yield axis
