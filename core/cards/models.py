"""What a card file may hold, as pydantic models; they also emit the JSON Schema for editors.

A parameter declares its unit. Texts and ``check`` expressions read it in that unit; the core receives it in base units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from core.cards.expressions import FUNCTIONS, ExpressionError, names_in
from core.cards.quantities import UnitError, unit

ACCELERATOR = "accelerator"  # the unit of a parameter whose choices are accelerators of the catalog
ACCELERATOR_NAMES = {"tf": "TFLOP/s", "hbm": "GB/s", "cap": "GB", "nvl": "GB/s"}  # what such a parameter brings along

Level = Literal["mid", "senior", "staff"]
Topic = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=1200, strip_whitespace=True)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=400, strip_whitespace=True)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,31}$")]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=400)]
Competency = Literal["measurement", "quantitative", "breadth", "judgement", "communication", "verification"]


class Strict(BaseModel):
    """Frozen, and refuses a field that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _names_taken(params: Mapping[str, Parameter]) -> set[str]:
    """Names that expressions give another meaning: functions, the answer, what an accelerator brings along."""
    drawn = any(parameter.unit == ACCELERATOR for parameter in params.values())
    return {*FUNCTIONS, "answer", *(ACCELERATOR_NAMES if drawn else ())}


def _expression(text: str) -> str:
    try:
        names_in(text)
    except ExpressionError as error:
        raise ValueError(str(error)) from None
    return text


class Parameter(Strict):
    """One drawn value: from ``choices``, or from a range with its ends in steps."""

    unit: str
    choices: tuple[float | str, ...] | None = None
    range: tuple[float, float] | None = None
    step: float = 1.0

    @model_validator(mode="after")
    def _one_way_to_draw(self) -> Parameter:
        if (self.choices is None) == (self.range is None):
            raise ValueError("give choices or range, one of the two")
        if self.range is not None and not (self.range[0] < self.range[1] and self.step > 0):
            raise ValueError("a range rises, and its step is above zero")
        if self.choices is not None and not self.choices:
            raise ValueError("choices are empty")
        words = [choice for choice in self.choices or () if isinstance(choice, str)]
        if self.unit == ACCELERATOR:
            if len(words) != len(self.choices or ()):
                raise ValueError("the choices of an accelerator are ids of the catalog, like h100-sxm")
        elif words:
            raise ValueError(f"choices in {self.unit or 'a plain number'} are numbers, not {words[0]!r}")
        return self

    @field_validator("unit")
    @classmethod
    def _known_unit(cls, text: str) -> str:
        try:
            unit(text)
        except UnitError as error:
            raise ValueError(str(error)) from None
        return text


class Computed(Strict):
    """A number that the core computes and the author works out a second time.

    ``core`` names a function as ``topic.function`` of ``core.whiteboard``; ``args`` are expressions over the parameters
    in base units; ``check`` is over the parameters in their own units and gives the number in ``unit``.
    """

    core: Annotated[str, StringConstraints(pattern=r"^[a-z_]+\.[a-z0-9_]+$")] | None = None
    args: dict[Name, Expression] = Field(default_factory=dict)
    check: Expression
    unit: str = ""
    digits: int = Field(default=4, ge=1, le=9)

    @field_validator("check")
    @classmethod
    def _check_is_expression(cls, text: str) -> str:
        return _expression(text)

    @field_validator("args")
    @classmethod
    def _args_are_expressions(cls, args: dict[str, str]) -> dict[str, str]:
        for text in args.values():
            _expression(text)
        return args

    @field_validator("unit")
    @classmethod
    def _known_unit(cls, text: str) -> str:
        try:
            unit(text)
        except UnitError as error:
            raise ValueError(str(error)) from None
        return text

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

    @field_validator("expr")
    @classmethod
    def _is_expression(cls, text: str) -> str:
        return _expression(text)


class Scene(Strict):
    """Values of the shared scenario that a card's numbers set: field to expression, model and accelerator by id."""

    model: str | None = None
    accelerator: str | None = None
    training: dict[Name, Expression | bool] = Field(default_factory=dict)
    serving: dict[Name, Expression | bool] = Field(default_factory=dict)


class CardModel(Strict):
    """What every card file says first."""

    id: Annotated[str, StringConstraints(pattern=r"^[qd]-[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Line
    topic: Topic
    step: int = Field(ge=0, le=5)
    level: Level
    sources: tuple[str, ...] = Field(min_length=1)
    prerequisites: tuple[str, ...] = ()
    params: dict[Name, Parameter]
    defaults: dict[Name, float | str]
    require: Expression = "1 == 1"
    scene: Scene | None = None

    @field_validator("require")
    @classmethod
    def _is_expression(cls, text: str) -> str:
        return _expression(text)

    @model_validator(mode="after")
    def _defaults_name_the_parameters(self) -> CardModel:
        if self.params.keys() != self.defaults.keys():
            odd = sorted(self.params.keys() ^ self.defaults.keys())
            raise ValueError(f"defaults and params differ in {', '.join(odd)}")
        if taken := sorted(_names_taken(self.params) & self.params.keys()):
            raise ValueError(f"{', '.join(taken)} means something else in expressions: choose another name")
        if sum(parameter.unit == ACCELERATOR for parameter in self.params.values()) > 1:
            raise ValueError("at most one parameter is an accelerator")
        return self


class Drill(CardModel):
    """``drill/1``: one number to work out."""

    schema_: Literal["drill/1"] = Field(alias="schema")
    seconds: int = Field(default=90, ge=15, le=600)
    answer: DrillAnswer
    golden: float
    partial: tuple[KnownSlip, ...] = ()


class RubricItem(Strict):
    """One observable behaviour with four levels."""

    id: Name
    competency: Competency
    weight: float = Field(default=1, gt=0, le=5)
    observe: Line
    levels: dict[Literal[1, 2, 3, 4], Line]

    @model_validator(mode="after")
    def _four_levels(self) -> RubricItem:
        if set(self.levels) != {1, 2, 3, 4}:
            raise ValueError(f"a rubric item has the levels 1, 2, 3 and 4, this one has {sorted(self.levels)}")
        return self


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
    set: dict[Name, Expression | float] = Field(default_factory=dict)
    expect: Text


class Question(CardModel):
    """``question/1``: an open card with its rubric."""

    schema_: Literal["question/1"] = Field(alias="schema")
    kind: Literal["design", "diagnose", "explain", "numeric", "critique"]
    minutes: int = Field(ge=3, le=60)
    compute: dict[Name, Computed]
    golden: dict[Name, float]
    rubric: tuple[RubricItem, ...] = Field(min_length=3, max_length=8)
    clarify: tuple[Clarification, ...] = Field(min_length=3)
    hints: tuple[Hint, ...] = Field(min_length=3)
    tradeoffs: tuple[TradeOff, ...] = Field(min_length=3)
    twists: tuple[Twist, ...] = Field(min_length=2)
    stress: tuple[Line, ...] = Field(min_length=2)
    followups: tuple[str, ...] = ()
    related_mcq: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _parts_agree(self) -> Question:
        if self.compute.keys() != self.golden.keys():
            odd = sorted(self.compute.keys() ^ self.golden.keys())
            raise ValueError(f"compute and golden differ in {', '.join(odd)}")
        if taken := sorted(_names_taken(self.params) & self.compute.keys()):
            raise ValueError(f"{', '.join(taken)} means something else in expressions: choose another name")
        if clash := sorted(self.compute.keys() & self.params.keys()):
            raise ValueError(f"{', '.join(clash)} is a parameter and computed")
        costs = [hint.cost for hint in self.hints]
        if costs != sorted(costs):
            raise ValueError(f"the costs of hints ascend, these are {', '.join(map(str, costs))}")
        if twice := _twice(item.id for item in self.rubric) or _twice(twist.id for twist in self.twists):
            raise ValueError(f"{twice} stands twice")
        return self


class Option(Strict):
    """A choice of an MCQ, whether it is the correct one, and why."""

    text: Line
    correct: bool = False
    why: Line


_POSITIONAL = re.compile(r"\b(all|none|both|neither) of (the )?(above|these|options)\b|\boption [a-e1-5]\b", re.I)


class Mcq(Strict):
    """One ``mcq`` block of a ``quiz/1`` file; options are shown shuffled."""

    id: Annotated[str, StringConstraints(pattern=r"^m-[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Line
    level: Level
    stem: Text
    options: tuple[Option, ...] = Field(min_length=3, max_length=5)
    sources: tuple[str, ...] = Field(min_length=1)
    seconds: int = Field(default=45, ge=10, le=180)

    @model_validator(mode="after")
    def _one_correct_without_a_tell(self) -> Mcq:
        correct = [option for option in self.options if option.correct]
        if len(correct) != 1:
            raise ValueError(f"exactly one option is correct, here {len(correct)} are")
        if twice := _twice(option.text for option in self.options):
            raise ValueError(f"the option {twice!r} stands twice")
        for option in self.options:
            for text in (option.text, option.why):
                if found := _POSITIONAL.search(text):
                    raise ValueError(f"{found[0]!r} leans on the order of options, which are shuffled")
        lengths = sorted(len(option.text) for option in self.options)
        if len(correct[0].text) > 1.6 * lengths[len(lengths) // 2]:
            raise ValueError("the correct option is conspicuously long: even the options out")
        return self


class QuizHead(Strict):
    """Front matter of a ``quiz/1`` file."""

    schema_: Literal["quiz/1"] = Field(alias="schema")
    topic: Topic
    step: int = Field(ge=0, le=5)


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
    levels: dict[Literal[1, 2, 3, 4], Line]
    expected: dict[Level, Literal[1, 2, 3, 4]]


SCHEMAS: dict[str, type[BaseModel]] = {
    "drill": Drill,
    "question": Question,
    "mcq": Mcq,
    "quiz": QuizHead,
    "source": Source,
    "topic": TopicEntry,
    "competency": CompetencyEntry,
}


def _twice(values: object) -> str | None:
    seen: set[str] = set()
    for value in values:  # type: ignore[attr-defined]
        if value in seen:
            return str(value)
        seen.add(value)
    return None
