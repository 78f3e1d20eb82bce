"""Derivations of a training report's headline numbers: bytes on the wire, bubble, time of a step, utilization."""

from __future__ import annotations

import numpy as np

from core.axis_traffic import AXES, Axis, Flow, model_flows
from core.checks import one_of
from core.collectives import bytes_per_rank
from core.data_traffic import data_flows
from core.layout import Layout
from core.parallelism import pipeline_bubble
from core.stage_work import stage_work
from core.step_time import required_flops_per_token
from core.training import TrainingReport, peaks_of
from core.working import Term, Working, number, product

# A rank's share of the whole tensor in symbols, and with n put in; see core.collectives.bytes_per_rank.
_SHARE = {
    "all_reduce": "2 × ({n} - 1) / {n}",
    "all_gather": "({n} - 1) / {n}",
    "reduce_scatter": "({n} - 1) / {n}",
    "all_to_all": "({n} - 1) / {n} / {n}",
    "send": "1",
}


def axis_working(report: TrainingReport, axis: Axis) -> Working:
    """What one GPU of the busiest stage sends along one axis in a step."""
    one_of("axis", axis, AXES)
    run = report.scenario
    layout = Layout.of(**run.layout)
    flows = [f for f in (*model_flows(run.model, layout), *data_flows(run.model, layout)) if f.axis == axis]
    by_stage = np.atleast_1d(sum((flow.sent_bytes for flow in flows), np.zeros(layout.pipeline_parallel)))
    stage = int(np.argmax(by_stage))

    def on_stage(values: object) -> float:
        return float(np.broadcast_to(np.asarray(values, dtype=np.float64), (layout.pipeline_parallel,))[stage])

    def term(flow: Flow) -> Term:
        n, size = on_stage(flow.ranks), on_stage(flow.num_bytes)
        calls, times = on_stage(flow.calls), on_stage(flow.micro_batches)
        value = calls * times * float(bytes_per_rank(flow.op, size, n))
        factors = product(calls, times, size) + " × " + _SHARE[flow.op].format(n=number(n))
        when = {"again": "recomputation", "step": "once a step"}.get(flow.when, flow.when)
        return Term(f"{flow.what}, {flow.op.replace('_', '-')}, {when}", factors, value, "bytes")

    return Working(
        name=f"{axis.capitalize()}-parallel traffic of one GPU and step",
        formula="Σ calls × micro-batches × size × share sent",
        terms=tuple(term(flow) for flow in flows if on_stage(flow.calls) > 0 and on_stage(flow.ranks) > 1),
        value=float(by_stage[stage]),
        unit="bytes",
        assumptions=(
            f"a GPU of stage {stage + 1} of {layout.pipeline_parallel}, the one that sends most",
            "sizes are those of the whole tensor of one call; bytes sent, as many are received",
        ),
        source="Thakur, Rabenseifner and Gropp 2005 (shares sent); of each flow: core.axis_traffic, core.data_traffic",
    )


def bubble_working(stages: int, micro_batches: int, *, virtual_stages: int = 1) -> Working:
    """The idle share of a pipeline under 1F1B, interleaved or not, as a share of the whole time."""
    p, m, v = stages, micro_batches, virtual_stages
    return Working(
        name="Pipeline bubble, share of the whole step",
        formula="(p - 1) / (v m + p - 1)",
        terms=(
            Term(
                "idle share",
                f"({number(p)} - 1) / ({product(v, m)} + {number(p)} - 1)",
                float(pipeline_bubble(p, m, virtual_stages=v).of_total),
                "of the step",
            ),
        ),
        value=float(pipeline_bubble(p, m, virtual_stages=v).of_total),
        unit="of the step",
        assumptions=(
            "p equal stages, m micro-batches, v chunks of layers a stage; sending takes no time",
            f"over ideal time, as papers write it, it is ({number(p)} - 1) / ({product(v, m)})",
        ),
        source="Narayanan et al. 2021, arXiv:2104.04473, section 2.2",
    )


def step_working(report: TrainingReport) -> Working:
    """The estimated time of one step, part by part; work with its FLOPs put in."""
    run, rates = report.scenario, report.efficiency
    layout = Layout.of(**run.layout)
    work, stage = stage_work(run.model, layout), int(report.time.slowest_stage)
    peak = peaks_of(run.accelerator, report.matrix_dtype)
    times = 2 if report.trains_all else 1
    matrix = float((1 + times) * work.matrix_flops[stage] + work.again_matrix_flops[stage])
    mixing = float(3 * work.mixing_flops[stage] + work.again_mixing_flops[stage])
    moved = float(
        (rates.forward_passes + rates.backward_passes) * work.moved_bytes[stage]
        + rates.forward_passes * work.again_bytes[stage]
    )
    m = run.num_micro_batches

    def rate(amount: float, top: float, share: float) -> str:
        return f"{product(m, amount)} / ({product(top, rates.job_share, share)})"

    formulas = {
        "matrices": rate(matrix, peak.matrix_flops_per_s, rates.matmul_share),
        "attention": rate(mixing, peak.mixing_flops_per_s, rates.attention_share),
        "memory traffic": rate(moved, peak.bytes_per_s, rates.bandwidth_share),
    }
    why = {
        "matrices": "FLOPs of a micro-batch, forward, backward and recomputed, over what of the peak is reached",
        "attention": "the same for scores and values",
        "memory traffic": "bytes between the matrices, over what of the memory's rate is reached",
        "bubble": "one micro-batch on each other stage, over the chunks of a stage",
        "optimizer": "states read and written once",
    }
    parts = {name: float(seconds) for name, seconds in report.time.parts().items()}
    return Working(
        name="Estimated time of one step",
        formula="matrices + attention + memory traffic + exposed communication + bubble + optimizer",
        terms=tuple(
            Term(name, formulas.get(name, number(seconds)), seconds, "s", why.get(name, "what nothing hides"))
            for name, seconds in parts.items()
            if seconds > 0
        ),
        value=report.step_s,
        unit="s",
        assumptions=(
            f"an estimate, on a GPU of stage {stage + 1} of {layout.pipeline_parallel}, the slowest",
            "no stragglers, data loading, checkpoints or uneven routing",
        ),
        source="shares and their sources: core.efficiency",
    )


def mfu_working(report: TrainingReport) -> Working:
    """Model FLOPs utilization: what the mathematics needs, over what all GPUs could do meanwhile."""
    run = report.scenario
    needed = float(required_flops_per_token(run.model, run.seq_len, recipe=run.recipe, causal=report.causal))
    peak = peaks_of(run.accelerator, None).mixing_flops_per_s
    return Working(
        name="Model FLOPs utilization",
        formula="tokens per second × FLOPs per token / (GPUs × peak)",
        terms=(
            Term(
                "MFU",
                f"{product(report.tokens_per_s, needed)} / ({product(run.num_gpus, peak)})",
                report.mfu,
                "of the peak",
            ),
        ),
        value=report.mfu,
        unit="of the peak",
        assumptions=(
            "attention that the mask hides is " + ("not counted" if report.causal else "counted, as in older papers"),
            "recomputed FLOPs are not counted; dense peak",
        ),
        source="Chowdhery et al. 2022, arXiv:2204.02311, section 4.1",
    )
