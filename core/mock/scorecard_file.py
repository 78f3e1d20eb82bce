"""A scorecard as a JSON file: the same card gives the same bytes, and a file that was changed is refused in words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from core.cards.draw import DrawError
from core.cards.library import Bank
from core.mock.fold import fold
from core.mock.opening import changes
from core.mock.plan import PlanError, plan_of
from core.mock.reading import Pack
from core.mock.scorecard import SCHEMA, Scorecard
from core.mock.scorecard_build import ScorecardError, events_of, scorecard
from core.mock.state import RoomState

MAX_BYTES = 20_000_000
CHECKSUM = "checksum"


@dataclass(frozen=True, slots=True)
class Imported:
    """A card that was read, and what has changed in the app since it was made, in words."""

    card: Scorecard
    warnings: tuple[str, ...]


def to_json(card: Scorecard) -> str:
    """The card as text, its keys sorted, with a checksum over the rest."""
    data = card.model_dump(mode="json", by_alias=True)
    return _text({**data, CHECKSUM: _checksum(data)}) + "\n"


def from_json(raw: bytes, packs: Mapping[str, Pack], bank: Bank) -> Imported:
    """Read a file that :func:`to_json` made.

    The checksum shows damage and careless edits. An interviewer's copy is also made anew from its log, where pack,
    cards and core are those of then: what does not follow from the log is refused.

    Raises:
        ScorecardError: no scorecard, or a changed one, in words.
    """
    card = _read(raw)
    pack = packs.get(card.pack)
    if pack is None:
        return Imported(card, (f"This app has no pack {card.pack}: the card can be read, and its room not restored.",))
    if not card.log:
        return Imported(card, ())
    try:
        state = fold(RoomState(plan_of(pack, bank)), events_of(card))
        found = changes(state, bank)
        if found:
            return Imported(card, found)
        again = scorecard(
            state, events_of(card), pack, bank, audience=card.audience, rater=card.rater, with_names=bool(card.names)
        )
    except (PlanError, DrawError, ScorecardError) as error:
        return Imported(card, (f"The room of this card cannot be restored: {error}",))
    if to_json(again) != to_json(card):  # what stands in no file is not compared
        raise ScorecardError("This scorecard was changed after it was exported: it does not follow from its own log.")
    return Imported(card, ())


def _read(raw: bytes) -> Scorecard:
    if len(raw) > MAX_BYTES:
        raise ScorecardError(f"This file has {len(raw) / 1e6:.0f} MB; a scorecard has at most {MAX_BYTES / 1e6:.0f}.")
    try:
        data = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ScorecardError("This file is no JSON: choose the .json file that was exported here.") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ScorecardError(f"This file is no scorecard: it does not say {SCHEMA}.")
    given = data.pop(CHECKSUM, None)
    try:
        card = Scorecard.model_validate(data)
        same = _checksum(data) == given == _checksum(card.model_dump(mode="json", by_alias=True))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))[:120]
        raise ScorecardError(f"This scorecard was changed after it was exported: {place}: {first['msg']}.") from None
    except (ValueError, RecursionError):
        same = False
    if not same:
        raise ScorecardError("This scorecard was changed after it was exported, or damaged: its checksum does not fit.")
    return card


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _text(data: object) -> str:
    return json.dumps(data, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)


def _checksum(data: object) -> str:
    return hashlib.sha256(_text(data).encode("utf-8")).hexdigest()
