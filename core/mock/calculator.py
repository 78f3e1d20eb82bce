"""The calculator of a mock session: what its mirrored controls hold, as a scenario, and what core says of it.

The room keeps only values that somebody set; everything else stands where the app starts, but for what a pack asks for
(``NOT_GIVEN_AWAY``). Links are those that the accelerator usually comes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.cards.draw import Variant
from core.cards.expressions import ExpressionError, names_in
from core.cards.models import Question
from core.cards.scene import scenario_of
from core.constraints import Problem
from core.display import short, show_bytes, show_percent, show_seconds
from core.hardware import load_accelerators
from core.inference import estimate as serve
from core.links import links_of
from core.model_spec import load_models
from core.scenario import FIELDS, Scenario, ScenarioError, build, field_values, with_model
from core.scenario_link import default_scenario
from core.training import estimate as train

MODEL, ACCELERATOR = "model", "accelerator"
TRAINING = (
    "data_parallel",
    "tensor_parallel",
    "pipeline_parallel",
    "zero_stage",
    "micro_batch_size",
    "num_micro_batches",
    "seq_len",
    "recompute",
)
SERVING = ("serving_tensor_parallel", "weight_dtype", "kv_dtype", "context_len", "batch", "memory_fraction")
Value = bool | float | str
# The app starts with a layout that fits: which one does is the first question of several packs.
NOT_GIVEN_AWAY: Mapping[str, Value] = {"zero_stage": 0, "recompute": "none"}


@dataclass(frozen=True, slots=True)
class Tile:
    """One result: what it is, its value, and what it assumes or belongs to."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """The tiles of one side, and sentences that say what does not fit or cannot be computed."""

    tiles: tuple[Tile, ...]
    problems: tuple[str, ...] = ()


def scenario_from(values: Mapping[str, Value]) -> Scenario:
    """The scenario that a room's calculator shows.

    Args:
        values: catalog ids under ``model`` and ``accelerator``, and fields of a scenario; others are passed over.

    Raises:
        ScenarioError: an id that the catalog does not have, or values that do not fit together.
    """
    model_id, gpu_id = values.get(MODEL), values.get(ACCELERATOR)
    scenario = default_scenario()
    if model_id is not None:
        if (model := load_models().get(str(model_id))) is None:
            raise _unknown(MODEL, model_id)
        scenario, _ = with_model(scenario, model)
    accelerator, links = scenario.accelerator, (scenario.scale_up, scenario.scale_out)
    if gpu_id is not None and gpu_id != accelerator.id:
        if (found := load_accelerators().get(str(gpu_id))) is None:
            raise _unknown(ACCELERATOR, gpu_id)
        accelerator, own = found, links_of(found)
        links = (own.scale_up, own.scale_out)
    fields = {field: value for field, value in values.items() if field in FIELDS}
    return build(scenario.model, accelerator, *links, field_values(scenario) | dict(NOT_GIVEN_AWAY) | fields)


def values_of(scenario: Scenario) -> dict[str, Value]:
    """What the controls show for a scenario; pasted models and edited hardware have no id to show."""
    values = field_values(scenario)
    shown: dict[str, Value] = {MODEL: scenario.model.id, ACCELERATOR: scenario.accelerator.id}
    return shown | {field: _plain(values[field]) for field in (*TRAINING, *SERVING)}


def shown_values(values: Mapping[str, Value]) -> dict[str, Value]:
    """What the controls show for a room's values, whether or not they fit together.

    With another model, degrees that nobody set are those that it can take.
    """
    ids = {name: values[name] for name in (MODEL, ACCELERATOR) if name in values}
    try:
        start = scenario_from(ids)
    except ScenarioError:
        start = default_scenario()
    return values_of(start) | {field: value for field, value in values.items() if field in (*TRAINING, *SERVING)} | ids


def twist_values(after: Variant, twist_id: str) -> dict[str, Value]:
    """The controls that a twist of a card moves: those fields of its scene that follow from what it sets alone.

    A field that the card computes from more stays where it is, since it may be what the candidate is asked for.

    Args:
        after: the card's numbers with the twist applied.
    """
    model, scene = after.card.model, after.card.model.scene
    if scene is None or not isinstance(model, Question):
        return {}
    changed = next((twist.set for twist in model.twists if twist.id == twist_id), {})
    sources = {**scene.training, **scene.serving}
    told = {field for field, source in sources.items() if isinstance(source, str) and _follows(source, changed)}
    told |= {ACCELERATOR} if scene.accelerator in changed else set()
    try:
        scenario = scenario_of(after)
    except (ScenarioError, ExpressionError, KeyError):
        return {}
    return {field: value for field, value in values_of(scenario).items() if field in told} if scenario else {}


def _follows(source: str, changed: Mapping[str, object]) -> bool:
    names = names_in(source)
    return bool(names) and names <= changed.keys()


def training_results(scenario: Scenario, unit: str = "GB") -> Results:
    """Memory, time and utilization of a training step, as estimates."""
    run = scenario.training
    try:
        report = train(run, scale_up=scenario.scale_up, scale_out=scenario.scale_out)
    except ValueError as error:
        return Results((), (str(error),))
    peak, has = float(report.memory.peak_bytes.max()), float(run.accelerator.hbm_bytes)
    split = report.time_split
    largest = max(split, key=lambda part: split[part])
    tiles = (
        Tile("GPUs", f"{run.num_gpus:,}", f"{run.gpus_per_replica:,} for one replica"),
        Tile("memory of the fullest GPU", show_bytes(peak, unit), f"of {show_bytes(has, unit)}"),
        Tile("step time, estimate", show_seconds(report.step_s), f"floor {show_seconds(report.floor_s)}"),
        Tile("tokens a second, estimate", short(report.tokens_per_s), "all GPUs together"),
        Tile("MFU", show_percent(report.mfu), f"HFU {show_percent(report.hfu)}, causal attention counted"),
        Tile("longest part of the step", largest, show_percent(split[largest] / report.step_s)),
    )
    return Results(tiles, tuple(problem.sentence for problem in report.problems))


def serving_results(scenario: Scenario, unit: str = "GB") -> Results:
    """Memory, batch and times of a deployment; a floor says so, everything else in time is an estimate."""
    run = scenario.serving
    try:
        report = serve(run)
    except ValueError as error:
        return Results((), (str(error),))
    memory, each = report.memory, f"on each of {report.num_gpus:,} GPUs"
    tiles = [
        Tile("weights", show_bytes(float(memory.weight_bytes), unit), each),
        Tile("one request's cache", show_bytes(float(memory.sequence_bytes), unit), each),
        Tile("largest batch", f"{report.max_batch:,}", f"at {run.context_len:,} tokens each"),
        Tile("decode step, floor", show_seconds(report.decode_floor_s), f"{run.batch:,} requests"),
    ]
    if report.fits:
        tiles += [
            Tile("decode step, estimate", show_seconds(report.decode_step_s), "one token for each request"),
            Tile("tokens a second, estimate", short(report.tokens_per_s), "all requests together"),
            Tile("prefill, estimate", show_seconds(report.prefill_s), f"one prompt of {run.context_len:,} tokens"),
        ]
    return Results(tuple(tiles), tuple(problem.sentence for problem in report.problems))


def _plain(value: object) -> Value:
    return value if isinstance(value, bool | str) else float(str(value))


def _unknown(field: str, value: object) -> ScenarioError:
    return ScenarioError([Problem(field, value, "the catalog does not have it", "Choose one from the list.")])
