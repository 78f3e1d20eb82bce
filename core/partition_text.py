"""The numbers that the words of step 2 quote, by the names that the text uses."""

from __future__ import annotations

from core.display import short, show_bytes, show_count, show_difference
from core.lora import named_recipe
from core.params import count_params
from core.partition import Headline, PartitionSweep, headline_of
from core.partition_questions import LargestQuestion, ShareQuestion
from core.scenario import TrainingScenario
from core.zero import largest_model


def limit_numbers(scenario: TrainingScenario, unit: str) -> dict[str, str]:
    """What the section "Limit" quotes: the model, the GPU and the recipe, but no result of sharding."""
    hbm = float(scenario.accelerator.hbm_bytes)
    recipe = named_recipe(scenario.model, scenario.recipe)
    params = count_params(scenario.model).total
    return {
        "bytes_per_param": f"{recipe.total_bytes:.4g}",
        "hbm": show_bytes(hbm, unit),
        "largest_copy": show_count(float(largest_model(hbm, 1, stage=0, optimizer=recipe))),
        "model": scenario.model.name,
        "params": show_count(params),
        "states": show_bytes(recipe.total_bytes * params, unit),
        "gpu": scenario.accelerator.name,
    }


def share_numbers(question: ShareQuestion, unit: str) -> dict[str, str]:
    """What the first answer quotes."""
    return {
        "copy": show_bytes(question.copy_bytes, unit),
        "left": show_bytes(question.left_bytes, unit),
        "times_less": f"{question.copy_bytes / question.left_bytes:.1f}",
    }


def largest_numbers(question: LargestQuestion, unit: str) -> dict[str, str]:
    """What the second answer quotes."""
    parts = {f"long_{part}": show_bytes(value, unit) for part, value in question.bytes_by_part.items()}
    return {"long": f"{question.seq_len:,}"} | parts


def said_numbers(scenario: TrainingScenario, unit: str) -> dict[str, str]:
    """What the section "Say it" quotes: the limit's numbers and the scenario's results."""
    here = headline_of(scenario)
    return limit_numbers(scenario, unit) | {
        "sharing": sharing_in_words(scenario, here, unit),
        "activations": show_bytes(here.activation_bytes, unit),
        "seq_len": f"{scenario.seq_len:,}",
        "recompute": {"none": "no", "selective": "selective", "full": "full"}[scenario.recompute],
        "moment": "the optimizer step" if here.peaks_in_step else "the backward pass",
        "peak": show_bytes(here.peak_bytes, unit),
        "verdict": "which fits" if here.fits else "which does not fit",
    }


def sharing_in_words(scenario: TrainingScenario, here: Headline, unit: str) -> str:
    """How a copy of the states comes apart: what splits the model, what data-parallel ranks share, and the price."""
    degrees = {
        "tensor": scenario.tensor_parallel,
        "pipeline": scenario.pipeline_parallel,
        "expert": scenario.expert_parallel,
    }
    split = ", ".join(f"{name} parallel {degree}" for name, degree in degrees.items() if degree > 1)
    first = f"I first split each copy: {split}. " if split else ""
    ranks, left = scenario.data_parallel * scenario.context_parallel, show_bytes(here.state_bytes, unit)
    if ranks == 1:
        return f"{first}With one data-parallel rank nothing is shared: {left} of states stay on each GPU."
    if scenario.zero_stage == 0:
        return f"{first}Copied to {ranks:,} data-parallel ranks, that is {left} of states on each GPU."
    return (
        f"{first}Over {ranks:,} data-parallel ranks, ZeRO-{scenario.zero_stage} leaves {left} of states on each GPU,"
        f" for {short(here.traffic_ratio)} times the traffic of plain data parallelism."
    )


# When it helps, what to do, what it gains and costs, how to confirm it.
FIXES = (
    {
        "when": "the optimizer's states alone overflow",
        "do": "ZeRO-1",
        "gains": "states shrink towards a quarter",
        "costs": "no extra traffic",
        "confirm by": "allocated memory after the first optimizer step",
    },
    {
        "when": "gradients overflow too",
        "do": "ZeRO-2",
        "gains": "towards an eighth",
        "costs": "no extra traffic on one micro-batch; with accumulation a reduction each micro-batch",
        "confirm by": "peak memory in the backward pass, buckets included",
    },
    {
        "when": "weights overflow too",
        "do": "ZeRO-3 or FSDP",
        "gains": "divided by the ranks",
        "costs": "half as much traffic again, with accumulation all of it each micro-batch; prefetching",
        "confirm by": "all-gathers in a trace: hidden behind compute, or exposed",
    },
    {
        "when": "one layer's activations overflow",
        "do": "tensor and sequence parallelism, or a smaller micro-batch",
        "gains": "activations divided by the ranks",
        "costs": "collectives in every layer: keep them inside a node",
        "confirm by": "peak memory, and the share of time in all-gather and reduce-scatter",
    },
    {
        "when": "activations of all layers overflow",
        "do": "recompute",
        "gains": "down to each layer's input",
        "costs": "up to a third more FLOPs: HFU rises, MFU does not",
        "confirm by": "peak memory, and step time against the run without it",
    },
)


def layout_in_words(scenario: TrainingScenario) -> str:
    """The scenario in a few words, to recognise a pinned one."""
    return (
        f"{scenario.model.name} on {scenario.num_gpus:,} x {scenario.accelerator.name}, ZeRO-{scenario.zero_stage},"
        f" {scenario.seq_len:,} tokens, {scenario.recompute} recompute"
    )


def stage_table(
    sweep: PartitionSweep, scenario: TrainingScenario, unit: str, baseline: Headline | None
) -> list[dict[str, str]]:
    """Steady and peak memory, the largest model and the traffic of each ZeRO stage on the scenario's GPUs."""
    index = sweep.data_parallel.index(scenario.data_parallel)
    rows = []
    for stage in range(4):
        row = sweep.headline(index, stage)
        rows.append(
            {
                "stage": f"ZeRO-{stage}" if stage else "no sharding",
                "steady": show_bytes(row.state_bytes, unit),
                "peak": show_bytes(row.peak_bytes, unit),
                "fits": "yes" if row.fits else f"{show_bytes(row.over_bytes, unit)} over",
                "largest model": f"{show_count(row.largest_params)} params",
                "sends a step": show_bytes(row.traffic_bytes, unit),
                "against plain": f"{short(row.traffic_ratio)} x" if row.traffic_ratio else "nothing sent",
            }
            | ({"peak against pinned": show_difference(row.against(baseline).peak_bytes, unit)} if baseline else {})
        )
    return rows
