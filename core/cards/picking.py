"""Which card comes next outside the schedule: the least seen, at random among equals, another topic than the last."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar


class Pickable(Protocol):
    """What picking reads of a card."""

    @property
    def id(self) -> str: ...
    @property
    def topic(self) -> str: ...


CardT = TypeVar("CardT", bound=Pickable)


def pick(cards: Sequence[CardT], seen: Mapping[str, int], *, last: CardT | None = None, seed: int = 0) -> CardT | None:
    """One card, or None where there is none but the last.

    Args:
        cards: to choose from.
        seen: how often each card was answered, by id.
        last: the card before; it is not repeated, and its topic is avoided where others are as little seen.
        seed: makes the choice among equals reproducible.
    """
    others = [card for card in cards if last is None or card.id != last.id]
    if not others:
        return None
    least = min(seen.get(card.id, 0) for card in others)
    fresh = [card for card in others if seen.get(card.id, 0) == least]
    elsewhere = [card for card in fresh if last is None or card.topic != last.topic]
    return random.Random(seed).choice(sorted(elsewhere or fresh, key=lambda card: card.id))


def mixed(cards: Sequence[CardT], seen: Mapping[str, int], count: int, *, seed: int = 0) -> list[CardT]:
    """So many different cards spread over the topics, the least seen of each first."""
    stream = random.Random(seed)
    by_topic: dict[str, list[CardT]] = {}
    for card in sorted(cards, key=lambda card: (seen.get(card.id, 0), stream.random())):
        by_topic.setdefault(card.topic, []).append(card)
    queues = list(by_topic.values())
    stream.shuffle(queues)
    return list(_round_robin(queues))[:count]


def _round_robin(queues: list[list[CardT]]) -> Iterable[CardT]:
    for turn in range(max(map(len, queues), default=0)):
        for queue in queues:
            if turn < len(queue):
                yield queue[turn]
