"""The map of topics by steps: how much is known now, how much was seen, what is due, where the learner is too sure.

A cell's strength is mean retrievability of the cards seen x coverage, which is the mean over all of its cards with 0
for those not seen. A card missed at its last answer counts as 0 too: FSRS takes the shown answer as learnt, so without
this a check-up with every answer wrong would draw the same map as one with every answer right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.progress.calibration import calibration, is_overconfident
from core.progress.card_info import CardInfo
from core.progress.document import Attempt
from core.progress.schedule import CardState, is_due, retrievability

STEPS: tuple[int | None, ...] = (1, 2, 3, 4, 5, None)  # None: cards that cut across all steps


@dataclass(frozen=True, slots=True)
class Cell:
    """One topic in one step, or one whole topic. Shares are 0 to 1."""

    cards: int
    seen: int
    retrievability: float  # mean over the cards seen; 0 if none was
    due: int
    overconfident: bool

    @property
    def coverage(self) -> float:
        """Share of the cards that were seen."""
        return self.seen / self.cards

    @property
    def strength(self) -> float:
        """Retrievability x coverage."""
        return self.retrievability * self.coverage


@dataclass(frozen=True, slots=True)
class TopicMap:
    """Cells by topic and step; where a topic and a step do not meet, there is no cell."""

    topics: tuple[str, ...]
    cells: Mapping[tuple[str, int | None], Cell]
    whole: Mapping[str, Cell]  # by topic

    def weakest_topics(self, count: int = 3) -> list[str]:
        """Topics of least strength, weakest first."""
        return sorted(self.topics, key=lambda topic: self.whole[topic].strength)[:count]


def topic_map(
    cards: Sequence[CardInfo], states: Mapping[str, CardState], attempts: Iterable[Attempt], now: datetime
) -> TopicMap:
    """The map now.

    Args:
        cards: the whole bank; topics appear in the order of their first card.
        states: from :func:`core.progress.schedule.replay`.
        attempts: those that count.
        now: with the learner's time zone.
    """
    by_card: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_card[attempt.card_id].append(attempt)
    topics: dict[str, list[CardInfo]] = defaultdict(list)
    places: dict[tuple[str, int | None], list[CardInfo]] = defaultdict(list)
    for card in cards:
        topics[card.topic].append(card)
        places[card.topic, card.step].append(card)
    return TopicMap(
        topics=tuple(topics),
        cells={place: _cell(members, states, by_card, now) for place, members in places.items()},
        whole={topic: _cell(members, states, by_card, now) for topic, members in topics.items()},
    )


def known_share(state: CardState | None, now: datetime) -> float:
    """The chance that the card would be answered now; 0 if it was missed last time or never seen."""
    return 0.0 if state is None or state.last_rating == "again" else retrievability(state, now)


def weakest_cards(
    cards: Iterable[CardInfo], states: Mapping[str, CardState], now: datetime, count: int = 3
) -> list[CardInfo]:
    """The cards seen that would be answered least likely now; cards never seen come after them, in their own order."""

    def order(card: CardInfo) -> tuple[bool, float]:
        state = states.get(card.id)
        return state is None, known_share(state, now)

    return sorted(cards, key=order)[:count]


def _cell(
    members: Sequence[CardInfo],
    states: Mapping[str, CardState],
    by_card: Mapping[str, Sequence[Attempt]],
    now: datetime,
) -> Cell:
    seen = [(card, states[card.id]) for card in members if card.id in states]
    known = [known_share(state, now) for _, state in seen]
    return Cell(
        cards=len(members),
        seen=len(seen),
        retrievability=sum(known) / len(known) if known else 0.0,
        due=sum(is_due(state, card, now) for card, state in seen),
        overconfident=is_overconfident(
            calibration(attempt for card in members for attempt in by_card.get(card.id, ()))
        ),
    )
