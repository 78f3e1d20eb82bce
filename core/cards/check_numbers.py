"""Check the numbers of cards: names, two witnesses, known slips, scenes and twists, on many variants."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

from core.cards.card import Card
from core.cards.check_text import known_placeholders, texts
from core.cards.draw import (
    DrawError,
    Variant,
    acceptance,
    computations,
    draw,
    drawn_values,
    numbers,
    twisted,
    with_values,
)
from core.cards.expressions import ExpressionError, evaluate, names_in
from core.cards.functions import FunctionError, check_arguments, find
from core.cards.models import ACCELERATOR, Drill, Question
from core.cards.problems import Fault, short
from core.cards.quantities import UnitError
from core.cards.scene import scenario_of
from core.cards.text import TextError, with_unit
from core.cards.typed import read_answer
from core.scenario import ScenarioError

CLOSE = 1e-9  # core and check are the same sum: only rounding may separate them
GOLDEN_CLOSE = 1e-3  # golden values are written to four or five digits
LEAST_ACCEPTANCE = 0.05  # a requirement that fewer draws satisfy is better written as choices
SCENES = 5  # variants whose scene is built: each takes some milliseconds


def number_faults(card: Card, seeds: int, *, texts_good: bool) -> Iterator[Fault]:
    """What is wrong with a card's numbers.

    Args:
        card: a question or a drill.
        seeds: how many variants are drawn; the author's own numbers are among them.
        texts_good: whether its texts may be filled: those with a finding of their own are not.
    """
    model = card.model
    names_known = yield from _names(card)
    if not names_known:
        return
    try:
        if not evaluate(model.require, numbers(card, model.defaults)):
            yield Fault("require", f"the defaults do not satisfy {short(model.require)}")
            return
        if (share := acceptance(card)) < LEAST_ACCEPTANCE:
            yield Fault("require", f"{share:.0%} of all draws satisfy {short(model.require)}: narrow the parameters")
            return
    except ExpressionError as error:
        yield Fault("require", str(error))
        return
    try:
        first = draw(card, 0)
    except DrawError as error:
        yield Fault("defaults", str(error))
        return
    yield from _golden(card, first)
    yield from _variants(card, seeds, texts_good=texts_good)


def _names(card: Card) -> Generator[Fault, None, bool]:
    """Names that expressions read; returns whether all are known, so that numbers can be drawn."""
    model = card.model
    try:
        known = set(numbers(card, model.defaults))
        for value in _accelerators(card):
            numbers(card, {**model.defaults, **value})
    except ExpressionError as error:
        yield Fault("params", str(error))
        return False
    good = True
    places = {"require": model.require}
    for name, computed in computations(card).items():
        place = "answer" if card.kind == "drill" else f"compute.{name}"
        places[f"{place}.check"] = computed.check
        places |= {
            f"{place}.args.{key}": text
            for key, text in computed.args.items()
            if not (text in model.params and model.params[text].unit == ACCELERATOR)
        }
        if computed.core is not None:
            field = f"{place}.core"
            try:
                find(computed.core)
                field = f"{place}.args"
                check_arguments(computed.core, computed.args)
            except FunctionError as error:
                yield Fault(field, str(error))
                good = False
    if isinstance(model, Drill):
        places |= {f"partial.{number}.expr": slip.expr for number, slip in enumerate(model.partial)}
        known_here = {**dict.fromkeys(places, known), **{key: known | {"answer"} for key in places if "partial" in key}}
    else:
        known_here = dict.fromkeys(places, known)
    for field, text in places.items():
        if unknown := sorted(names_in(text) - known_here[field]):
            yield Fault(field, f"{short(text)} reads {', '.join(unknown)}; the card has {', '.join(sorted(known))}")
            good = False
    return good


def _accelerators(card: Card) -> Iterator[dict[str, str]]:
    for name, parameter in card.model.params.items():
        if parameter.unit == ACCELERATOR:
            yield from ({name: str(choice)} for choice in parameter.choices or ())


def _golden(card: Card, variant: Variant) -> Iterator[Fault]:
    model = card.model
    golden = {"answer": model.golden} if isinstance(model, Drill) else model.golden
    for name, value in golden.items():
        if not math.isclose(variant.truth[name], value, rel_tol=GOLDEN_CLOSE):
            field = "golden" if isinstance(model, Drill) else f"golden.{name}"
            yield Fault(field, f"{value:g} is pinned, and the core gives {variant.truth[name]:.6g} at the defaults")


def _variants(card: Card, seeds: int, *, texts_good: bool) -> Iterator[Fault]:
    """What is wrong with any of the variants; the first that shows a fault names it, and no other repeats it."""
    seen: set[tuple[object, ...]] = set()
    told: set[str] = set()
    early = _early_expressions(card)
    for seed in range(max(seeds, 1)):
        try:
            values = drawn_values(card, seed)
            drawn = tuple(values.values())
            if drawn in seen:  # most cards have fewer variants than seeds
                continue
            seen.add(drawn)
            variant = with_values(card, values, seed)
        except DrawError as error:
            yield Fault("params", f"seed {seed}: {error}")
            return
        for fault in _one_variant(card, variant, texts_good=texts_good, with_scene=len(seen) <= SCENES):
            if fault.field not in told:
                told.add(fault.field)
                yield fault
        early = {key: place for key, place in early.items() if _gives_truth(variant, key)}
    if len(seen) > 1:
        for expression, field in early.items():
            yield Fault(
                field, f"{short(expression)} is the answer in all variants, shown before it is given", expression
            )


def _early_expressions(card: Card) -> dict[str, str]:
    """What a drill computes in texts that are shown before an answer, by expression: its section."""
    shown = {"## Prompt": card.sections.get("Prompt", "")}
    if card.kind == "drill":
        shown["## Steps"] = "\n".join(card.steps[:-1])
    return {
        expression: field
        for field, text in shown.items()
        for expression, _ in known_placeholders(text)
        if expression not in card.model.params and not names_in(expression) & computations(card).keys()
    }


def _gives_truth(variant: Variant, expression: str) -> bool:
    try:
        value = variant.value_of(expression)
    except ExpressionError:
        return False
    return any(math.isclose(value, truth, rel_tol=1e-6) for truth in variant.truth.values())


def _one_variant(card: Card, variant: Variant, *, texts_good: bool, with_scene: bool) -> Iterator[Fault]:
    yield from _two_witnesses(card, variant)
    if isinstance(card.model, Drill):
        yield from _drill(card.model, variant)
    if texts_good:
        for field, text in texts(card).items():
            if not field.endswith(".expect"):  # filled after the twist
                try:
                    variant.fill(text)
                except TextError as error:
                    yield Fault(field, str(error), error.placeholder)
    if with_scene:
        yield from _scene(variant)
    if isinstance(card.model, Question):
        yield from _twists(card.model, variant, texts_good=texts_good, with_scene=with_scene)


def _two_witnesses(card: Card, variant: Variant) -> Iterator[Fault]:
    plain = numbers(card, variant.values)
    for name, computed in computations(card).items():
        place = "answer" if card.kind == "drill" else f"compute.{name}"
        try:
            check = evaluate(computed.check, plain)
        except ExpressionError as error:
            yield Fault(f"{place}.check", f"{_drawn(variant)}: {error}")
            continue
        truth = variant.truth[name]
        if not math.isclose(truth, check, rel_tol=CLOSE, abs_tol=1e-300):
            rule = (
                f"{computed.core} gives {truth:.6g} {computed.unit} and check gives {check:.6g} "
                f"for {_drawn(variant)}: one of the two, or a unit, is wrong"
            )
            yield Fault(f"{place}.check", rule)


def _drill(model: Drill, variant: Variant) -> Iterator[Fault]:
    answer = variant.answer
    if not answer > 0:
        yield Fault("answer", f"{answer:g} for {_drawn(variant)}: a drill asks for a number above zero")
        return
    allowed = model.answer.rtol * abs(answer) + model.answer.atol
    printed = with_unit(answer, model.answer.digits, model.answer.unit)
    try:
        if abs(read_answer(printed, model.answer.unit).value - answer) > allowed:
            yield Fault("answer.digits", f"{printed} for {answer:.9g}, printed so, would be counted as wrong")
    except UnitError as error:
        yield Fault("answer.unit", f"{printed!r} cannot be typed: {error}")
    for number, slip in enumerate(model.partial):
        field = f"partial.{number}.expr"
        try:
            value = variant.value_of(slip.expr)
        except ExpressionError as error:
            yield Fault(field, f"{_drawn(variant)}: {error}")
            continue
        if abs(value - answer) <= allowed:
            rule = f"gives {value:.6g}, within the tolerance of {answer:.6g}, for {_drawn(variant)}"
            yield Fault(field, f"{rule}: it would be counted as right")


def _scene(variant: Variant) -> Iterator[Fault]:
    try:
        scenario_of(variant)
    except KeyError as error:
        yield Fault("scene", f"{error.args[0]!r} is neither a model nor an accelerator of the catalog")
    except (ScenarioError, ExpressionError) as error:
        yield Fault("scene", f"makes no scenario for {_drawn(variant)}: {error}")


def _twists(model: Question, variant: Variant, *, texts_good: bool, with_scene: bool) -> Iterator[Fault]:
    for twist in model.twists:
        field = f"twists.{twist.id}.set"
        if unknown := sorted(twist.set.keys() - model.params.keys()):
            yield Fault(field, f"sets {', '.join(unknown)}, which the card does not have")
            continue
        try:
            changed = twisted(variant, twist.set)
        except DrawError as error:
            yield Fault(field, f"{_drawn(variant)}: {error}")
            continue
        if texts_good:
            try:
                changed.fill(twist.expect)
            except TextError as error:
                yield Fault(f"twists.{twist.id}.expect", str(error), error.placeholder)
        if with_scene:  # the controls of a mock room follow the twist
            for fault in _scene(changed):
                yield Fault(field, f"with it, the scene {fault.rule}")


def _drawn(variant: Variant) -> str:
    """The numbers of a variant, as a finding names them."""
    pairs = (f"{name} {value if isinstance(value, str) else f'{value:g}'}" for name, value in variant.values.items())
    return f"seed {variant.seed} ({', '.join(pairs)})"
