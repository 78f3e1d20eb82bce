"""Read the bank: every card file under a folder, with each fault named by file, line, field and value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import frontmatter
import yaml
from frontmatter.default_handlers import YAMLHandler
from pydantic import BaseModel, ValidationError

from core.cards.card import AnyCard, Card, McqCard, short_hash, split_sections
from core.cards.models import CompetencyEntry, Drill, Mcq, Question, QuizHead, Source, TopicEntry
from core.cards.problems import CardError, CardProblem, line_of

CONTENT = Path(__file__).resolve().parents[2] / "content"
MAX_FILE_BYTES = 200_000
_FENCE = re.compile(r"^```mcq\n(?P<block>.*?)^```\s*$", re.M | re.S)
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass
class Bank:
    """Everything read from one content folder."""

    cards: dict[str, AnyCard] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    topics: dict[str, TopicEntry] = field(default_factory=dict)
    competencies: dict[str, CompetencyEntry] = field(default_factory=dict)
    problems: list[CardProblem] = field(default_factory=list)

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
        for folder in ("drills", "questions", "quizzes", "sources")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in {".md", ".yaml"} and path.is_file()
    }
    for name in ("topics.yaml", "competencies.yaml"):
        if (root / name).is_file():
            files[name] = root / name
    return read_texts({name: path.read_bytes() for name, path in files.items()})


def read_texts(files: Mapping[str, bytes], *, own: bool = False) -> Bank:
    """The same from texts by path, as they come out of a zip file; own cards are marked as such."""
    bank = Bank()
    for path, raw in files.items():
        try:
            text = _text(raw)
            if path.startswith("sources/"):
                _add(bank.sources, _table(Source, path, text, bank), path, bank)
            elif path == "topics.yaml":
                _add(bank.topics, _table(TopicEntry, path, text, bank), path, bank)
            elif path == "competencies.yaml":
                _add(bank.competencies, _table(CompetencyEntry, path, text, bank), path, bank)
            else:
                for card in _cards(path, text, bank, own=own):
                    if card.id in bank.cards:
                        first = bank.cards[card.id].path
                        bank.problems.append(CardProblem(path, 1, "id", f"{card.id} stands in {first} already"))
                    else:
                        bank.cards[card.id] = card
        except _Unreadable as error:
            bank.problems.append(CardProblem(path, error.line, error.field, str(error)))
    return bank


class _Unreadable(ValueError):
    def __init__(self, message: str, line: int = 1, field: str = "") -> None:
        super().__init__(message)
        self.line, self.field = line, field


def _text(raw: bytes) -> str:
    if len(raw) > MAX_FILE_BYTES:
        raise _Unreadable(f"{len(raw):,} bytes; a card file has at most {MAX_FILE_BYTES:,}")
    try:
        return raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise _Unreadable("is not UTF-8 text: save it as UTF-8") from None


def _yaml(text: str, first_line: int = 1) -> object:
    if re.search(r"(^|[\s\[{,:-])[&*][A-Za-z0-9_]", text) and any(
        isinstance(event, yaml.AliasEvent) for event in _events(text)
    ):
        raise _Unreadable("YAML aliases (*name) are not used in cards: write the value out", first_line)
    try:
        return yaml.load(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = first_line + (mark.line if mark else 0)
        problem = getattr(error, "problem", None) or str(error)
        raise _Unreadable(
            f"the YAML cannot be read here: {problem}; quote a text that holds ': ' or ' #'", line
        ) from None


def _events(text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return


def _table(model: type[_Model], path: str, text: str, bank: Bank) -> dict[str, _Model]:
    raw = _yaml(text)
    if not isinstance(raw, dict):
        raise _Unreadable("is a table: a key a row")
    rows = {}
    for key, row in raw.items():
        try:
            rows[str(key)] = model.model_validate(row)
        except ValidationError as error:
            bank.problems += _findings(error, path, text, 1, (str(key),))
    return rows


def _add(table: dict[str, _Model], rows: dict[str, _Model], path: str, bank: Bank) -> None:
    for key, row in rows.items():
        if key in table:
            bank.problems.append(CardProblem(path, 1, key, "stands in another file already"))
        else:
            table[key] = row


def _cards(path: str, text: str, bank: Bank, *, own: bool) -> Iterator[AnyCard]:
    head, body = split_front_matter(text)
    data = _yaml(head, 2)
    if not isinstance(data, dict):
        raise _Unreadable("begins with YAML front matter between two lines of ---")
    schema = data.get("schema")
    try:
        match schema:
            case "drill/1" | "question/1":
                model = (Drill if schema == "drill/1" else Question).model_validate(data)
                sections = split_sections(body)
                numbers = repr((data.get("params"), data.get("require"), data.get("answer") or data.get("compute")))
                yield Card(model, sections, path, short_hash(text), short_hash(str(schema), numbers), text, own)
            case "quiz/1":
                quiz = QuizHead.model_validate(data)
                yield from _mcqs(quiz, path, text, bank, own=own)
            case _:
                line = line_of(head, ("schema",), 2)
                known = "drill/1, question/1, quiz/1"
                raise _Unreadable(f"{schema!r} is not known; write one of {known}", line, "schema")
    except ValidationError as error:
        bank.problems += _findings(error, path, head, 2)


def split_front_matter(text: str) -> tuple[str, str]:
    """The YAML between the first two lines of three dashes, and the Markdown below; empty YAML where there is none."""
    if not frontmatter.checks(text):
        return "", text
    head, body = YAMLHandler().split(text)
    return head.strip("\n"), body


def _mcqs(quiz: QuizHead, path: str, text: str, bank: Bank, *, own: bool) -> Iterator[McqCard]:
    for found in _FENCE.finditer(text):
        first_line = text.count("\n", 0, found.start()) + 2
        block = found["block"]
        try:
            data = _yaml(block, first_line)
            model = Mcq.model_validate(data)
        except _Unreadable as error:
            bank.problems.append(CardProblem(path, error.line, error.field, str(error)))
            continue
        except ValidationError as error:
            bank.problems += _findings(error, path, block, first_line)
            continue
        options = repr([(option.text, option.correct) for option in model.options])
        yield McqCard(
            model, quiz.topic, quiz.step, path, first_line, short_hash(block), short_hash(model.stem, options), own
        )


def _findings(
    error: ValidationError, path: str, text: str, first_line: int, below: tuple[object, ...] = ()
) -> list[CardProblem]:
    return [
        CardProblem(
            path,
            line_of(text, (*below, *item["loc"]), first_line),
            ".".join(map(str, (*below, *item["loc"]))),
            _rule(item),
        )
        for item in error.errors(include_url=False)
    ]


def _rule(item: Mapping[str, Any]) -> str:
    message = str(item["msg"]).removeprefix("Value error, ")
    match item["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a field of this schema: remove it or correct its name"
        case "value_error":
            return message
    shown = repr(item["input"])
    return f"{shown if len(shown) <= 80 else shown[:77] + '...'}: {message[0].lower()}{message[1:]}"
