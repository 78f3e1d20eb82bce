"""The numbers of a room's cards, before and after its twists, each with its formula and one line of working."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.cards.card import Card
from core.cards.draw import DrawError, Value, Variant, computations, draw, number_label, shown, twisted
from core.cards.expressions import FUNCTIONS
from core.cards.library import Bank
from core.cards.models import Question
from core.cards.text import significant, with_unit
from core.mock.state import AppliedTwist, RoomState

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class TruthRow:
    """One number: as it was, as it is after the twists, and how it comes about. ``unit`` is that of both values."""

    name: str
    label: str
    unit: str
    base: float
    now: float
    formula: str
    working: str  # of ``now``
    digits: int

    @property
    def base_text(self) -> str:
        """The first value with its unit."""
        return with_unit(self.base, self.digits, self.unit)

    @property
    def now_text(self) -> str:
        """The value after the twists with its unit."""
        return with_unit(self.now, self.digits, self.unit)

    @property
    def moved(self) -> bool:
        """Whether the twists changed it, as far as it is printed."""
        return self.base_text != self.now_text


@dataclass(frozen=True)
class CardTruth:
    """One card of a room: its variants after 0, 1, 2 ... of the room's twists; ``refused`` names twists that failed."""

    after: tuple[Variant, ...]
    refused: tuple[str, ...] = ()

    @property
    def base(self) -> Variant:
        """As it was drawn."""
        return self.after[0]

    @property
    def now(self) -> Variant:
        """After all twists so far."""
        return self.after[-1]

    def at(self, twists: int) -> Variant:
        """As it was when the room had so many twists."""
        return self.after[min(twists, len(self.after) - 1)]

    def rows(self) -> tuple[TruthRow, ...]:
        """Every computed number."""
        values = shown(self.now.card, self.now.values)
        return tuple(
            TruthRow(
                name=name,
                label=number_label(name, computed),
                unit=computed.unit,
                base=self.base.truth[name],
                now=self.now.truth[name],
                formula=computed.check,
                working=_put_in(computed.check, values),
                digits=computed.digits,
            )
            for name, computed in computations(self.now.card).items()
        )


def truths(state: RoomState, bank: Bank) -> dict[str, CardTruth]:
    """Every open card and drill of a room by id.

    Raises:
        DrawError: a card has no variant for the room's seed.
    """
    found = {}
    for card_id, seed in state.seeds.items():
        card = bank.cards[card_id]
        assert isinstance(card, Card)  # the plan was made from the same bank
        found[card_id] = card_truth(draw(card, seed), state.twists)
    return found


def card_truth(base: Variant, twists: Sequence[AppliedTwist]) -> CardTruth:
    """One card after each of a room's twists; those of other cards, and events, change nothing here."""
    model = base.card.model
    changes = {twist.id: twist.set for twist in model.twists} if isinstance(model, Question) else {}
    after, refused = [base], []
    for twist in twists:
        variant = after[-1]
        if twist.card == base.card.id and twist.twist in changes:
            try:
                variant = twisted(variant, changes[twist.twist])
            except DrawError:
                refused.append(twist.twist)
        after.append(variant)
    return CardTruth(tuple(after), tuple(refused))


def twist_texts(variant: Variant, twist_id: str) -> tuple[str, str]:
    """What is said and what is expected for a twist of a card, as it would be applied to this variant."""
    model = variant.card.model
    assert isinstance(model, Question)
    twist = next(twist for twist in model.twists if twist.id == twist_id)
    try:
        changed = twisted(variant, twist.set)
    except DrawError:
        changed = variant
    return variant.fill(twist.say), changed.fill(twist.expect)


def _put_in(formula: str, values: Mapping[str, Value]) -> str:
    """A formula with its numbers put in."""

    def put(match: re.Match[str]) -> str:
        value = values.get(match[0])
        if match[0] in FUNCTIONS or value is None:
            return match[0]
        return value if isinstance(value, str) else significant(value, 6).replace(",", "")

    return _WORD.sub(put, formula)
