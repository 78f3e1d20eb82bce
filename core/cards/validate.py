"""Check the whole bank: links, numbers against the core on many seeds, texts, rubrics. What is found is named.

Reading (``library``) has checked each file on its own by then. Here everything is checked that needs the core, other
cards or drawn numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from core.cards.bug import BugCard
from core.cards.card import AnyCard, Card, McqCard, headed
from core.cards.claim import ClaimCard
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
from core.cards.front_matter import split_front_matter
from core.cards.functions import FunctionError, check_arguments, find
from core.cards.library import Bank
from core.cards.models import ACCELERATOR, Drill, Question
from core.cards.problems import CardProblem, short
from core.cards.quantities import UnitError
from core.cards.scene import scenario_of
from core.cards.text import TextError, placeholders, with_unit
from core.cards.typed import read_answer
from core.scenario import ScenarioError

SEEDS = 200
CLOSE = 1e-9  # core and check are the same sum: only rounding may separate them
GOLDEN_CLOSE = 1e-3  # golden values are written to four or five digits
LEAST_ACCEPTANCE = 0.05  # a requirement that fewer draws satisfy is better written as choices
SCENES = 5  # variants whose scene is built: each takes some milliseconds
SECTIONS = {
    "drill/1": ("Prompt", "Steps", "Why it matters"),
    "question/1": ("Prompt", "Predict", "Strong answer", "Common mistakes"),
}
MAX_WORDS = {"Prompt": 170, "Steps": 220, "Why it matters": 110, "Strong answer": 750, "Predict": 80}
STEPS = (2, 4)
_NOT_FOR_TEXTS = (
    (re.compile(r"https?://\S{0,60}|\bwww\.\S{1,60}"), "is a link: cite a source by its key instead"),
    (re.compile(r"\]\([^)\n]{0,60}"), "is a link or a picture: cite a source by its key instead"),
    (re.compile(r"\$"), "would begin a formula: write USD"),
)


class Fault(NamedTuple):
    """One finding before it has a line; ``words`` are those of the field's text that are at fault."""

    field: str
    rule: str
    words: str = ""


def check_bank(bank: Bank, *, seeds: int = SEEDS) -> list[CardProblem]:
    """Everything wrong with a bank, in the order of files and lines."""
    found = list(bank.problems)
    for card in bank.cards.values():
        found += check_one(card, bank, seeds=seeds)
    return sorted({*found, *_repeated_urls(bank)})


def _repeated_urls(bank: Bank) -> Iterator[CardProblem]:
    urls: dict[str, str] = {}
    for key, source in bank.sources.items():
        first = urls.setdefault(source.url.rstrip("/"), key)
        if first != key:
            path, line = bank.places[key]
            yield CardProblem(path, line, f"{key}.url", f"{source.url} is {first} already: cite that key")


def check_one(card: AnyCard, bank: Bank, *, seeds: int = SEEDS) -> list[CardProblem]:
    """Faults of a card of any kind that reading cannot see."""
    if isinstance(card, McqCard):
        return check_mcq(card, bank)
    if isinstance(card, Card):
        return check_card(card, bank, seeds=seeds)
    return [
        CardProblem(card.path, card.line_of(fault.field), fault.field, fault.rule) for fault in _exercise(card, bank)
    ]


def _exercise(card: BugCard | ClaimCard, bank: Bank) -> Iterator[Fault]:
    """Faults of a program or a claim."""
    yield from _sources(card.model.sources, bank)
    for field, rule in card.findings(bank.topics):
        yield Fault(field, rule)
    for field, text in card.texts().items():
        yield from _marks(field, text)
        if "{{" in text:
            yield Fault(field, "holds {{: no numbers are drawn here")


def check_mcq(card: McqCard, bank: Bank) -> list[CardProblem]:
    """Faults of one multiple-choice question that reading cannot see."""
    return [CardProblem(card.path, card.line_of(fault.field), fault.field, fault.rule) for fault in _mcq(card, bank)]


def _mcq(card: McqCard, bank: Bank) -> Iterator[Fault]:
    yield from _sources(card.model.sources, bank)
    if not card.id.startswith(f"m-{card.topic}-"):
        yield Fault("id", f"{card.id} begins with m-{card.topic}-")
    if bank.topics and card.topic not in bank.topics:
        yield Fault("id", f"{card.topic!r} is no topic; there are {', '.join(bank.topics)}")
    elif not card.own and card.path != f"quizzes/{card.topic}.md":
        yield Fault("id", f"a quiz of {card.topic} lies in quizzes/{card.topic}.md")
    for field, text in mcq_texts(card).items():
        yield from _marks(field, text)
        if "{{" in text:
            yield Fault(field, "holds {{: no numbers are drawn in a multiple-choice question")


def mcq_texts(card: McqCard) -> dict[str, str]:
    """Every text of a multiple-choice question by field."""
    found = {"title": card.title, "stem": card.model.stem}
    for at, option in enumerate(card.model.options):
        found |= {f"options.{at}.text": option.text, f"options.{at}.why": option.why}
    return found


def check_card(card: Card, bank: Bank, *, seeds: int = SEEDS) -> list[CardProblem]:
    """Faults of one question or drill that reading cannot see."""
    return [
        CardProblem(card.path, card.line_of(fault.field, fault.words), fault.field, fault.rule)
        for fault in _faults(card, bank, seeds)
    ]


def _faults(card: Card, bank: Bank, seeds: int) -> Iterator[Fault]:
    model = card.model
    yield from _place(card, bank)
    yield from _sources(model.sources, bank)
    yield from _links(card, bank)
    yield from _sections(card)
    yield from _marks("title", card.title)
    if "{{" in card.title:
        yield Fault("title", "holds {{: no numbers are put into a title")
    for field, text in texts(card).items():
        yield from _marks(field, text)
    texts_good = yield from _placeholders(card)
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


def _place(card: Card, bank: Bank) -> Iterator[Fault]:
    letter = card.id[0]
    prefix = f"{letter}-{card.topic}-"
    if (letter == "d") != (card.kind == "drill") or not card.id.startswith(prefix):
        yield Fault("id", f"{card.id} is a {card.kind} of {card.topic}, so it begins with {card.kind[0]}-{card.topic}-")
    elif not card.own:
        folder = "drills" if card.kind == "drill" else "questions"
        want = PurePosixPath(folder, card.topic, f"{card.id.removeprefix(prefix)}.md").as_posix()
        if card.path != want:
            yield Fault("id", f"{card.id} lies in {want}")
    if bank.topics and card.topic not in bank.topics:
        yield Fault("topic", f"{card.topic!r} is no topic; there are {', '.join(bank.topics)}")


def _sources(keys: tuple[str, ...], bank: Bank) -> Iterator[Fault]:
    for key in keys:
        if key not in bank.sources:
            rule = f"{key!r} stands in no file of sources/: add it with title, url and what it supports"
            yield Fault("sources", rule)


def _links(card: Card, bank: Bank) -> Iterator[Fault]:
    model = card.model
    links = {"prerequisites": model.prerequisites}
    if isinstance(model, Question):
        links |= {"followups": model.followups, "related_mcq": model.related_mcq}
    for field, others in links.items():
        for other in others:
            if other not in bank.cards:
                yield Fault(field, f"{other!r} is no card of the bank")
            elif other == card.id:
                yield Fault(field, f"{other!r} is this card itself")
            elif field == "related_mcq" and bank.cards[other].kind != "mcq":
                yield Fault(field, f"{other!r} is no multiple-choice question")


def _sections(card: Card) -> Iterator[Fault]:
    needed = SECTIONS["drill/1" if card.kind == "drill" else "question/1"]
    for name in needed:
        if not card.sections.get(name):
            yield Fault(f"## {name}", "the section is missing or empty")
    above, *parts = headed(split_front_matter(card.text)[1])
    if above[1]:
        yield Fault("", f"{short(above[1])} stands above the first section and would not be shown", above[1])
    names = [name for name, _ in parts]
    for name, text in parts:
        if name not in needed:
            yield Fault(f"## {name[:60]}", f"is no section of a {card.kind}: it has {', '.join(needed)}")
        elif names.count(name) > 1:
            yield Fault(f"## {name}", "stands twice: keep one")
        elif len(text.split()) > MAX_WORDS.get(name, 10_000):
            yield Fault(f"## {name}", f"{len(text.split())} words; at most {MAX_WORDS[name]}")
    if card.kind == "drill":
        yield from _steps(card)
    else:
        text = card.sections.get("Common mistakes", "")
        if not card.mistakes or len(card.mistakes) != text.count("- wrong:"):
            yield Fault("## Common mistakes", "each '- wrong:' has its '  right:' on the next line")


def _steps(card: Card) -> Iterator[Fault]:
    least, most = STEPS
    if not least <= len(card.steps) <= most:
        yield Fault("## Steps", f"{len(card.steps)} worked steps; {least} to {most}, numbered 1. 2. 3.")
        return
    *early, last = ({name for expression, _ in _known(step) for name in names_in(expression)} for step in card.steps)
    if "answer" not in last:
        yield Fault("## Steps", "the last step gives {{ answer }}")
    if any("answer" in names for names in early):
        yield Fault("## Steps", "only the last step gives {{ answer }}: the ones before it are shown before an answer")


def _marks(field: str, text: str) -> Iterator[Fault]:
    for pattern, rule in _NOT_FOR_TEXTS:
        if found := pattern.search(text):
            yield Fault(field, f"{short(found[0])} {rule}", found[0])


def _placeholders(card: Card) -> Generator[Fault, None, bool]:
    """Placeholders that are none, or give the truth away early; returns whether texts can be filled."""
    good = True
    for field, text in texts(card).items():
        try:
            placeholders(text)
        except TextError as error:
            yield Fault(field, str(error), error.placeholder)
            good = False
    truth = computations(card).keys()
    for name in ("Prompt", "Predict"):
        for expression, _ in _known(card.sections.get(name, "")):
            if told := names_in(expression) & truth:
                yield Fault(f"## {name}", f"gives away {', '.join(sorted(told))} before an answer", expression)
    return good


def _known(text: str) -> list[tuple[str, str]]:
    try:
        return placeholders(text)
    except TextError:
        return []


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
        for expression, _ in _known(text)
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
        yield from _twists(card.model, variant, texts_good=texts_good)


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


def _twists(model: Question, variant: Variant, *, texts_good: bool) -> Iterator[Fault]:
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


def _drawn(variant: Variant) -> str:
    """The numbers of a variant, as a finding names them."""
    pairs = (f"{name} {value if isinstance(value, str) else f'{value:g}'}" for name, value in variant.values.items())
    return f"seed {variant.seed} ({', '.join(pairs)})"


def texts(card: Card) -> dict[str, str]:
    """Every text of a card in which numbers are put, by field."""
    model = card.model
    found = {f"## {name}": text for name, text in card.sections.items()}
    if isinstance(model, Drill):
        return found | {f"partial.{number}.say": slip.say for number, slip in enumerate(model.partial)}
    for item in model.rubric:
        found |= {f"rubric.{item.id}.{level}": text for level, text in item.levels.items()}
        found[f"rubric.{item.id}.observe"] = item.observe
    for number, hint in enumerate(model.hints):
        found[f"hints.{number}.text"] = hint.text
    for number, reply in enumerate(model.clarify):
        found |= {f"clarify.{number}.ask": reply.ask, f"clarify.{number}.give": reply.give}
    for number, row in enumerate(model.tradeoffs):
        found |= {f"tradeoffs.{number}.{key}": value for key, value in row.model_dump().items()}
    for twist in model.twists:
        found |= {f"twists.{twist.id}.say": twist.say, f"twists.{twist.id}.expect": twist.expect}
    return found | {f"stress.{number}": text for number, text in enumerate(model.stress)}
