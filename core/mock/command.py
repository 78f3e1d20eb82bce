"""The command line of ``python -m core.mock``: check packs, preview one with its numbers, print a JSON Schema."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from core.cards.card import Card
from core.cards.draw import DrawError, Variant, draw
from core.cards.library import CONTENT, Bank, read_bank
from core.cards.models import Question
from core.cards.text import TextError
from core.mock.check import check_mocks
from core.mock.pack import Calibration, MockPack, PackCard
from core.mock.reading import read_mocks
from core.mock.truth import twist_texts

SCHEMAS: dict[str, type[BaseModel]] = {"mock": MockPack, "calibration": Calibration}


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit status is 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m core.mock", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="validate all packs and calibration answers, or those named")
    check.add_argument("paths", nargs="*", help="show only findings of files that begin with one of these")
    preview = commands.add_parser("preview", help="print a pack with its numbers put in")
    preview.add_argument("pack")
    schema = commands.add_parser("schema", help="print the JSON Schema of a kind, for editors")
    schema.add_argument("kind", choices=SCHEMAS)
    for command in (check, preview):
        command.add_argument("--content", type=Path, default=CONTENT)
    options = parser.parse_args(arguments)
    match options.command:
        case "check":
            return _check(options.content, options.paths)
        case "preview":
            return _preview(options.content, options.pack)
    print(json.dumps(SCHEMAS[options.kind].model_json_schema(), indent=2))
    return 0


def _check(content: Path, paths: Sequence[str]) -> int:
    mocks = read_mocks(content)
    if not mocks.packs and not mocks.problems:
        print(f"{content} holds no packs: they lie in mocks/")
        return 1
    places = tuple(path.removeprefix("./").removeprefix(f"{content.name}/") for path in paths)
    files = [file.relative_to(content).as_posix() for file in content.rglob("*") if file.is_file()]
    if nothing := [place for place in places if not any(file.startswith(place) for file in files)]:
        print(f"no file of {content} begins with {', '.join(nothing)}")
        return 1
    found = [item for item in check_mocks(mocks, read_bank(content)) if not places or item.path.startswith(places)]
    for problem in found:
        print(problem)
    count = f"{len(mocks.packs)} packs, {len(mocks.calibrations)} sets of calibration answers"
    print(f"{len(found)} problems" if found else f"ok: {count}")
    return 1 if found else 0


def _preview(content: Path, pack_id: str) -> int:
    mocks, bank = read_mocks(content), read_bank(content)
    pack = mocks.packs.get(pack_id)
    if pack is None:
        print(f"{pack_id} is no pack that can be read; run check")
        return 1
    try:
        for line in _lines(pack.model, bank):
            print(line)
        if answers := mocks.calibrations.get(pack_id):
            variant = _variant(bank, answers.model.card, answers.model.seed)
            for name, text in answers.sections.items():
                print(f"\n## {name}\n{variant.fill(text)}")
    except (DrawError, TextError, KeyError) as error:
        print(f"{pack_id} cannot be shown: {error}; run check")
        return 1
    return 0


def _variant(bank: Bank, card_id: str, seed: int) -> Variant:
    card = bank.cards[card_id]
    if not isinstance(card, Card):
        raise KeyError(card_id)
    return draw(card, seed)


def _lines(model: MockPack, bank: Bank) -> Iterator[str]:
    variants = {card_id: _variant(bank, card_id, seed) for card_id, seed in model.seeds.items()}
    main = variants[model.cards[0].card]
    yield f"{model.title}: {model.minutes} min, {model.level}, {model.theme}\n\n{main.fill(model.opening)}\n"
    for phase in model.phases:
        variant = variants.get(phase.card or "", main)
        yield f"{phase.minutes:>3} min  {phase.name} ({phase.kind}{f', {phase.card}' if phase.card else ''})"
        yield f"         goal: {variant.fill(phase.goal)}\n         done when: {variant.fill(phase.done_when)}"
        yield from (f"         ask: {variant.fill(probe)}" for probe in phase.probes)
    for row in model.cards:
        yield from _card(row, variants[row.card])
    for event in model.events:
        variant = variants.get(event.card or "", main)
        yield f"\nevent {event.id}: {variant.fill(event.say)}\n  expect: {variant.fill(event.expect)}"


def _card(row: PackCard, variant: Variant) -> Iterator[str]:
    yield f"\n{row.card}, seed {row.seed}: {dict(variant.truth)}"
    for node in row.tree:
        yield f"  [{node.id}] {variant.fill(node.say)}\n      good: {variant.fill(node.good)}"
        for heard, _, edge in node.edges():
            target = next(f"{key} {value}" for key, value in edge if key != "hear" and value is not None)
            yield f"      {heard}: {variant.fill(edge.hear)} -> {target}"
    assert isinstance(variant.card.model, Question)
    for twist in variant.card.model.twists:
        if twist.id in row.twists or not row.twists:
            said, expected = twist_texts(variant, twist.id)
            yield f"  twist {twist.id}: {said}\n    expect: {expected}"
