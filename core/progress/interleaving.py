"""An order in which no two neighbours share a topic, if there is one, and which puts the most urgent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def interleave(items: Sequence[Item], topics: Sequence[Hashable], *, after: Hashable | None = None) -> list[Item]:
    """The items in such an order.

    Args:
        items: most urgent first.
        topics: of each item.
        after: the topic of what comes just before.

    At each place the first item is taken whose topic differs from the one before and after which the rest can still be
    spread. If the rest cannot be, the largest other topic is taken, so that as few neighbours as possible are alike.
    """
    waiting = list(zip(items, topics, strict=True))
    left = Counter(topics)
    order: list[Item] = []
    while waiting:
        others = [topic for topic in left if topic != after]
        spread = (
            index
            for index, (_, topic) in enumerate(waiting)
            if topic != after and _can_be_spread(left - Counter([topic]), after=topic)
        )
        place = next(spread, None)
        if place is None:
            topic = max(others, key=left.__getitem__, default=after)
            place = next(index for index, (_, its_topic) in enumerate(waiting) if its_topic == topic)
        item, after = waiting.pop(place)
        left -= Counter([after])
        order.append(item)
    return order


def _can_be_spread(left: Counter[Hashable], *, after: Hashable) -> bool:
    """Whether items with these counts of topics can follow ``after`` without equal neighbours.

    A topic fits into at most every other place: half of them rounded up, or rounded down if it may not come first.
    """
    total = left.total()
    return all(count <= (total // 2 if topic == after else (total + 1) // 2) for topic, count in left.items())
