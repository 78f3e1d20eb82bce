"""Read mock packs and their calibration answers from content; what is at fault is named by file, line and field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from core.cards.card import short_hash, split_sections
from core.cards.front_matter import YamlFault, line_of, path_of, read_yaml, split_front_matter
from core.cards.library import CONTENT, findings, text_of
from core.cards.problems import CardError, CardProblem
from core.mock.pack import Calibration, MockPack

MOCKS, CALIBRATION = "mocks", "calibration"


@dataclass(frozen=True)
class Pack:
    """A pack as it was read."""

    model: MockPack
    path: str
    content_hash: str
    text: str

    @property
    def id(self) -> str:
        return self.model.id

    def line_of(self, at: str) -> int:
        """The line of a field like ``phases.2.card``; rows with an id may be named by it."""
        return line_of(self.text, path_of(at))


@dataclass(frozen=True)
class CalibrationAnswers:
    """Three scripted answers with their scores; ``sections`` are the answers by heading, with placeholders."""

    model: Calibration
    sections: Mapping[str, str]
    path: str
    text: str

    def line_of(self, at: str) -> int:
        """The line of a field of the front matter, or of a section (``## Weak``)."""
        if at.startswith("## "):
            lines = self.text.split("\n")
            return next((number for number, line in enumerate(lines, 1) if line.strip() == at), 1)
        return line_of(split_front_matter(self.text)[0], path_of(at), 2)


@dataclass
class Mocks:
    """Everything read: packs and calibration answers, both by the pack's id."""

    packs: dict[str, Pack] = field(default_factory=dict)
    calibrations: dict[str, CalibrationAnswers] = field(default_factory=dict)
    problems: list[CardProblem] = field(default_factory=list)


def load_packs(root: Path = CONTENT) -> dict[str, Pack]:
    """Every pack under a content folder, by id.

    Raises:
        CardError: a file cannot be read as what it says it is; all findings are in it.
    """
    mocks = read_mocks(root)
    if mocks.problems:
        raise CardError(mocks.problems)
    return mocks.packs


def read_mocks(root: Path = CONTENT) -> Mocks:
    """Packs and calibration answers; what cannot be read is a problem, and the rest is still there."""
    paths = [*sorted((root / MOCKS).glob("*.yaml")), *sorted((root / CALIBRATION).glob("*.md"))]
    return read_texts({path.relative_to(root).as_posix(): path.read_bytes() for path in paths})


def read_texts(files: Mapping[str, bytes]) -> Mocks:
    """The same from texts by path."""
    mocks = Mocks()
    for path, raw in files.items():
        try:
            text = text_of(raw)
            if path.startswith(f"{MOCKS}/"):
                _add_pack(path, text, mocks)
            else:
                _add_calibration(path, text, mocks)
        except YamlFault as fault:
            mocks.problems.append(CardProblem(path, fault.line, fault.field, str(fault)))
    return mocks


def _add_pack(path: str, text: str, mocks: Mocks) -> None:
    data = read_yaml(text)
    if not isinstance(data, dict):
        raise YamlFault("is a table that begins with schema: mock/1", 1)
    try:
        pack = Pack(MockPack.model_validate(data), path, short_hash(text), text)
    except ValidationError as error:
        mocks.problems += findings(error, path, text, 1)
        return
    if first := mocks.packs.get(pack.id):
        mocks.problems.append(CardProblem(path, pack.line_of("id"), "id", f"{pack.id} stands in {first.path} already"))
    else:
        mocks.packs[pack.id] = pack


def _add_calibration(path: str, text: str, mocks: Mocks) -> None:
    head, body = split_front_matter(text)
    data = read_yaml(head, 2)
    if not isinstance(data, dict):
        raise YamlFault("begins with YAML front matter between two lines of ---", 1)
    try:
        answers = CalibrationAnswers(Calibration.model_validate(data), split_sections(body), path, text)
    except ValidationError as error:
        mocks.problems += findings(error, path, head, 2)
        return
    pack = answers.model.pack
    if first := mocks.calibrations.get(pack):
        rule = f"the answers of {pack} stand in {first.path} already"
        mocks.problems.append(CardProblem(path, answers.line_of("pack"), "pack", rule))
    else:
        mocks.calibrations[pack] = answers
