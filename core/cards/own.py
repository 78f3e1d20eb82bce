"""A person's own cards: a zip or a folder in the bank's format, checked with the same words, trusted with nothing."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core.cards.card import AnyCard, Card
from core.cards.check_text import texts
from core.cards.draw import DrawError, draw
from core.cards.library import MAX_FILE_BYTES, Bank, read_texts
from core.cards.models import Source
from core.cards.problems import CardProblem
from core.cards.text import TextError
from core.cards.validate import check_one
from core.units import MB

MAX_ZIP_MB = 2
MAX_ZIP_BYTES = MAX_ZIP_MB * MB
MAX_FILES = 500
SEEDS = 50  # of the 200 that the shipped bank is checked with: an upload is answered in seconds
MAX_TOTAL_BYTES = 5 * MB  # unpacked
FOLDERS = ("drills", "questions", "quizzes", "claims", "sources")
SUFFIXES = {".md", ".yaml", ".yml"}


class OwnCardsError(ValueError):
    """A zip or a folder that cannot be read as cards, in words."""


@dataclass(frozen=True)
class OwnCards:
    """What was found: cards that may be used, and why others may not."""

    cards: Mapping[str, AnyCard]
    problems: tuple[CardProblem, ...]
    sources: Mapping[str, Source]  # that they bring along


def from_zip(data: bytes, shipped: Bank) -> OwnCards:
    """The cards of a zip file.

    Raises:
        OwnCardsError: too large, no zip, or nothing in it that is a card.
    """
    return checked(texts_of_zip(data), shipped)


def from_folder(folder: Path, shipped: Bank) -> OwnCards:
    """The cards of a folder on this machine.

    Raises:
        OwnCardsError: there is no such folder, or nothing in it that is a card.
    """
    if not folder.is_dir():
        raise OwnCardsError(f"{folder} is no folder. Set it to the folder that holds drills, questions or quizzes.")
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix in SUFFIXES]
    if len(found) > MAX_FILES:
        raise OwnCardsError(f"{folder} holds {len(found):,} files; at most {MAX_FILES} are read.")
    return checked(_placed({path.relative_to(folder).as_posix(): _head(path) for path in found}), shipped)


def texts_of_zip(data: bytes) -> dict[str, bytes]:
    """The card files of a zip by path, unpacked within bounds.

    Raises:
        OwnCardsError: too large, no zip, encrypted or damaged, or nothing in it that is a card.
    """
    if len(data) > MAX_ZIP_BYTES:
        raise OwnCardsError(f"This zip has {len(data) / MB:.1f} MB; {MAX_ZIP_MB} MB are read. Split it by topic.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if PurePosixPath(entry.filename).suffix in SUFFIXES]
            if len(entries) > MAX_FILES:
                raise OwnCardsError(f"This zip holds {len(entries):,} card files; at most {MAX_FILES} are read.")
            texts: dict[str, bytes] = {}
            for entry in entries:
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise OwnCardsError(f"{entry.filename[:80]} is packed in an unusual way. Zip the folder again.")
                with archive.open(entry) as file:  # sizes in the zip's own table may lie, so reading is what is bounded
                    texts[entry.filename] = file.read(MAX_FILE_BYTES + 1)
                if sum(map(len, texts.values())) > MAX_TOTAL_BYTES:
                    raise OwnCardsError(f"This zip unpacks to more than {MAX_TOTAL_BYTES / MB:.0f} MB of cards.")
    except (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError, ValueError) as error:
        if isinstance(error, OwnCardsError):
            raise
        raise OwnCardsError(f"This file cannot be read as a zip: {error}. Zip the folder again.") from None
    return _placed(texts)


def checked(texts: Mapping[str, bytes], shipped: Bank) -> OwnCards:
    """Cards from texts, with everything wrong with them; a card with a problem is left out.

    Own cards may cite the shipped sources and link to shipped cards, and never take the place of one.
    """
    own = read_texts(texts, own=True)
    problems = list(own.problems)
    whole = Bank(
        cards={**own.cards, **shipped.cards},
        sources={**own.sources, **shipped.sources},
        topics=shipped.topics,
        competencies=shipped.competencies,
    )
    usable: dict[str, AnyCard] = {}
    for card_id, card in own.cards.items():
        if card_id in shipped.cards:
            found = [
                CardProblem(
                    card.path, card.line_of("id"), "id", f"{card_id} is a card of the app: give yours another id"
                )
            ]
        else:
            found = check_one(card, whole, seeds=SEEDS)
        problems += found
        if not found:
            usable[card_id] = card
    if not own.cards and not problems:
        raise OwnCardsError(f"No card was found. Cards lie in the folders {', '.join(FOLDERS)} as .md files.")
    return OwnCards(usable, tuple(sorted(set(problems))), own.sources)


def draw_fault(card: AnyCard, seed: int) -> str:
    """Why this draw of an own card cannot be shown: the check has seen some seeds, not all. Empty if it can."""
    if not isinstance(card, Card):
        return ""
    try:
        variant = draw(card, seed)
        for field, text in texts(card).items():
            if not field.startswith("twists."):  # these are filled with other numbers, and guarded there
                variant.fill(text)
    except (DrawError, TextError) as error:
        return str(error)
    return ""


def _placed(texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Paths from the first folder that the bank knows, so that a zip of the folder above works as well."""
    placed = {}
    for name, text in texts.items():
        parts = PurePosixPath(name).parts
        start = next((position for position, part in enumerate(parts) if part in FOLDERS), None)
        if start is not None and not any(part.startswith((".", "__MACOSX")) for part in parts):
            placed["/".join(parts[start:])] = text
    return placed


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)
