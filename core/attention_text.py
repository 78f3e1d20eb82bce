"""The numbers that the words of step 4 quote, its tables, and what has to be said of a model or an accelerator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core.attention import Headline, headline_of, over_seq_len
from core.attention_cost import Chip
from core.attention_questions import TOKENS, RecomputeQuestion, ScoreQuestion
from core.attention_shapes import layer_shapes
from core.constraints import length_note
from core.display import digits, show_bytes, show_count, show_rate, show_seconds
from core.model_spec import ModelSpec
from core.scenario import ServingScenario, TrainingScenario
from core.units import KIB, MIB


def limit_numbers(scenario: TrainingScenario) -> dict[str, str]:
    """What the section "Limit" quotes: the model's heads and the accelerator's rate, but no result."""
    shapes = layer_shapes(scenario.model)
    return {
        "model": scenario.model.name,
        "gpu": scenario.accelerator.name,
        "shape": shapes[0].in_words if shapes else "no heads with a softmax",
        "rate": show_rate(scenario.accelerator.hbm_bytes_per_s, "B"),
    }


def score_numbers(question: ScoreQuestion, scenario: TrainingScenario, unit: str) -> dict[str, str]:
    """What the first question and answer quote."""
    shapes = layer_shapes(scenario.model)
    heads = shapes[0].heads if shapes else 0
    own = (
        f"A layer of {scenario.model.name} has {heads} such matri{'x' if heads == 1 else 'ces'} for each sequence."
        if shapes
        else f"{scenario.model.name} has none: it mixes tokens without a softmax over pairs."
    )
    return {
        "tokens": f"{TOKENS:,}",
        "size": show_bytes(question.size_bytes, unit),
        "traffic": show_bytes(question.traffic_bytes, unit),
        "own": own,
    }


def recompute_numbers(question: RecomputeQuestion, scenario: TrainingScenario, unit: str) -> dict[str, str]:
    """What the second question and answer quote."""
    dtype = scenario.accelerator.half_dtype
    bound = {
        "less time": "The chain waits for its bytes, and the tiled kernel has few.",
        "about as long": "This chip computes slowly for its bandwidth, so what the bytes save the products take.",
        "more time": "This chip has so much bandwidth for its arithmetic that the products are the limit either way.",
    }[question.truth]
    return {
        "model": scenario.model.name,
        "gpu": scenario.accelerator.name,
        "seq_len": f"{scenario.seq_len:,}",
        "flops": f"{show_count(question.tiled[0])} FLOP against {show_count(question.unfused[0])}",
        "more": f"{digits(question.flops_ratio)} times the FLOPs",
        "unfused_bytes": show_bytes(question.unfused[1], unit),
        "tiled_bytes": show_bytes(question.tiled[1], unit),
        "unfused_time": show_seconds(question.unfused[2]),
        "tiled_time": show_seconds(question.tiled[2]),
        "bound": bound,
        "peak": f"its dense {dtype} peak" if dtype else "memory alone, as no 16-bit peak is confirmed",
    }


def said_numbers(scenario: TrainingScenario, unit: str) -> dict[str, str]:
    """What the section "Say it" quotes."""
    sweep = over_seq_len(scenario)
    assert sweep is not None, "asked only of models with softmax attention"
    index = sweep.seq_len.index(scenario.seq_len)
    here = sweep.headline(index)
    unfused, tiled = sweep.both("unfused"), sweep.both("tiled")
    moved, least = show_bytes(here.tiled_bytes, unit), show_bytes(here.least_bytes, unit)
    return limit_numbers(scenario) | {
        "seq_len": f"{scenario.seq_len:,}",
        "unfused": show_bytes(here.unfused_bytes, unit),
        "tiled": moved if moved == least else f"between {least} and {moved}",
        "unfused_extra": show_bytes(here.unfused_extra_bytes, unit),
        "tiled_extra": show_bytes(here.tiled_extra_bytes, unit),
        "unfused_time": show_seconds(float(unfused.time_s[index])),
        "tiled_time": show_seconds(float(tiled.time_s[index])),
    }


def notes(scenario: TrainingScenario) -> Iterator[str]:
    """What has to be said of this scenario beside the picture, each in a sentence or two."""
    model, chip = scenario.model, Chip.of(scenario.accelerator)
    shapes = layer_shapes(model, scenario.tensor_parallel)
    if not shapes:
        yield no_attention(model)
        return
    if len(shapes) > 1 or shapes[0].layers < model.num_layers:
        kinds = "; ".join(f"{shape.layers} of {shape.kind} ({shape.in_words})" for shape in shapes)
        yield f"Of {model.num_layers} layers: {kinds}. The picture shows one of the first kind."
    if any(shape.picks for shape in shapes):
        yield (
            "Layers that pool or choose tokens are counted as if they read all of them: what they would cost without"
            " that. The kinds below show what they read."
        )
    if any(shape.window for shape in shapes):
        yield "The unfused chain computes what a window hides all the same; a tiled kernel skips those tiles."
    if beyond := length_note(model, scenario.seq_len):
        yield beyond
    if scenario.context_parallel > 1:
        yield (
            f"Context parallel {scenario.context_parallel} shares the queries, and with them nearly all of this, among"
            " its GPUs; shown is the whole sequence."
        )
    here = headline_of(scenario)
    if here is not None and here.tiled_bytes > here.unfused_bytes:
        yield (
            "Without help from caches, tiles would move more than the chain: heads are wide for"
            f" {digits(chip.sram_bytes / KIB)} KiB on the chip, and traffic grows with the width's square over that."
            " Caches, and kernels that keep outputs in registers, bring it down towards the dotted line."
        )
    if chip.flops_per_s is None:
        yield f"No 16-bit peak is confirmed for {scenario.accelerator.name}, so its times are those of memory alone."


def no_attention(model: ModelSpec) -> str:
    """For a model without softmax attention."""
    return (
        f"{model.name} mixes tokens without a softmax over pairs of them: it has no matrix of scores, and nothing to"
        " tile. Choose a model with attention to see the rest of this step."
    )


def overflow(here: Headline, unit: str) -> str | None:
    """Where the unfused scores of one layer exceed an empty GPU: by how much, and what cures it."""
    if not here.over_bytes:
        return None
    return (
        f"Unfused, the scores of one layer exceed an empty GPU by {show_bytes(here.over_bytes, unit)}. A tiled kernel"
        f" needs {show_bytes(here.tiled_extra_bytes, unit)}; else shorten the sequence, or split heads over more GPUs."
    )


def tile_note(scenario: TrainingScenario) -> str | None:
    """Where the catalog does not know how much a tile may fill."""
    if Chip.of(scenario.accelerator).sram_known:
        return None
    gpu = scenario.accelerator
    pad = f" It has {digits(gpu.scratchpad_bytes / MIB)} MiB of scratchpad in all." if gpu.scratchpad_bytes else ""
    return (
        f"The catalog has no shared memory per block for {gpu.name}.{pad} The line stands at the 192 KiB of an A100's"
        " multiprocessor, which the FlashAttention paper counts with."
    )


def scenario_in_words(scenario: TrainingScenario) -> str:
    """The scenario in a few words, to recognise a pinned one."""
    split = f", tensor parallel {scenario.tensor_parallel}" if scenario.tensor_parallel > 1 else ""
    return (
        f"{scenario.model.name} on {scenario.accelerator.name}, {scenario.seq_len:,} tokens,"
        f" micro-batch {scenario.micro_batch_size}{split}"
    )


def block_name(scenario: TrainingScenario) -> str:
    """What the line of on-chip memory belongs to."""
    return f"a block on {scenario.accelerator.name}" if Chip.of(scenario.accelerator).sram_known else "A100, the paper"


def kinds_note(scenario: ServingScenario) -> str:
    """What the table of kinds compares."""
    shape = layer_shapes(scenario.model)[0]
    return (
        f"One sequence of 32,768 tokens on the shape of {scenario.model.name}: {shape.heads} heads,"
        f" {shape.v_head_dim} wide, in every layer that mixes tokens; {scenario.kv_dtype} cache, fp32 states. Real"
        " models mix kinds: Gemma 3 has windows in five of six layers, Qwen3-Next linear attention in three of four."
    )


def amount_of(unit: str) -> Callable[[float], str]:
    """How an amount in the reader's unit is shown."""
    return lambda amount: f"{digits(amount)} {unit}"
