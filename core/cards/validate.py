"""Check the whole bank: who is who, links and sources; texts in ``check_text``, numbers in ``check_numbers``.

Reading (``library``) has checked each file on its own by then. Here everything is checked that needs the core, other
cards or drawn numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from core.cards.bug import BugCard
from core.cards.card import AnyCard, Card
from core.cards.check_numbers import number_faults
from core.cards.check_text import marks, placeholder_faults, section_faults, texts
from core.cards.claim import ClaimCard
from core.cards.library import Bank
from core.cards.mcq import McqCard
from core.cards.models import Question
from core.cards.problems import CardProblem, Fault

SEEDS = 200


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
    if isinstance(card, Card):
        return check_card(card, bank, seeds=seeds)
    return [
        CardProblem(card.path, card.line_of(fault.field), fault.field, fault.rule) for fault in _exercise(card, bank)
    ]


def _exercise(card: McqCard | BugCard | ClaimCard, bank: Bank) -> Iterator[Fault]:
    """Faults of a card in which no numbers are drawn."""
    yield from _sources(card.model.sources, bank)
    for field, rule in card.findings(bank.topics):
        yield Fault(field, rule)
    for field, text in card.texts().items():
        yield from marks(field, text)
        if "{{" in text:
            yield Fault(field, "holds {{: no numbers are drawn here")


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
    yield from section_faults(card)
    yield from marks("title", card.title)
    if "{{" in card.title:
        yield Fault("title", "holds {{: no numbers are put into a title")
    for field, text in texts(card).items():
        yield from marks(field, text)
    texts_good = yield from placeholder_faults(card)
    yield from number_faults(card, seeds, texts_good=texts_good)


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
