"""The command line of ``python -m core.cards``: check the bank, preview variants, write a scaffold or the schema."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from core.cards.bug import Bug
from core.cards.card import Card
from core.cards.claim import Claim, ClaimHead
from core.cards.draw import DrawError, draw
from core.cards.expressions import ExpressionError
from core.cards.library import CONTENT, read_bank
from core.cards.mcq import Mcq, QuizHead
from core.cards.models import CompetencyEntry, Drill, Question, Source, TopicEntry
from core.cards.scaffold import SCAFFOLDS, scaffold
from core.cards.text import TextError, significant
from core.cards.validate import SEEDS, check_bank

KINDS = ("drill", "mcq", "question", "bug", "claim")
SCHEMAS: dict[str, type[BaseModel]] = {
    "drill": Drill,
    "question": Question,
    "mcq": Mcq,
    "quiz": QuizHead,
    "bug": Bug,
    "claim": Claim,
    "claims": ClaimHead,
    "source": Source,
    "topic": TopicEntry,
    "competency": CompetencyEntry,
}


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit status is 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m core.cards", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="validate the whole bank, or what lies under the named paths")
    check.add_argument(
        "paths", nargs="*", help="show only findings of files that begin with one of these, from content/"
    )
    check.add_argument("--seeds", type=int, default=SEEDS, help="variants of each card")
    preview = commands.add_parser("preview", help="print five variants of a card")
    preview.add_argument("card")
    new = commands.add_parser("new", help="write a scaffold: new question serving my-slug")
    new.add_argument("kind", choices=SCAFFOLDS)
    new.add_argument("topic")
    new.add_argument("slug")
    schema = commands.add_parser("schema", help="print the JSON Schema of a kind, for editors")
    schema.add_argument("kind", choices=SCHEMAS)
    for command in (check, preview, new):
        command.add_argument("--content", type=Path, default=CONTENT)
    options = parser.parse_args(arguments)
    match options.command:
        case "check":
            return _check(options.content, options.paths, options.seeds)
        case "preview":
            return _preview(options.content, options.card)
        case "new":
            return _new(options.content, options.kind, options.topic, options.slug)
    print(json.dumps(SCHEMAS[options.kind].model_json_schema(), indent=2))
    return 0


def _check(content: Path, paths: Sequence[str], seeds: int) -> int:
    bank = read_bank(content)
    if not bank.cards and not bank.problems:
        print(f"{content} holds no cards: they lie in drills/, questions/ and quizzes/")
        return 1
    places = [path.removeprefix("./").removeprefix(f"{content.name}/") for path in paths]
    if nothing := [place for place in places if not any(file.startswith(place) for file in _files(content))]:
        print(f"no file of {content} begins with {', '.join(nothing)}")
        return 1
    found = [
        problem
        for problem in check_bank(bank, seeds=seeds)
        if not places or any(problem.path.startswith(place) for place in places)
    ]
    for problem in found:
        print(problem)
    counts = ", ".join(f"{len(bank.of_kind(kind))} {kind}s" for kind in KINDS)
    print(f"{len(found)} problems" if found else f"ok: {counts}, {len(bank.sources)} sources, {seeds} variants each")
    return 1 if found else 0


def _files(content: Path) -> list[str]:
    return [path.relative_to(content).as_posix() for path in content.rglob("*") if path.is_file()]


def _new(content: Path, kind: str, topic: str, slug: str) -> int:
    bank = read_bank(content)
    try:
        place, text = scaffold(kind, topic, slug, set(bank.topics))
        target = content / place
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        print(f"nothing was written: {target} exists; write your card into it, or take another slug")
        return 1
    except (ValueError, OSError) as error:
        print(f"nothing was written: {error}")
        return 1
    print(f"{target}: fill it in, then run: python -m core.cards check {place}")
    return 0


def _preview(content: Path, card_id: str) -> int:
    card = read_bank(content).cards.get(card_id)
    if not isinstance(card, Card):
        print(f"{card_id} is no drill or question that can be read; run check")
        return 1
    try:
        _print_variants(card)
    except (DrawError, TextError, ExpressionError) as error:
        print(f"{card_id} cannot be drawn: {error}; run check")
        return 1
    return 0


def _print_variants(card: Card) -> None:
    for seed in range(5):
        variant = draw(card, seed)
        print(f"--- seed {seed}: {dict(variant.values)}")
        for name, text in card.sections.items():
            print(f"## {name}\n{variant.fill(text)}\n")
        for name, value in variant.truth.items():
            print(f"{name} = {significant(value, 6)}")
        if isinstance(card.model, Drill):
            for slip in card.model.partial:
                print(f"slip {significant(variant.value_of(slip.expr), 6)}: {variant.fill(slip.say)}")
