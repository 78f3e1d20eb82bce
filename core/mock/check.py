"""Check mock packs against the bank: cards, twists and hints that exist, texts that fill, calibration that is reasoned.

Reading has checked each file on its own by then. Findings have the words and the form of those on cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from statistics import fmean
from typing import NamedTuple

from core.cards.card import Card
from core.cards.draw import DrawError, Variant, draw, twisted
from core.cards.library import Bank
from core.cards.models import Drill, Question
from core.cards.problems import CardProblem
from core.cards.text import TextError
from core.mock.pack import ANSWERS, MockPack, PackCard
from core.mock.reading import CalibrationAnswers, Mocks, Pack

SEEDS = 20  # variants in which the texts are filled, beside the pack's own: a room may choose another seed
MIN_WORDS, MAX_WORDS = 60, 600  # of a scripted answer: half a minute to five minutes of speech
FEWEST_COMPETENCIES = 3
_NOT_FOR_TEXTS = (
    (re.compile(r"https?://\S{0,60}|\bwww\.\S{1,60}"), "is a link: cards cite sources, packs cite cards"),
    (re.compile(r"\]\([^)\n]{0,60}"), "is a link or a picture: cards cite sources, packs cite cards"),
    (re.compile(r"\$"), "would begin a formula: write USD"),
)


class Fault(NamedTuple):
    """One finding before it has a line."""

    field: str
    rule: str


def check_mocks(mocks: Mocks, bank: Bank) -> list[CardProblem]:
    """Everything wrong with the packs and calibration answers, in the order of files and lines."""
    found = list(mocks.problems)
    for pack in mocks.packs.values():
        faults = [*_pack(pack, bank)]
        if pack.id not in mocks.calibrations:
            want = f"calibration/{pack.model.slug}.md"
            faults.append(Fault("id", f"has no calibration answers that can be read: write {want}"))
        found += [CardProblem(pack.path, pack.line_of(fault.field), *fault) for fault in faults]
    for answers in mocks.calibrations.values():
        faults = [*_calibration(answers, mocks, bank)]
        found += [CardProblem(answers.path, answers.line_of(fault.field), *fault) for fault in faults]
    return sorted(set(found))


def question_of(card_id: str, bank: Bank) -> tuple[Card, Question] | None:
    """An open card of the bank with its model; None where there is none of that id."""
    card = bank.cards.get(card_id)
    return (card, card.model) if isinstance(card, Card) and isinstance(card.model, Question) else None


def pack_texts(model: MockPack) -> dict[str, tuple[str, str]]:
    """Every text of a pack by field, with the card whose numbers it may print ("" where none)."""
    main = model.cards[0].card
    texts = {"title": ("", model.title), "about": ("", model.about), "opening": (main, model.opening)}
    for level, text in model.lens.model_dump().items():
        texts[f"lens.{level}"] = (main, text)
    for at, probe in enumerate(model.probes):
        texts[f"probes.{at}"] = ("", probe)
    for at, phase in enumerate(model.phases):
        texts[f"phases.{at}.name"] = ("", phase.name)
        texts[f"phases.{at}.goal"] = (phase.card or main, phase.goal)
        texts[f"phases.{at}.done_when"] = (phase.card or main, phase.done_when)
        for number, probe in enumerate(phase.probes):
            texts[f"phases.{at}.probes.{number}"] = (phase.card or main, probe)
    for at, row in enumerate(model.cards):
        for number, node in enumerate(row.tree):
            place = f"cards.{at}.tree.{number}"
            texts |= {f"{place}.say": (row.card, node.say), f"{place}.good": (row.card, node.good)}
            for heard, rank, edge in node.edges():
                texts[f"{place}.{heard}.{rank}.hear"] = (row.card, edge.hear)
    for at, event in enumerate(model.events):
        texts |= {f"events.{at}.{key}": (event.card or "", getattr(event, key)) for key in ("say", "expect")}
    for at, observation in enumerate(model.observations):
        texts[f"observations.{at}.text"] = ("", observation.text)
    return texts


def _pack(pack: Pack, bank: Bank) -> Iterator[Fault]:
    model = pack.model
    if pack.path != f"mocks/{model.slug}.yaml":
        yield Fault("id", f"{pack.id} lies in mocks/{model.slug}.yaml")
    cards_good = True
    for at, row in enumerate(model.cards):
        found = question_of(row.card, bank)
        if found is None:
            yield Fault(f"cards.{at}.card", f"{row.card} is no open card of the bank")
            cards_good = False
        else:
            yield from _against_question(row, f"cards.{at}", found[1])
    for at, drill in enumerate(model.drills):
        card = bank.cards.get(drill.card)
        if not (isinstance(card, Card) and isinstance(card.model, Drill)):
            yield Fault(f"drills.{at}.card", f"{drill.card} is no drill of the bank")
            cards_good = False
    yield from _twists_on_offer(model, bank)
    yield from _scored(model, bank)
    if cards_good:
        yield from _texts(model, bank)


def _against_question(row: PackCard, place: str, question: Question) -> Iterator[Fault]:
    known = {twist.id for twist in question.twists}
    for number, twist in enumerate(row.twists):
        if twist not in known:
            yield Fault(f"{place}.twists.{number}", f"{row.card} has no twist {twist}: {', '.join(sorted(known))}")
    offered = set(row.twists) or known
    for number, node in enumerate(row.tree):
        for heard, at, edge in node.edges():
            field = f"{place}.tree.{number}.{heard}.{at}"
            if edge.hint is not None and edge.hint > len(question.hints):
                yield Fault(f"{field}.hint", f"{row.card} has {len(question.hints)} hints")
            if edge.twist is not None and edge.twist not in offered:
                yield Fault(f"{field}.twist", f"{edge.twist} is not on offer: {', '.join(sorted(offered))}")


def _twists_on_offer(model: MockPack, bank: Bank) -> Iterator[Fault]:
    events = {event.id for event in model.events}
    rows = {row.card: row for row in model.cards}
    for at, row in enumerate(model.cards):
        found = question_of(row.card, bank)
        for clash in sorted(events & {twist.id for twist in found[1].twists} if found else ()):
            yield Fault(f"cards.{at}", f"{clash} is a twist of {row.card} and an event: give the event another id")
    for at, phase in enumerate(model.phases):
        found = question_of(phase.card or "", bank)
        if phase.kind != "twist" or found is None:
            continue
        known = set(rows[found[0].id].twists) or {twist.id for twist in found[1].twists}
        for number, twist in enumerate(phase.twists):
            if twist not in known | events:
                rule = f"{twist} is neither an event of the pack nor a twist on offer of {phase.card}"
                yield Fault(f"phases.{at}.twists.{number}", f"{rule}: {', '.join(sorted(known | events))}")


def _scored(model: MockPack, bank: Bank) -> Iterator[Fault]:
    covered = set()
    for at, item in enumerate(model.scored):
        if (found := question_of(item.card, bank)) is None:
            continue
        rubric = {row.id: row for row in found[1].rubric}
        if item.item in rubric:
            covered.add(rubric[item.item].competency)
        else:
            yield Fault(f"scored.{at}.item", f"the rubric of {item.card} has {', '.join(rubric)}, not {item.item}")
    if len(covered) < FEWEST_COMPETENCIES:
        rule = f"covers {', '.join(sorted(covered)) or 'no competency'}; score at least {FEWEST_COMPETENCIES} of them"
        yield Fault("scored", rule)


def _texts(model: MockPack, bank: Bank) -> Iterator[Fault]:
    variants: dict[str, list[Variant]] = {"": []}
    for card_id, own_seed in model.seeds.items():
        card = bank.cards[card_id]
        assert isinstance(card, Card)
        try:
            variants[card_id] = [draw(card, seed) for seed in {own_seed, *range(SEEDS)}]
        except DrawError as error:
            yield Fault("cards" if card_id.startswith("q") else "drills", str(error))
            return
    yield from _twist_texts(model, variants)
    for field, (card_id, text) in pack_texts(model).items():
        yield from _marks(field, text)
        if not card_id and "{{" in text:
            yield Fault(field, "holds {{: there is no card here whose numbers it could print")
        for variant in variants[card_id]:
            if rule := _unfilled(variant, text):
                yield Fault(field, rule)
                break


def _twist_texts(model: MockPack, variants: dict[str, list[Variant]]) -> Iterator[Fault]:
    """Twists build on one another in a session, so every ordered pair of a card's twists has to compute."""
    for at, row in enumerate(model.cards):
        question = variants[row.card][0].card.model
        assert isinstance(question, Question)
        changes = {twist.id: twist.set for twist in question.twists if twist.id in row.twists or not row.twists}
        for variant in variants[row.card]:
            for first, second in ((a, b) for a in changes for b in changes if a != b):
                try:
                    twisted(twisted(variant, changes[first]), changes[second])
                except DrawError as error:
                    yield Fault(f"cards.{at}.card", f"seed {variant.seed}, {first} and then {second}: {error}")
                    return


def _marks(field: str, text: str) -> Iterator[Fault]:
    for pattern, rule in _NOT_FOR_TEXTS:
        if found := pattern.search(text):
            yield Fault(field, f"{found[0]!r} {rule}")


def _unfilled(variant: Variant, text: str) -> str | None:
    try:
        variant.fill(text)
    except TextError as error:
        return f"seed {variant.seed} of {variant.card.id}: {error}"
    return None


def _calibration(answers: CalibrationAnswers, mocks: Mocks, bank: Bank) -> Iterator[Fault]:
    model = answers.model
    slug = PurePosixPath(answers.path).stem
    if model.pack != f"mock-{slug}":
        yield Fault("pack", f"the answers of {model.pack} lie in calibration/{model.pack.removeprefix('mock-')}.md")
    if (pack := mocks.packs.get(model.pack)) is None:
        yield Fault("pack", f"{model.pack} is no pack that can be read")
    elif model.card not in {row.card for row in pack.model.cards}:
        yield Fault("card", f"{model.card} is no card of {model.pack}")
    if (found := question_of(model.card, bank)) is None:
        yield Fault("card", f"{model.card} is no open card of the bank")
        return
    card, question = found
    rubric = {item.id for item in question.rubric}
    means = []
    for name, answer in model.answers().items():
        if odd := sorted(answer.scores.keys() ^ rubric):
            yield Fault(
                f"{name}.scores", f"and the rubric of {card.id} differ in {', '.join(odd)}: score each item once"
            )
        means.append(fmean(score.level for score in answer.scores.values()))
        texts = [
            (f"{name}.why", answer.why),
            *((f"{name}.scores.{key}", row.why) for key, row in answer.scores.items()),
        ]
        section = answers.sections.get(name.capitalize(), "")
        if not MIN_WORDS <= len(section.split()) <= MAX_WORDS:
            count = f"{len(section.split())} words; {MIN_WORDS} to {MAX_WORDS}, as an answer is spoken"
            yield Fault(f"## {name.capitalize()}", count)
        yield from _filled([*texts, (f"## {name.capitalize()}", section)], card, model.seed)
    if means != sorted(set(means)):
        yield Fault("strong", "the mean level rises from weak over mixed to strong")
    for heading in sorted(answers.sections.keys() - {name.capitalize() for name in ANSWERS}):
        yield Fault(f"## {heading}", "is no section of calibration answers: Weak, Mixed, Strong")


def _filled(texts: list[tuple[str, str]], card: Card, seed: int) -> Iterator[Fault]:
    try:
        variant = draw(card, seed)
    except DrawError as error:
        yield Fault("seed", str(error))
        return
    for field, text in texts:
        yield from _marks(field, text)
        if rule := _unfilled(variant, text):
            yield Fault(field, rule)
