"""Check the texts of cards: their sections, what may not stand in them, and the placeholders for numbers."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from core.cards.card import Card, headed
from core.cards.draw import computations
from core.cards.expressions import names_in
from core.cards.front_matter import split_front_matter
from core.cards.models import Drill
from core.cards.problems import Fault, short
from core.cards.text import TextError, placeholders

SECTIONS = {
    "drill/1": ("Prompt", "Steps", "Why it matters"),
    "question/1": ("Prompt", "Predict", "Strong answer", "Common mistakes"),
}
MAX_WORDS = {"Prompt": 170, "Steps": 220, "Why it matters": 110, "Strong answer": 750, "Predict": 80}
STEPS = (2, 4)
_NOT_FOR_TEXTS = (
    (re.compile(r"https?://\S{0,60}|\bwww\.\S{1,60}"), "is a link: cite a source by its key instead"),
    (re.compile(r"\]\([^)\n]{0,60}"), "is a link or a picture: cite a source by its key instead"),
    (re.compile(r"\]:[^\n]{0,60}"), "is the address of a link or a picture: cite a source by its key instead"),
    (re.compile(r"\$"), "would begin a formula: write USD"),
)


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


def marks(field: str, text: str) -> Iterator[Fault]:
    """Marks that no text of a card may hold: links, pictures, formulas."""
    for pattern, rule in _NOT_FOR_TEXTS:
        if found := pattern.search(text):
            yield Fault(field, f"{short(found[0])} {rule}", found[0])


def section_faults(card: Card) -> Iterator[Fault]:
    """Sections that are missing, twice, too long or unknown, and lists in them that cannot be read."""
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
    *early, last = (
        {name for expression, _ in known_placeholders(step) for name in names_in(expression)} for step in card.steps
    )
    if "answer" not in last:
        yield Fault("## Steps", "the last step gives {{ answer }}")
    if any("answer" in names for names in early):
        yield Fault("## Steps", "only the last step gives {{ answer }}: the ones before it are shown before an answer")


def placeholder_faults(card: Card) -> Generator[Fault, None, bool]:
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
        for expression, _ in known_placeholders(card.sections.get(name, "")):
            if told := names_in(expression) & truth:
                yield Fault(f"## {name}", f"gives away {', '.join(sorted(told))} before an answer", expression)
    return good


def known_placeholders(text: str) -> list[tuple[str, str]]:
    """Expression and filter of each placeholder; none of a text that has a finding of its own."""
    try:
        return placeholders(text)
    except TextError:
        return []
