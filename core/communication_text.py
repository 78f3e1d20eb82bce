"""The words of step 3: numbers that its text quotes, rows of its tables, links and assumptions as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from core.axis_traffic import Axis
from core.collective_time import reached_bytes_per_s
from core.communication import AxisSweep, Headline, headline_of, links, measured_axes, over_gpus, rates_of
from core.communication_questions import CHUNKS, FEW, MANY, MICRO_BATCHES, STAGES, BubbleQuestion, RingQuestion
from core.display import show_bytes, show_difference, show_percent, show_rate, show_seconds
from core.efficiency import REASONS, Efficiency
from core.hardware import Link
from core.measured_profile import Profile
from core.measured_training import MeasuredRates
from core.parallelism import pipeline_bubble
from core.placement import AxisGroup, axis_groups
from core.rank_places import rank_picture
from core.scenario import Scenario, TrainingScenario

_NOTES_SHOWN = 2  # the derivation has them all

SENDS: dict[Axis, str] = {
    "tensor": "hidden states, in every layer",
    "context": "keys and values, in every layer of attention",
    "expert": "tokens to their experts and back",
    "pipeline": "hidden states between stages",
    "data": "gradients, and weights where they are sharded",
}


def limit_numbers(scenario: Scenario, unit: str, ring: RingQuestion) -> dict[str, str]:
    """What the section "Limit" and the first question quote: model and links, but no result."""
    joined = links(scenario)
    return {
        "model": scenario.model.name,
        "gradients": show_bytes(ring.gradient_bytes, unit),
        "few": f"{FEW}",
        "many": f"{MANY}",
        "node": f"{joined.gpus_per_node:,}",
        "up": joined.scale_up.name,
        "up_rate": show_rate(joined.scale_up.bytes_per_s, "B"),
        "out": joined.scale_out.name,
        "out_rate": show_rate(joined.scale_out.bytes_per_s, "B"),
    }


def ring_numbers(ring: RingQuestion, unit: str) -> dict[str, str]:
    """What the first answer quotes."""
    return {
        "few_bytes": show_bytes(ring.few_bytes, unit),
        "many_bytes": show_bytes(ring.many_bytes, unit),
        "few_messages": f"{ring.few_messages:,}",
        "many_messages": f"{ring.many_messages:,}",
    }


def bubble_numbers(bubble: BubbleQuestion) -> dict[str, str]:
    """What the second question and its answer quote; the question names none of the results."""
    return {
        "stages": f"{STAGES}",
        "batches": f"{MICRO_BATCHES}",
        "chunks": f"{CHUNKS}",
        "idle": f"{bubble.percent:.1f}%",
        "ideal": f"{bubble.of_ideal_percent:.1f}%",
        "interleaved": f"{bubble.interleaved_percent:.1f}%",
    }


def links_in_words(scenario: Scenario) -> str:
    """Both links, raw and as the estimate plans with them, and what the catalog does not know."""
    joined, rates = links(scenario), Efficiency.of(scenario.accelerator)

    def rate(link: Link, ranks: int) -> str:
        reached = float(reached_bytes_per_s(link, ranks, efficiency=rates.link))
        return f"{link.name}, {show_rate(link.bytes_per_s, 'B')} one way, {show_rate(reached, 'B')} reached"

    assumed = "".join(f" Assumed: {sentence}" for sentence in joined.assumed)
    return (
        f"Inside {joined.gpus_per_node:,} GPUs: {rate(joined.scale_up, joined.gpus_per_node)}. "
        f"Between them, a port a GPU: {rate(joined.scale_out, 2)}.{assumed}"
    )


def assumptions_in_words(scenario: Scenario, profile: Profile | None = None) -> str:
    """What the estimate takes for granted, and what of it was measured.

    Args:
        scenario: the layout and its links.
        profile: measured kernels and collectives that times come from; None: stated efficiencies.
    """
    measured = rates_of(scenario, profile)
    if profile is not None and measured is not None:
        return _measured_in_words(scenario, profile, measured)
    rates = Efficiency.of(scenario.accelerator)
    if scenario.accelerator.half_dtype is None:
        return (
            f"No 16-bit peak of {scenario.accelerator.name} is confirmed, so the time of the work is unknown, and with "
            "it how much of the communication hides. Bytes and times on the links hold without it."
        )
    return (
        f"Estimates: matrices at {show_percent(rates.matmul_share)} of the dense 16-bit peak, all kernels "
        f"{show_percent(rates.job_share)} of that in a large job; MFU counts causal attention. Traffic hides as far as "
        "its axis allows and there is work to hide behind. No stragglers, no uneven routing."
    )


def _measured_in_words(scenario: Scenario, profile: Profile, rates: MeasuredRates) -> str:
    """Shares that were measured, collectives that were, and what stays stated."""
    said = [
        f"{name} at {show_percent(share)}"
        for name, share in (("matrices", rates.matmul_share), ("attention", rates.attention_share))
        if share is not None
    ]
    shares = f"{' and '.join(said)} of the dense 16-bit peak" if said else "no product and no attention of this layout"
    axes = measured_axes(scenario, profile)
    collectives = f" Collectives of {_listed(axes)} parallelism inside a node are measured ones." if axes else ""
    notes = "".join(f" {note}" for note in rates.notes[:_NOTES_SHOWN])
    return (
        f"Estimates from measured kernels of {profile.name}: {shares}.{collectives}{notes} Stated: all kernels "
        f"{show_percent(rates.efficiency.job_share)} of that in a large job; other traffic at the rates above, hidden "
        "as far as its axis allows and there is work to hide behind. No stragglers, no uneven routing."
    )


def _listed(words: Sequence[str]) -> str:
    return " and ".join(", ".join(words).rsplit(", ", 1))


def uneven_note(scenario: Scenario) -> str:
    """A warning where groups and nodes do not line up; empty where they do."""
    joined = links(scenario)
    if not rank_picture(scenario.training, joined.gpus_per_node).uneven:
        return ""
    return (
        f"Groups and nodes of {joined.gpus_per_node:,} GPUs do not line up, so the worst-placed group sets the pace: "
        "its ports are few. Degrees that divide the node, or a part of each node left free, avoid that."
    )


def axis_table(sweep: AxisSweep, scenario: Scenario, unit: str, pinned: Headline | None) -> list[dict[str, str]]:
    """For each axis in use: what it sends, over which links, for how long, and why it hides or not."""
    run, joined = scenario.training, links(scenario)
    index = sweep.data_parallel.index(run.data_parallel)
    placed = _groups(run, joined.gpus_per_node)
    rows = []
    for axis in sweep.axes:
        exposed, hidden = (float(part[axis][index]) for part in (sweep.exposed_s, sweep.hidden_s))
        group = placed["replicas" if axis == "data" else axis]
        times = (
            {"exposed": show_time(exposed), "hidden": show_time(hidden)}
            if sweep.step_s is not None
            else {"on the links": show_seconds(exposed)}
        )
        rows.append(
            {
                "axis": f"{axis} parallel",
                "sends": SENDS[axis],
                "group": _group_in_words(group),
                "a GPU sends, a step": show_bytes(float(sweep.sent_bytes[axis][index]), unit),
            }
            | times
            | {"what hides it": _reason(axis, hidden)}
        )
    if pinned:
        gap = sweep.headline(index).against(pinned)
        empty = dict.fromkeys(rows[0], "")
        rows.append(
            empty
            | {
                "axis": "all, against pinned",
                "a GPU sends, a step": show_difference(gap.sent_bytes, unit),
                ("exposed" if sweep.step_s is not None else "on the links"): time_gap(
                    gap.exposed_s if sweep.step_s is not None else gap.on_links_s
                ),
            }
        )
    return rows


@lru_cache(maxsize=128)
def _groups(run: TrainingScenario, gpus_per_node: int) -> dict[str, AxisGroup]:
    """How each axis of a layout lies on nodes."""
    degrees = {name: run.layout[name] for name in run.layout if name.endswith("_parallel") and "sequence" not in name}
    return axis_groups(gpus_per_node=gpus_per_node, **degrees)


def _reason(axis: Axis, hidden: float) -> str:
    """Why the axis hides or not; of tensor parallelism one part does."""
    return f"{REASONS[axis]} {REASONS['tensor_regather']}" if axis == "tensor" and hidden else REASONS[axis]


def show_time(seconds: float) -> str:
    """A time, none as zero seconds."""
    return show_seconds(seconds) if seconds else "0 s"


def time_gap(seconds: float | None) -> str:
    """A signed difference of times."""
    if seconds is None:
        return "unknown"
    if abs(seconds) < 1e-9:
        return "no change"
    return f"{'+' if seconds > 0 else '-'}{show_seconds(abs(seconds))}"


def _group_in_words(group: AxisGroup) -> str:
    ranks, nodes = int(group.ranks), int(group.nodes)
    if ranks == 1:
        return "1 GPU"
    return f"{ranks:,} GPUs, " + ("inside one node" if group.inside else f"over {nodes:,} nodes")


def pipeline_note(scenario: Scenario, kind: str, drawn_chunks: int) -> str:
    """What the drawing of the schedule shows, where that is not the scenario as it stands."""
    run = scenario.training
    notes = []
    if run.pipeline_parallel == 1:
        notes.append(f"This scenario has one stage, so nothing waits; drawn is an example of {STAGES}.")
    if kind == "interleaved" and run.virtual_stages == 1:
        notes.append(
            f"Drawn with {drawn_chunks} chunks a stage; the scenario has one, set Virtual stages to change it."
        )
    if kind == "interleaved" and run.pipeline_parallel > 1 and run.num_micro_batches % run.pipeline_parallel:
        notes.append(
            f"It runs micro-batches in rounds of {run.pipeline_parallel:,}; {run.num_micro_batches:,} do not divide "
            "into them, so the slider stands at the nearest that do."
        )
    notes.append(
        "A backward pass takes twice as long as a forward pass here, stages are equal, and sending takes no time."
    )
    return " ".join(notes)


def said_numbers(scenario: Scenario, unit: str, profile: Profile | None = None) -> dict[str, str]:
    """What the section "Say it" quotes: what is sent, where it goes, how much of it shows."""
    here, run = headline_of(scenario, profile), scenario.training
    sweep = over_gpus(scenario, profile)
    busiest = sweep.busiest(sweep.data_parallel.index(run.data_parallel))
    if busiest is None:
        traffic = "One GPU sends nothing, so communication is no limit here."
    else:
        traffic = f"Each GPU sends {show_bytes(here.sent_bytes, unit)} a step, most of it {busiest} parallel."
    return {
        "traffic": traffic,
        "node": f"{links(scenario).gpus_per_node:,}",
        "exposed": _exposed_in_words(here),
        "bubble": _bubble_in_words(run.pipeline_parallel, run.num_micro_batches, run.virtual_stages),
    }


def _exposed_in_words(here: Headline) -> str:
    if here.step_s is None or here.exposed_s is None:
        return (
            f"On the links that takes {show_seconds(here.on_links_s)}; without a confirmed peak I cannot say what hides"
        )
    if not here.on_links_s:
        return f"I estimate a step of {show_seconds(here.step_s)}, all of it work"
    if not here.exposed_s:
        return f"I estimate that all of it hides in a step of {show_seconds(here.step_s)}"
    return (
        f"I estimate {show_seconds(here.exposed_s)} exposed in a step of {show_seconds(here.step_s)},"
        f" {show_percent(here.exposed_share or 0.0)}"
    )


def _bubble_in_words(stages: int, micro_batches: int, virtual_stages: int) -> str:
    if stages == 1:
        return "There is no pipeline, so no bubble."
    idle = float(pipeline_bubble(stages, micro_batches, virtual_stages=virtual_stages).of_total)
    chunks = f" in {virtual_stages} chunks each" if virtual_stages > 1 else ""
    return f"{stages:,} stages{chunks} with {micro_batches:,} micro-batches idle for {show_percent(idle)} of the step."


def layout_in_words(scenario: Scenario) -> str:
    """The scenario in a few words, to recognise a pinned one."""
    run = scenario.training
    degrees = {
        "tensor": run.tensor_parallel,
        "context": run.context_parallel,
        "expert": run.expert_parallel,
        "pipeline": run.pipeline_parallel,
    }
    split = "".join(f", {name} {degree}" for name, degree in degrees.items() if degree > 1)
    return (
        f"{scenario.model.name} on {run.num_gpus:,} x {scenario.accelerator.name}, ZeRO-{run.zero_stage}{split},"
        f" {run.num_micro_batches:,} micro-batch{'es' if run.num_micro_batches > 1 else ''}"
    )


# When it helps, what to do, what it gains and costs, how to confirm it.
FIXES = (
    {
        "when": "gradients wait until the backward pass is over",
        "do": "overlap: reduce each bucket while earlier layers still work",
        "gains": "hides up to all but the last bucket",
        "costs": "communication kernels take units and memory bandwidth from the work",
        "confirm by": "a trace: all-reduce beside backward kernels, one bucket left over",
    },
    {
        "when": "many small messages, time is latency",
        "do": "larger buckets",
        "gains": "fewer calls, each nearer to the link's rate",
        "costs": "a larger last bucket that nothing hides, and its memory",
        "confirm by": "bus bandwidth of the calls in a trace, by size",
    },
    {
        "when": "a group spans nodes",
        "do": "hierarchical collectives: inside the node, between nodes, inside again",
        "gains": "each port carries one share of the tensor, not all of it",
        "costs": "two more phases; nothing for a group with one GPU a node",
        "confirm by": "bytes on the network ports, before and after",
    },
    {
        "when": "tensor parallelism leaves the node",
        "do": "keep it inside, and put pipeline or data parallelism between nodes",
        "gains": "what nothing hides goes over the fastest link",
        "costs": "a bubble, or sharded states to gather",
        "confirm by": "exposed all-reduce per layer in a trace",
    },
    {
        "when": "tensor parallelism leaves activations whole",
        "do": "sequence parallelism",
        "gains": "memory: activations divided by the ranks",
        "costs": "the same volume, as reduce-scatter and all-gather, and one gather more in the backward pass",
        "confirm by": "peak memory; bytes in a trace stay the same",
    },
    {
        "when": "synchronising takes longer than one micro-batch works",
        "do": "gradient accumulation, synchronous as ever",
        "gains": "one all-reduce for all micro-batches, so fewer bytes a token",
        "costs": "a larger batch; nothing gained under ZeRO-2 and 3, which reduce each time",
        "confirm by": "no all-reduce between micro-batches in a trace",
    },
    {
        "when": "pipeline stages stand idle",
        "do": "more micro-batches, or an interleaved or zero-bubble schedule",
        "gains": "bubble divided by the chunks; zero-bubble fills it with gradients of weights",
        "costs": "activations kept longer; v chunks send v times as much between stages",
        "confirm by": "idle share of a stage's timeline",
    },
    {
        "when": "gradients are summed in fp32",
        "do": "send gradients in bf16; dispatch tokens to experts in fp8",
        "gains": "half of the bytes each",
        "costs": "rounding in the sums, scales to carry along",
        "confirm by": "bytes in a trace, and the loss against the run before",
    },
    {
        "when": "all-to-all between nodes shows",
        "do": "place experts so that a token visits few nodes; overlap two micro-batches",
        "gains": "less over the slow link, the rest behind work",
        "costs": "a constraint on routing; activations of two micro-batches",
        "confirm by": "exposed all-to-all in a trace, tokens by node",
    },
)
