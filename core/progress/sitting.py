"""Going through a queue: a missed card comes once more at the end, and that second answer is not logged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.progress.document import Rating


@dataclass(frozen=True, slots=True)
class Sitting:
    """Cards still to come, by id. A card that stands in ``missed`` was logged already."""

    waiting: tuple[str, ...]
    missed: frozenset[str] = frozenset()

    @property
    def current(self) -> str | None:
        """The card to show; None at the end."""
        return self.waiting[0] if self.waiting else None

    @property
    def is_repeat(self) -> bool:
        """Whether the current card was missed in this sitting: its answer is shown but not logged."""
        return self.current in self.missed

    def answered(self, rating: Rating) -> Sitting:
        """After the current card got this rating.

        Raises:
            ValueError: nothing is left.
        """
        if self.current is None:
            raise ValueError("rating has no card: the sitting is over; start another")
        rest = self.waiting[1:]
        if rating == "again" and not self.is_repeat:
            return replace(self, waiting=(*rest, self.current), missed=self.missed | {self.current})
        return replace(self, waiting=rest)


def sit_down(card_ids: Iterable[str]) -> Sitting:
    """At the start of a queue; a card named twice comes once."""
    return Sitting(tuple(dict.fromkeys(card_ids)))
