"""Variants: a card with numbers drawn from a seed, and the truth that the core computes for them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from core.cards import functions
from core.cards.card import AnyCard, Card
from core.cards.expressions import ExpressionError, evaluate
from core.cards.models import ACCELERATOR, ACCELERATOR_NAMES, Computed, Drill, Parameter, Question
from core.cards.quantities import unit
from core.cards.text import fill
from core.hardware import Accelerator, load_accelerators
from core.units import GB, TFLOP, in_units

MAX_SEED = 2**31
MAX_TRIES = 500
FRESH_TRIES = 32  # with as few as two draws, chances of missing the other are one in four billion
Value = float | str


class DrawError(ValueError):
    """A card from which no variant can be drawn."""


@dataclass(frozen=True)
class Variant:
    """One draw: ``values`` in the card's units, and as ``truth`` what the core says, in the printed units."""

    card: Card
    seed: int
    values: Mapping[str, Value]
    truth: Mapping[str, float]

    @property
    def address(self) -> str:
        """Card, content hash and seed: what a permalink needs for the same numbers."""
        return f"{self.card.id}@{self.card.content_hash}:{self.seed}"

    @property
    def answer(self) -> float:
        """A drill's truth in the unit that is asked."""
        return self.truth["answer"]

    def fill(self, text: str) -> str:
        """A text of the card with this variant's numbers put in."""
        return fill(text, self._printed, self._digits)

    def value_of(self, expression: str) -> float:
        """An expression of the card (a known slip, say) with this variant's numbers."""
        return evaluate(expression, self.numbers)

    @cached_property
    def numbers(self) -> dict[str, float]:
        """What expressions of the card may read: the parameters in its units, and the truth."""
        return {**numbers(self.card, self.values), **self.truth}

    @cached_property
    def _printed(self) -> dict[str, Value]:
        return {**shown(self.card, self.values), **self.truth}

    @cached_property
    def _digits(self) -> dict[str, int]:
        return {name: computed.digits for name, computed in computations(self.card).items()}


def draw(card: Card, seed: int) -> Variant:
    """The variant of a card for a seed; seed 0 has the author's default numbers.

    Raises:
        DrawError: no draw satisfies what the card requires, or the core refuses its numbers.
    """
    return with_values(card, drawn_values(card, seed), seed)


def with_values(card: Card, values: Mapping[str, Value], seed: int) -> Variant:
    """The variant of a card for given parameters, with the truth from the core.

    Raises:
        DrawError: the core refuses the numbers.
    """
    try:
        plain, base = numbers(card, values), in_base_units(card, values)
        truth = {
            name: evaluate(computed.check, plain) if computed.core is None else _from_core(card, computed, values, base)
            for name, computed in computations(card).items()
        }
    except (ExpressionError, functions.FunctionError) as error:
        raise DrawError(f"{card.id}: {error}") from None
    return Variant(card, seed, dict(values), truth)


def twisted(variant: Variant, changes: Mapping[str, str | float]) -> Variant:
    """The same card after a twist: each change is an expression over the numbers as they stood before it.

    Raises:
        DrawError: a change cannot be computed, or the core refuses what comes of it.
    """
    before = numbers(variant.card, variant.values)
    accelerator = _accelerator_name(variant.card)
    try:
        new: dict[str, Value] = {
            name: str(change) if name == accelerator else evaluate(str(change), before)
            for name, change in changes.items()
        }
    except ExpressionError as error:
        raise DrawError(f"{variant.card.id}: {error}") from None
    return with_values(variant.card, {**variant.values, **new}, variant.seed)


def drawn_values(card: Card, seed: int) -> dict[str, Value]:
    """The parameters that a seed gives, in the card's units.

    Raises:
        DrawError: no draw satisfies what the card requires.
    """
    model = card.model
    if seed == 0:
        return dict(model.defaults)
    stream = random.Random(f"{card.id}:{seed}")
    for _ in range(MAX_TRIES):
        values = {name: _one(parameter, stream) for name, parameter in model.params.items()}
        try:
            if evaluate(model.require, numbers(card, values)):
                return values
        except ExpressionError as error:
            raise DrawError(f"{card.id}: require: {error}") from None
    raise DrawError(f"{card.id}: of {MAX_TRIES:,} draws none satisfies {model.require!r}")


def acceptance(card: Card, tries: int = 200) -> float:
    """Share of single draws that satisfy what the card requires, 0 to 1.

    Raises:
        ExpressionError: the requirement has no value for some of them.
    """
    stream = random.Random(card.id)
    draws = ({name: _one(parameter, stream) for name, parameter in card.model.params.items()} for _ in range(tries))
    return sum(evaluate(card.model.require, numbers(card, values)) != 0 for values in draws) / tries


def seed_from(text: str) -> int:
    """A seed for a new draw from any text (a session's own counter, a review's id): 1 to 2^31 - 1."""
    return 1 + int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % (MAX_SEED - 1)


def fresh_seed(card: AnyCard, token: str, avoid: Iterable[int] = ()) -> int:
    """A seed from a token whose numbers differ from those of the seeds to avoid, as far as the card has others."""
    seeds = (seed_from(f"{token}.{attempt}") for attempt in range(FRESH_TRIES))
    first = next(seeds)
    if not isinstance(card, Card):
        return first
    known = [drawn_values(card, seed) for seed in avoid]
    return next((seed for seed in (first, *seeds) if drawn_values(card, seed) not in known), first)


def computations(card: Card) -> dict[str, Computed]:
    """What the core computes for a card, by name; the truth of a drill is called ``answer``."""
    model = card.model
    if isinstance(model, Drill):
        return {"answer": model.answer}
    assert isinstance(model, Question)
    return model.compute


def number_label(name: str, computed: Computed) -> str:
    """What a computed number is called before a reader."""
    return computed.label or name.replace("_", " ")


def _from_core(card: Card, computed: Computed, values: Mapping[str, Value], base: Mapping[str, float]) -> float:
    """One number from the core in its printed unit."""
    assert computed.core is not None
    accelerator = _accelerator_name(card)
    arguments: dict[str, object] = {
        name: _accelerators()[str(values[accelerator])]
        if accelerator is not None and text.strip() == accelerator
        else evaluate(text, base)
        for name, text in computed.args.items()
    }
    return in_units(functions.call(computed.core, arguments), unit(computed.unit).scale)


def numbers(card: Card, values: Mapping[str, Value]) -> dict[str, float]:
    """The parameters as numbers in the card's units; an accelerator brings tf, hbm, cap and nvl."""
    plain = {name: float(value) for name, value in values.items() if not isinstance(value, str)}
    accelerator = _accelerator_name(card)
    return plain if accelerator is None else {**plain, **_figures(str(values[accelerator]))}


def shown(card: Card, values: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters as a text prints them: an accelerator by its name."""
    accelerator = _accelerator_name(card)
    named = {} if accelerator is None else {accelerator: _accelerators()[str(values[accelerator])].name}
    return {**numbers(card, values), **named}


def in_base_units(card: Card, values: Mapping[str, Value]) -> dict[str, float]:
    """The parameters in bytes, FLOP, seconds and plain numbers."""
    units = {**ACCELERATOR_NAMES, **{name: parameter.unit for name, parameter in card.model.params.items()}}
    return {name: value * unit(units[name]).scale for name, value in numbers(card, values).items()}


def _one(parameter: Parameter, stream: random.Random) -> Value:
    if parameter.choices is not None:
        return stream.choice(parameter.choices)
    assert parameter.range is not None
    low, high = parameter.range
    steps = int((high - low) / parameter.step + 1e-9)
    return round(low + parameter.step * stream.randrange(steps + 1), 12)


def _accelerator_name(card: Card) -> str | None:
    return next((name for name, parameter in card.model.params.items() if parameter.unit == ACCELERATOR), None)


@lru_cache(maxsize=1)
def _accelerators() -> Mapping[str, Accelerator]:
    return load_accelerators()


@lru_cache(maxsize=64)
def _figures(accelerator_id: str) -> dict[str, float]:
    """What the whiteboard reads of a datasheet: dense 16-bit TFLOP/s, GB/s, the label's GB, scale-up GB/s both ways."""
    accelerator = _accelerators().get(accelerator_id)
    if accelerator is None:
        raise ExpressionError(f"{accelerator_id!r} is no accelerator of the catalog")
    peak, label = accelerator.bf16_flops_per_s, accelerator.hbm_label
    if peak is None or label is None:
        raise ExpressionError(f"{accelerator_id!r} has no dense 16-bit peak or no capacity on its label")
    one_way = accelerator.scale_up_bytes_per_s or 0.0
    return {
        "tf": in_units(peak, TFLOP),
        "hbm": in_units(accelerator.hbm_bytes_per_s, GB),
        "cap": float(label.split()[0]),
        "nvl": in_units(2 * one_way, GB),
    }
