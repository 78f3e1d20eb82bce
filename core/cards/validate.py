"""Check the whole bank: links, numbers against the core on many seeds, texts, rubrics. What is found is named.

Reading (``library``) has checked each file on its own by then. Here everything is checked that needs the core, other
cards or drawn numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterator
from pathlib import PurePosixPath

from core.cards.card import Card, McqCard
from core.cards.draw import DrawError, Variant, computations, draw, numbers, twisted
from core.cards.expressions import ExpressionError, evaluate, names_in
from core.cards.functions import FunctionError, find
from core.cards.library import Bank
from core.cards.models import ACCELERATOR, Drill, Question
from core.cards.problems import CardProblem
from core.cards.scene import scenario_of
from core.cards.text import TextError, placeholders
from core.scenario import ScenarioError

SEEDS = 200
CLOSE = 1e-9  # core and check are the same sum: only rounding may separate them
GOLDEN_CLOSE = 1e-3  # golden values are written to four or five digits
SECTIONS = {
    "drill/1": ("Prompt", "Steps", "Why it matters"),
    "question/1": ("Prompt", "Predict", "Strong answer", "Common mistakes"),
}
MAX_WORDS = {"Prompt": 170, "Steps": 220, "Why it matters": 110, "Strong answer": 750, "Predict": 80}


def check_bank(bank: Bank, *, seeds: int = SEEDS) -> list[CardProblem]:
    """Everything wrong with a bank, in the order of files and lines."""
    found = list(bank.problems)
    for card in bank.cards.values():
        found += check_mcq(card, bank) if isinstance(card, McqCard) else check_card(card, bank, seeds=seeds)
    urls: dict[str, str] = {}
    for key, source in bank.sources.items():
        if source.url in urls:
            found.append(CardProblem("sources", 1, key, f"{source.url} is {urls[source.url]} already"))
        urls.setdefault(source.url, key)
    return sorted(set(found))


def check_mcq(card: McqCard, bank: Bank) -> list[CardProblem]:
    """Faults of one multiple-choice question that reading cannot see."""
    found = [
        CardProblem(card.path, card.line, f"{card.id}: {name}", rule)
        for name, rule in _links(card.model.sources, (), bank)
    ]
    if bank.topics and card.topic not in bank.topics:
        found.append(CardProblem(card.path, 1, "topic", f"{card.topic!r} is no topic"))
    if not card.own and card.path != f"quizzes/{card.topic}.md":
        found.append(CardProblem(card.path, 1, "topic", f"a quiz of {card.topic} lies in quizzes/{card.topic}.md"))
    if not card.id.startswith(f"m-{card.topic}-"):
        found.append(CardProblem(card.path, card.line, "id", f"{card.id} begins with m-{card.topic}-"))
    return found


def check_card(card: Card, bank: Bank, *, seeds: int = SEEDS) -> list[CardProblem]:
    """Faults of one question or drill that reading cannot see."""
    return [CardProblem(card.path, card.line_of(field), field, rule) for field, rule in _faults(card, bank, seeds)]


def _faults(card: Card, bank: Bank, seeds: int) -> Iterator[tuple[str, str]]:
    model = card.model
    yield from _place(card, bank)
    others = (*model.prerequisites, *(model.followups + model.related_mcq if isinstance(model, Question) else ()))
    yield from _links(model.sources, others, bank)
    yield from _sections(card)
    names_known = yield from _names(card)
    if not names_known:
        return
    try:
        variant = draw(card, 0)
    except DrawError as error:
        yield "defaults", str(error)
        return
    yield from _golden(card, variant)
    yield from _variants(card, seeds)
    yield from _texts(card, variant)
    yield from _scene(variant)
    if isinstance(model, Question):
        yield from _twists(model, variant)


def _place(card: Card, bank: Bank) -> Iterator[tuple[str, str]]:
    letter = card.id[0]
    prefix = f"{letter}-{card.topic}-"
    if (letter == "d") != (card.kind == "drill") or not card.id.startswith(prefix):
        yield "id", f"{card.id} is a {card.kind} of {card.topic}, so it begins with {card.kind[0]}-{card.topic}-"
    elif not card.own:
        folder = "drills" if card.kind == "drill" else "questions"
        want = PurePosixPath(folder, card.topic, f"{card.id.removeprefix(prefix)}.md").as_posix()
        if card.path != want:
            yield "id", f"{card.id} lies in {want}"
    if bank.topics and card.topic not in bank.topics:
        yield "topic", f"{card.topic!r} is no topic; there are {', '.join(bank.topics)}"


def _links(sources: tuple[str, ...], cards: tuple[str, ...], bank: Bank) -> Iterator[tuple[str, str]]:
    for key in sources:
        if key not in bank.sources:
            yield "sources", f"{key!r} stands in no file of sources/: add it with title, url and what it supports"
    for other in cards:
        if other not in bank.cards:
            yield "followups, prerequisites, related_mcq", f"{other!r} is no card of the bank"


def _sections(card: Card) -> Iterator[tuple[str, str]]:
    needed = SECTIONS["drill/1" if card.kind == "drill" else "question/1"]
    for name in needed:
        if not card.sections.get(name):
            yield f"## {name}", "the section is missing or empty"
    for name, text in card.sections.items():
        if name not in needed:
            yield f"## {name}", f"is no section of a {card.kind}: it has {', '.join(needed)}"
        elif len(text.split()) > MAX_WORDS.get(name, 10_000):
            yield f"## {name}", f"{len(text.split())} words; at most {MAX_WORDS[name]}"
        if link := re.search(r"https?://\S+", text):
            yield f"## {name}", f"links to {link[0]}: cite a source by its key instead"
    if card.kind == "drill" and len(card.steps) < 2:
        yield "## Steps", "two worked steps at least, numbered 1. 2. 3."
    if card.kind == "question":
        text = card.sections.get("Common mistakes", "")
        if not card.mistakes or len(card.mistakes) != text.count("- wrong:"):
            yield "## Common mistakes", "each '- wrong:' has a 'right:' on the next line"


def _names(card: Card) -> Generator[tuple[str, str], None, bool]:
    """Names that expressions read; returns whether all are known, so that numbers can be drawn."""
    model = card.model
    try:
        known = set(numbers(card, model.defaults))
    except ExpressionError as error:
        yield "defaults", str(error)
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
            try:
                find(computed.core)
            except FunctionError as error:
                yield f"{place}.core", str(error)
                good = False
    if isinstance(model, Drill):
        places |= {f"partial.{number}.expr": slip.expr for number, slip in enumerate(model.partial)}
    for field, text in places.items():
        if unknown := sorted(names_in(text) - known):
            yield field, f"{text!r} reads {', '.join(unknown)}; the card has {', '.join(sorted(known))}"
            good = False
    for name, parameter in model.params.items():
        value = model.defaults[name]
        if parameter.choices is not None and value not in parameter.choices:
            yield f"defaults.{name}", f"{value!r} is not among its choices"
        if parameter.range is not None and not parameter.range[0] <= float(value) <= parameter.range[1]:
            yield f"defaults.{name}", f"{value!r} lies outside {list(parameter.range)}"
    return good


def _golden(card: Card, variant: Variant) -> Iterator[tuple[str, str]]:
    model = card.model
    golden = {"answer": model.golden} if isinstance(model, Drill) else model.golden
    for name, value in golden.items():
        if not math.isclose(variant.truth[name], value, rel_tol=GOLDEN_CLOSE):
            field = "golden" if isinstance(model, Drill) else f"golden.{name}"
            yield field, f"{value:g} is pinned, and the core gives {variant.truth[name]:.6g} at the defaults"


def _variants(card: Card, seeds: int) -> Iterator[tuple[str, str]]:
    model = card.model
    place = "answer" if card.kind == "drill" else "compute"
    for seed in range(seeds):
        try:
            variant = draw(card, seed)
        except DrawError as error:
            yield "params", f"seed {seed}: {error}"
            return
        plain = numbers(card, variant.values)
        if not evaluate(model.require, plain):
            yield "require", f"the defaults do not satisfy {model.require!r}"
            return
        for name, computed in computations(card).items():
            try:
                check = evaluate(computed.check, plain)
            except ExpressionError as error:
                yield f"{place}.check", f"{dict(variant.values)}: {error}"
                return
            truth = variant.truth[name]
            if not math.isclose(truth, check, rel_tol=CLOSE, abs_tol=1e-12):
                field = place if card.kind == "drill" else f"{place}.{name}"
                yield (
                    field,
                    (
                        f"{computed.core} gives {truth:.6g} {computed.unit} and check gives {check:.6g} "
                        f"for {dict(variant.values)}: one of the two, or a unit, is wrong"
                    ),
                )
                return
        if isinstance(model, Drill):
            yield from _slips(card, model, variant)
            if not variant.answer > 0:
                yield "answer", f"{variant.answer:g} for {dict(variant.values)}: a drill asks for a number above zero"
                return


def _slips(card: Card, model: Drill, variant: Variant) -> Iterator[tuple[str, str]]:
    allowed = model.answer.rtol * abs(variant.answer) + model.answer.atol
    for number, slip in enumerate(model.partial):
        try:
            value = variant.value_of(slip.expr)
        except ExpressionError as error:
            yield f"partial.{number}.expr", f"{dict(variant.values)}: {error}"
            continue
        if abs(value - variant.answer) <= allowed:
            yield (
                f"partial.{number}.expr",
                (
                    f"gives {value:.6g}, within the tolerance of {variant.answer:.6g}, for {dict(variant.values)}: "
                    "it would be counted as right"
                ),
            )


def _scene(variant: Variant) -> Iterator[tuple[str, str]]:
    try:
        scenario_of(variant)
    except (ScenarioError, ExpressionError, KeyError) as error:
        yield "scene", f"makes no scenario at the defaults: {error}"


def _texts(card: Card, variant: Variant) -> Iterator[tuple[str, str]]:
    for field, text in texts(card).items():
        try:
            placeholders(text)
            filled = variant.fill(text)
        except TextError as error:
            yield field, str(error)
            continue
        if "{{" in filled or "}}" in filled:
            yield field, "a placeholder is not closed: {{ name }}"
    early = {"title": card.title, **{f"## {name}": card.sections.get(name, "") for name in ("Prompt", "Predict")}}
    for field, text in early.items():
        for expression, _ in _known_placeholders(text):
            if told := names_in(expression) & variant.truth.keys():
                yield field, f"gives away {', '.join(sorted(told))} before an answer"


def _known_placeholders(text: str) -> list[tuple[str, str]]:
    try:
        return placeholders(text)
    except TextError:
        return []


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


def _twists(model: Question, variant: Variant) -> Iterator[tuple[str, str]]:
    for twist in model.twists:
        field = f"twists.{twist.id}.set"
        if unknown := sorted(twist.set.keys() - model.params.keys()):
            yield field, f"sets {', '.join(unknown)}, which the card does not have"
            continue
        try:
            changed = twisted(variant, twist.set)
            changed.fill(twist.expect)
            changed.fill(twist.say)
        except (DrawError, TextError) as error:
            yield field, str(error)
