"""What a card file may hold, as pydantic models; they also emit the JSON Schema for editors.

A parameter declares its unit. Texts and ``check`` expressions read it in that unit; the core receives it in base units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from core.cards.expressions import FUNCTIONS, ExpressionError, names_in
from core.cards.problems import short
from core.cards.quantities import UnitError, unit

ACCELERATOR = "accelerator"  # the unit of a parameter whose choices are accelerators of the catalog
MAX_PARAMS = 24  # a card with more is not drawn in the time that a page has
MAX_COMPUTED = 60
MAX_LABEL = 64  # characters
MAX_ROWS = 12
MAX_STEPS = 10_000
ACCELERATOR_NAMES = {"tf": "TFLOP/s", "hbm": "GB/s", "cap": "GB", "nvl": "GB/s"}  # what such a parameter brings along


def _expression(text: str) -> str:
    try:
        names_in(text)
    except ExpressionError as error:
        raise ValueError(str(error)) from None
    return text


def _known_unit(text: str) -> str:
    try:
        unit(text)
    except UnitError as error:
        raise ValueError(str(error)) from None
    return text


Level = Literal["mid", "senior", "staff"]
Topic = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=1200, strip_whitespace=True)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=400, strip_whitespace=True)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Keys = Annotated[tuple[Key, ...], Field(max_length=24)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,31}$")]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=400), AfterValidator(_expression)]
UnitText = Annotated[str, StringConstraints(max_length=40), AfterValidator(_known_unit)]
Mark = Literal[1, 2, 3, 4]  # on a ladder of observable behaviour
Competency = Literal["measurement", "quantitative", "breadth", "judgement", "communication", "verification"]


class Strict(BaseModel):
    """Frozen, refuses a field that it does not know, and numbers that are none (.nan, .inf)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Misplaced(ValueError):
    """A rule that is broken deeper than where it is checked: ``at`` leads there from the checked field."""

    def __init__(self, rule: str, *at: str | int) -> None:
        super().__init__(rule)
        self.at = at


def _names_taken(params: Mapping[str, Parameter]) -> set[str]:
    """Names that expressions give another meaning: functions, the answer, what an accelerator brings along."""
    drawn = any(parameter.unit == ACCELERATOR for parameter in params.values())
    return {*FUNCTIONS, "answer", *(ACCELERATOR_NAMES if drawn else ())}


class Parameter(Strict):
    """One drawn value: from ``choices``, or from a range with its ends in steps."""

    unit: UnitText
    choices: Annotated[tuple[float | str, ...], Field(min_length=1, max_length=200)] | None = None
    range: tuple[float, float] | None = None
    step: float = Field(default=1.0, gt=0)

    @model_validator(mode="after")
    def _one_way_to_draw(self) -> Parameter:
        if (self.choices is None) == (self.range is None):
            raise ValueError("give choices or range, one of the two")
        if self.range is not None:
            low, high = self.range
            if not 0 < (high - low) / self.step <= MAX_STEPS:
                raise ValueError(
                    f"a range rises in 1 to {MAX_STEPS:,} steps, not from {low:g} to {high:g} by {self.step:g}"
                )
        words = [choice for choice in self.choices or () if isinstance(choice, str)]
        if self.unit == ACCELERATOR:
            if len(words) != len(self.choices or ()):
                raise ValueError("the choices of an accelerator are ids of the catalog, like h100-sxm")
        elif words:
            raise ValueError(f"choices in {self.unit or 'a plain number'} are numbers, not {words[0]!r}")
        return self


class Computed(Strict):
    """A number that the core computes and the author works out a second time.

    ``core`` names a function as ``topic.function`` of ``core.whiteboard``; ``args`` are expressions over the parameters
    in base units; ``check`` is over the parameters in their own units and gives the number in ``unit``. ``label`` says
    what it is, in words for a reader who does not know the card's names.
    """

    core: Annotated[str, StringConstraints(pattern=r"^[a-z_]+\.[a-z0-9_]+$")] | None = None
    args: dict[Name, Expression] = Field(default_factory=dict, max_length=16)
    check: Expression
    unit: UnitText = ""
    digits: int = Field(default=4, ge=1, le=9)
    label: str = Field(default="", max_length=MAX_LABEL)

    @model_validator(mode="after")
    def _args_need_core(self) -> Computed:
        if self.core is None and self.args:
            raise ValueError("args are for a core function, and core is null")
        return self


class DrillAnswer(Computed):
    """A drill's truth with how far from it an answer may lie; the core always computes it."""

    rtol: float = Field(default=0.03, gt=0, le=0.5)
    atol: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _core_is_there(self) -> DrillAnswer:
        if self.core is None:
            raise ValueError("the answer of a drill is computed by the core: name a function")
        return self


class KnownSlip(Strict):
    """A wrong answer that people give, and what to say to it."""

    expr: Expression
    say: Line


class Scene(Strict):
    """Values of the shared scenario that a card's numbers set: field to expression, model and accelerator by id."""

    model: str | None = None
    accelerator: str | None = None
    training: dict[Name, StrictBool | float | Expression] = Field(default_factory=dict, max_length=40)
    serving: dict[Name, StrictBool | float | Expression] = Field(default_factory=dict, max_length=40)


class CardModel(Strict):
    """What every card file says first."""

    id: Annotated[str, StringConstraints(pattern=r"^[qd]-[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Line
    topic: Topic
    step: int = Field(ge=0, le=5)
    level: Level
    sources: Keys = Field(min_length=1)
    prerequisites: Keys = ()
    params: dict[Name, Parameter] = Field(max_length=MAX_PARAMS)
    defaults: dict[Name, float | str] = Field(max_length=MAX_PARAMS)
    require: Expression = "1 == 1"
    scene: Scene | None = None

    @field_validator("params")
    @classmethod
    def _names_are_free(cls, params: dict[str, Parameter]) -> dict[str, Parameter]:
        for taken in sorted(_names_taken(params) & params.keys()):
            raise Misplaced(f"{taken} means something else in expressions: choose another name", taken)
        accelerators = [name for name, parameter in params.items() if parameter.unit == ACCELERATOR]
        if len(accelerators) > 1:
            raise Misplaced("at most one parameter is an accelerator", accelerators[1])
        return params

    @field_validator("defaults")
    @classmethod
    def _defaults_can_be_drawn(cls, defaults: dict[str, float | str], info: ValidationInfo) -> dict[str, float | str]:
        if (params := info.data.get("params")) is None:
            return defaults  # the parameters have findings of their own
        if odd := sorted(params.keys() ^ defaults.keys()):
            raise ValueError(f"defaults and params differ in {', '.join(odd)}: give each parameter one default")
        for name, value in defaults.items():
            if reason := _not_drawn(params[name], value):
                raise Misplaced(f"{short(value)} {reason}", name)
        return defaults


class Drill(CardModel):
    """``drill/1``: one number to work out."""

    schema_: Literal["drill/1"] = Field(alias="schema")
    seconds: int = Field(default=90, ge=15, le=600)
    answer: DrillAnswer
    golden: float
    partial: tuple[KnownSlip, ...] = Field(default=(), max_length=12)


class RubricItem(Strict):
    """One observable behaviour with four levels."""

    id: Name
    competency: Competency
    weight: float = Field(default=1, gt=0, le=5)
    observe: Line
    levels: dict[Mark, Line]

    @field_validator("levels")
    @classmethod
    def _four_levels(cls, levels: dict[int, str]) -> dict[int, str]:
        if set(levels) != {1, 2, 3, 4}:
            raise ValueError(f"a rubric item has the levels 1, 2, 3 and 4, this one has {sorted(levels)}")
        return levels


class Clarification(Strict):
    """A question that a candidate may ask, the reply, and what asking it says about them."""

    ask: Line
    give: Line
    signal: Literal["ok", "strong"] = "ok"


class Hint(Strict):
    """One rung of the ladder and what it costs on the scorecard."""

    cost: float = Field(gt=0, le=3)
    text: Line


class TradeOff(Strict):
    """An option, what it gains and costs, and when to use it."""

    option: Line
    gains: Line
    costs: Line
    use_when: Line


class Twist(Strict):
    """A change of facts: ``set`` gives parameters new values, as expressions over the old ones."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    say: Line
    set: dict[Name, float | Expression] = Field(default_factory=dict)
    expect: Text


class Question(CardModel):
    """``question/1``: an open card with its rubric."""

    schema_: Literal["question/1"] = Field(alias="schema")
    kind: Literal["design", "diagnose", "explain", "numeric", "critique"]
    minutes: int = Field(ge=3, le=60)
    compute: dict[Name, Computed] = Field(max_length=MAX_COMPUTED)
    golden: dict[Name, float] = Field(max_length=MAX_COMPUTED)
    rubric: tuple[RubricItem, ...] = Field(min_length=3, max_length=8)
    clarify: tuple[Clarification, ...] = Field(min_length=3, max_length=MAX_ROWS)
    hints: tuple[Hint, ...] = Field(min_length=3, max_length=MAX_ROWS)
    tradeoffs: tuple[TradeOff, ...] = Field(min_length=3, max_length=MAX_ROWS)
    twists: tuple[Twist, ...] = Field(min_length=2, max_length=MAX_ROWS)
    stress: tuple[Line, ...] = Field(min_length=2, max_length=MAX_ROWS)
    followups: Keys = ()
    related_mcq: Keys = ()

    @property
    def seconds(self) -> int:
        """The time that it should take, as other cards state it. [s]"""
        return 60 * self.minutes

    @field_validator("compute")
    @classmethod
    def _names_are_computed_once(cls, compute: dict[str, Computed], info: ValidationInfo) -> dict[str, Computed]:
        params = info.data.get("params") or {}
        for name in compute:
            if name in params:
                raise Misplaced(f"{name} is a parameter and computed: choose another name", name)
            if name in _names_taken(params):
                raise Misplaced(f"{name} means something else in expressions: choose another name", name)
        return compute

    @field_validator("golden")
    @classmethod
    def _golden_for_each(cls, golden: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        if (compute := info.data.get("compute")) is not None and (odd := sorted(compute.keys() ^ golden.keys())):
            raise ValueError(f"compute and golden differ in {', '.join(odd)}: pin each computed number once")
        return golden

    @field_validator("rubric", "twists")
    @classmethod
    def _ids_differ(cls, rows: tuple[RubricItem | Twist, ...]) -> tuple[RubricItem | Twist, ...]:
        if repeat := repeated(row.id for row in rows):
            at, row_id = repeat
            raise Misplaced(f"{row_id} stands twice", at, "id")
        return rows

    @field_validator("hints")
    @classmethod
    def _costs_ascend(cls, hints: tuple[Hint, ...]) -> tuple[Hint, ...]:
        for at, (before, hint) in enumerate(pairwise(hints), start=1):
            if hint.cost < before.cost:
                raise Misplaced(f"the costs of hints ascend, and {hint.cost:g} follows {before.cost:g}", at, "cost")
        return hints


class Source(Strict):
    """What cards may cite, and the claim that was checked against it."""

    title: Line
    url: Annotated[str, StringConstraints(pattern=r"^https://\S+$", max_length=300)]
    year: int = Field(ge=1950, le=2100)
    kind: Literal["paper", "datasheet", "docs", "book", "report", "code", "article", "standard"]
    supports: Text


class TopicEntry(Strict):
    """A topic of the bank: its name, its main step, the pages where it is at home and the core modules behind it."""

    title: Line
    about: Line
    steps: tuple[int, ...]
    page: Annotated[str, StringConstraints(pattern=r"^[a-z_]+$")]
    modules: tuple[str, ...]


class CompetencyEntry(Strict):
    """A ladder shared by all rubrics, and the level that each seniority is expected to reach."""

    title: Line
    levels: dict[Mark, Line]
    expected: dict[Level, Mark]


def repeated(values: Iterable[str]) -> tuple[int, str] | None:
    """Position and value of the first one that stood before."""
    seen: set[str] = set()
    for at, value in enumerate(values):
        if value in seen:
            return at, value
        seen.add(value)
    return None


def _not_drawn(parameter: Parameter, value: float | str) -> str | None:
    """Why a default is none of the values that a parameter may take."""
    if parameter.choices is not None and value not in parameter.choices:
        return f"is not among its choices: {', '.join(map(str, parameter.choices[:8]))}"
    if parameter.range is not None:
        low, high = parameter.range
        if isinstance(value, str):
            return "is no number"
        if not low <= value <= high:
            return f"lies outside {low:g} to {high:g}"
    return None
