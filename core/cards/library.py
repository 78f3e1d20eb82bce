"""Read the bank: every card file under a folder, with each fault named by file, line, field and value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from core.cards.bug import FAULTY, PROGRAMS, Bug, BugCard
from core.cards.card import AnyCard, Card, short_hash, split_sections
from core.cards.claim import Claim, ClaimCard, ClaimHead
from core.cards.front_matter import YamlFault, line_of, read_yaml, split_front_matter
from core.cards.mcq import Mcq, McqCard, QuizHead
from core.cards.models import CompetencyEntry, Drill, Misplaced, Question, Source, TopicEntry
from core.cards.problems import CardError, CardProblem, short

CONTENT = Path(__file__).resolve().parents[2] / "content"
MAX_FILE_BYTES = 200_000
MAX_FIELD = 120
_TYPES = {"float", "str", "bool", "constrained-str"}  # as pydantic names the branches of a union
MAX_FINDINGS = 20  # of one file: who sees these knows what to do
SCHEMA_NAMES = ("drill/1", "question/1", "quiz/1", "bug/1", "claim/1")
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass
class Bank:
    """Everything read from one content folder."""

    cards: dict[str, AnyCard] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    topics: dict[str, TopicEntry] = field(default_factory=dict)
    competencies: dict[str, CompetencyEntry] = field(default_factory=dict)
    problems: list[CardProblem] = field(default_factory=list)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)  # of sources: file and line

    def of_kind(self, kind: str) -> list[AnyCard]:
        """Cards of one kind in the order of their ids."""
        return [card for _, card in sorted(self.cards.items()) if card.kind == kind]


def load_cards(root: Path = CONTENT) -> dict[str, AnyCard]:
    """Every card under a content folder, by id.

    Raises:
        CardError: a file cannot be read as what it says it is; all findings are in it.
    """
    bank = read_bank(root)
    if bank.problems:
        raise CardError(bank.problems)
    return bank.cards


def read_bank(root: Path = CONTENT) -> Bank:
    """Cards, sources, topics and competencies; what cannot be read is a problem, and the rest is still there."""
    files = {
        path.relative_to(root).as_posix(): path
        for folder in ("drills", "questions", "quizzes", "bugs", "claims", "sources")
        for path in sorted((root / folder).rglob("*"))
        if (path.suffix in {".md", ".yaml"} or (folder == "bugs" and path.name in PROGRAMS)) and path.is_file()
    }
    for name in ("topics.yaml", "competencies.yaml"):
        if (root / name).is_file():
            files[name] = root / name
    return read_texts({name: path.read_bytes() for name, path in files.items()})


def read_texts(files: Mapping[str, bytes], *, own: bool = False) -> Bank:
    """The same from texts by path, as they come out of a zip file; own cards are marked as such."""
    bank = Bank()
    for path, raw in files.items():
        if path.endswith(".py"):  # read with the card that it belongs to
            continue
        try:
            text = text_of(raw)
            if path.startswith("sources/"):
                _add_sources(path, text, bank)
            elif path == "topics.yaml":
                bank.topics = _table(TopicEntry, path, text, bank)
            elif path == "competencies.yaml":
                bank.competencies = _table(CompetencyEntry, path, text, bank)
            else:
                for card in _cards(path, text, bank, files, own=own):
                    if card.id in bank.cards:
                        rule = f"{card.id} stands in {bank.cards[card.id].path} already: give one of the two another id"
                        bank.problems.append(CardProblem(path, card.line_of("id"), "id", rule))
                    else:
                        bank.cards[card.id] = card
        except YamlFault as fault:
            bank.problems.append(CardProblem(path, fault.line, fault.field, str(fault)))
    return bank


def text_of(raw: bytes) -> str:
    """A file of content as text with plain line ends.

    Raises:
        YamlFault: too large, or not UTF-8.
    """
    if len(raw) > MAX_FILE_BYTES:
        raise YamlFault(f"{len(raw):,} bytes; a card file has at most {MAX_FILE_BYTES:,}", 1)
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise YamlFault("is not UTF-8 text: save it as UTF-8", line) from None


def _table(model: type[_Model], path: str, text: str, bank: Bank) -> dict[str, _Model]:
    raw = read_yaml(text)
    if not isinstance(raw, dict):
        raise YamlFault("is a table: a key a row", 1)
    rows = {}
    for key, row in raw.items():
        try:
            rows[str(key)] = model.model_validate(row)
        except ValidationError as error:
            bank.problems += findings(error, path, text, 1, (str(key),))
    return rows


def _add_sources(path: str, text: str, bank: Bank) -> None:
    for key, row in _table(Source, path, text, bank).items():
        line = line_of(text, (key,))
        if key in bank.sources:
            first, first_line = bank.places[key]
            bank.problems.append(CardProblem(path, line, key, f"stands in {first}:{first_line} already: keep one"))
        else:
            bank.sources[key], bank.places[key] = row, (path, line)


def _cards(path: str, text: str, bank: Bank, files: Mapping[str, bytes], *, own: bool) -> Iterator[AnyCard]:
    head, body = split_front_matter(text)
    data = read_yaml(head, 2)
    if not isinstance(data, dict):
        raise YamlFault("begins with YAML front matter between two lines of ---", 1)
    schema = data.get("schema")
    if schema not in SCHEMA_NAMES:
        line = line_of(head, ("schema",), 2)
        raise YamlFault(f"{short(schema)} is not known; write one of {', '.join(SCHEMA_NAMES)}", line, "schema")
    try:
        if schema == "quiz/1":
            yield from _mcqs(QuizHead.model_validate(data), path, text, bank, own=own)
            return
        if schema == "claim/1":
            yield from _claims(ClaimHead.model_validate(data), path, text, bank, own=own)
            return
        if schema == "bug/1":
            yield _bug(Bug.model_validate(data), path, text, files, own=own)
            return
        model = (Drill if schema == "drill/1" else Question).model_validate(data)
    except ValidationError as error:
        bank.problems += findings(error, path, head, 2)
        return
    numbers = repr((data.get("params"), data.get("require"), data.get("answer") or data.get("compute")))
    yield Card(model, split_sections(body), path, short_hash(text), short_hash(str(schema), numbers), text, own)


def _mcqs(quiz: QuizHead, path: str, text: str, bank: Bank, *, own: bool) -> Iterator[McqCard]:
    for line, block, model in _models("mcq", Mcq, path, text, bank):
        options = repr([(option.text, option.correct) for option in model.options])
        content, answer = short_hash(block), short_hash(model.stem, options)
        yield McqCard(model, quiz.topic, quiz.step, path, line, content, answer, block, own)


def _claims(head: ClaimHead, path: str, text: str, bank: Bank, *, own: bool) -> Iterator[ClaimCard]:
    for line, block, model in _models("claim", Claim, path, text, bank):
        content, answer = short_hash(block), short_hash(model.claim, model.verdict)
        yield ClaimCard(model, head.topic, head.step, path, line, content, answer, block, own)


def _bug(model: Bug, path: str, text: str, files: Mapping[str, bytes], *, own: bool) -> BugCard:
    if own:
        raise YamlFault("programs come with the app only, since they are run: write a quiz question", 1, "schema")
    folder = path.rpartition("/")[0]
    if missing := [name for name in PROGRAMS if f"{folder}/{name}" not in files]:
        raise YamlFault(f"beside it lie {', '.join(PROGRAMS)}; missing: {', '.join(missing)}", 1)
    faulty, fixed, demonstration = (text_of(files[f"{folder}/{name}"]) for name in PROGRAMS)
    content = short_hash(text, faulty, fixed, demonstration)
    answer = short_hash(FAULTY, faulty, repr([(fault.line, fault.also) for fault in model.faults]))
    return BugCard(model, path, content, answer, text, faulty, fixed, demonstration)


def _models(fence: str, kind: type[_Model], path: str, text: str, bank: Bank) -> Iterator[tuple[int, str, _Model]]:
    """The blocks of one kind that can be read: first line, text and model."""
    blocks = 0
    for line, block in _blocks(text, fence):
        blocks += 1
        if block is None:
            bank.problems.append(CardProblem(path, line - 1, "", "the block is not closed: end it with a line of ```"))
            continue
        try:
            data = read_yaml(block, line)
            model = kind.model_validate(data)
        except YamlFault as fault:
            bank.problems.append(CardProblem(path, fault.line, fault.field, str(fault)))
            continue
        except ValidationError as error:
            bank.problems += findings(error, path, block, line)
            continue
        yield line, block, model
    if not blocks:
        bank.problems.append(CardProblem(path, 1, "", f"holds no block that begins with ```{fence}"))


def _blocks(text: str, fence: str) -> Iterator[tuple[int, str | None]]:
    """Each fenced block of a kind with its first line; None where it is not closed before the next one begins."""
    begun, lines = 0, text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.rstrip() == f"```{fence}":
            if begun:
                yield begun, None
            begun = number + 1
        elif begun and line.rstrip() == "```":
            yield begun, "\n".join([*lines[begun - 1 : number - 1], ""])
            begun = 0
    if begun:
        yield begun, None


def findings(
    error: ValidationError, path: str, text: str, first_line: int, below: tuple[object, ...] = ()
) -> list[CardProblem]:
    """What pydantic refused, each at its line of the text.

    Args:
        text: the YAML that was read.
        first_line: of the text in its file.
        below: the keys under which the model stands in the text.
    """
    found: dict[tuple[int, str], CardProblem] = {}
    errors = error.errors(include_url=False)[: 2 * MAX_FINDINGS]
    faulty = {item["loc"][:depth] for item in errors for depth in range(len(item["loc"]))}
    for item in errors:
        if item["type"] == "too_short" and item["loc"] in faulty:
            continue  # pydantic does not count the rows that it refused, and each of them has its own finding
        reason = item.get("ctx", {}).get("error")
        at = reason.at if isinstance(reason, Misplaced) else ()
        loc = [*below, *item["loc"], *at]
        one_of_several = False
        while loc and isinstance(loc[-1], str) and (loc[-1] in _TYPES or "[" in loc[-1]):
            loc.pop()  # which branch of "a number or a text" it was
            one_of_several = True
        place = ".".join(map(str, loc))[:MAX_FIELD]
        problem = CardProblem(path, line_of(text, tuple(loc), first_line), place, _rule(item))
        if not (one_of_several and (problem.line, place) in found):  # the first branch says enough
            found[problem.line, place] = problem
    return list(found.values())[:MAX_FINDINGS]


def _rule(item: Mapping[str, Any]) -> str:
    message = str(item["msg"]).removeprefix("Value error, ")
    match item["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a field of this schema: remove it or correct its name"
        case "value_error":
            return message
    return f"{short(item['input'])}: {message[0].lower()}{message[1:]}"
