"""What to practise today: due cards, least retrievable first, and new ones from the weakest topics, mixed by topic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from core.progress.calibration import by_topic, was_right
from core.progress.card_info import CardInfo
from core.progress.document import Attempt, Progress, Settings, active_attempts
from core.progress.interleaving import interleave
from core.progress.schedule import first_answers, is_due, is_revised, plan, replay, retrievability
from core.progress.topic_map import known_share

WALL = 20  # due cards that a quarter of an hour holds; more, after an absence, puts people off
CATCH_UP_DAYS = 3
ABSENCE_DAYS = 3  # without an answer, after which catching up is offered
QUESTIONS_A_DAY = 1  # an open card takes many minutes
SURE = 70  # percent, from which a miss is worth coming first, and worth pointing out
LEVELS = {"mid": 0, "senior": 1, "staff": 2}  # new cards: easier ones first

Reason = Literal["sure but wrong", "revised", "due", "new"]


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One card to practise, and why."""

    card: CardInfo
    reason: Reason
    retrievability: float  # 0 for a new card


@dataclass(frozen=True, slots=True)
class Queue:
    """Today's cards in order, and what the day leaves."""

    items: tuple[QueueItem, ...]
    left_for_later: int  # due as well, but over the cap, or spread over the next days
    offers_catch_up: bool  # a backlog after an absence, which `settings.catch_up_from` would spread over three days
    catching_up: bool
    tomorrow_reviews: int  # if the items are answered right
    tomorrow_new: int


def todays_queue(progress: Progress, cards: Sequence[CardInfo], now: datetime) -> Queue:
    """The queue of this day.

    Args:
        progress: everything done so far. What was done today takes from the cap and from the new cards.
        cards: the bank; what is no longer in it is left out.
        now: with the learner's time zone, which says when a day ends.
    """
    day = _Day(progress, cards, now)
    due = day.due()
    due_now = day.without_more_questions(due)[: day.room(len(due))]
    new = day.new(due_now)
    ahead = [item for item in due_now if item.reason == "sure but wrong"]
    rest = _spread([item for item in due_now if item not in ahead], new)
    last = ahead[-1].card.topic if ahead else None
    items = (*ahead, *interleave(rest, [item.card.topic for item in rest], after=last))
    reviews, begun = day.tomorrow(items)
    return Queue(
        items=items,
        left_for_later=len(due) - len(due_now),
        offers_catch_up=day.was_away() and len(due) > WALL and not day.catching_up,
        catching_up=day.catching_up,
        tomorrow_reviews=reviews,
        tomorrow_new=begun,
    )


class _Day:
    """One day of one learner: what was done before it, what was done on it, and what it may hold."""

    def __init__(self, progress: Progress, cards: Sequence[CardInfo], now: datetime) -> None:
        self.cards, self.now, self.settings = cards, now, progress.settings
        attempts = active_attempts(progress)
        self.states = replay(attempts, progress.settings, now)
        self.gaps = {topic: result.gap_points for topic, result in by_topic(attempts).items()}
        scheduled = first_answers(attempt for attempt in attempts if attempt.counts_for_schedule)
        self.before: dict[str, Attempt] = {}  # the last attempt at each card on an earlier day
        self.done: set[str] = set()  # cards answered today
        for attempt in scheduled:
            if attempt.at.astimezone(now.tzinfo).date() < now.date():
                self.before[attempt.card_id] = attempt
            else:
                self.done.add(attempt.card_id)
        self.plan = plan(self.settings, now.date())
        self.catch_up_day = _catch_up_day(self.settings, now)
        self.catching_up = self.catch_up_day is not None
        self.questions_done = sum(card.kind == "question" and card.id in self.done for card in cards)

    def due(self) -> list[QueueItem]:
        """All that is due, least retrievable first, but a sure miss before all."""
        miss = self._sure_miss()
        found = []
        for card in self.cards:
            state = self.states.get(card.id)
            if state is not None and (is_due(state, card, self.now) or card.id == miss):
                reason: Reason = "revised" if is_revised(state, card) else "due"
                reason = "sure but wrong" if card.id == miss else reason
                found.append(QueueItem(card, reason, retrievability(state, self.now)))
        found.sort(key=lambda item: (item.reason != "sure but wrong", item.retrievability, item.card.id))
        return found

    def without_more_questions(self, due: Sequence[QueueItem]) -> list[QueueItem]:
        """The due cards without the open ones that are too many for a day."""
        questions = [item for item in due if item.card.kind == "question"]
        waiting = questions[max(0, QUESTIONS_A_DAY - self.questions_done) :]
        return [item for item in due if item not in waiting]

    def room(self, due: int) -> int:
        """How many of the due cards today takes, from the cap or the share of a catch-up day."""
        reviewed = len(self.done & self.before.keys())
        share = self.settings.cap
        if self.catch_up_day is not None:
            share = min(share, math.ceil((due + reviewed) / (CATCH_UP_DAYS - self.catch_up_day)))
        return max(0, share - reviewed)

    def new(self, due_now: Sequence[QueueItem]) -> list[QueueItem]:
        """New cards from the weakest topics, the last of them an open card if today has none yet."""
        count = self.settings.new_per_day - len(self.done - self.before.keys())
        if count <= 0 or self.catching_up or not self.plan.takes_new:
            return []
        unseen = [card for card in self.cards if card.id not in self.states]
        unseen.sort(key=lambda card: LEVELS.get(card.level, len(LEVELS)))
        questions = [card for card in unseen if card.kind == "question"]
        others = [card for card in unseen if card.kind != "question"]
        has_question = self.questions_done or any(item.card.kind == "question" for item in due_now)
        open_cards = 0 if has_question or self.settings.new_per_day == 1 else min(QUESTIONS_A_DAY, len(questions))
        sizes = Counter(card.topic for card in self.cards)
        known = dict.fromkeys(sizes, 0.0)
        for card in self.cards:
            known[card.topic] += known_share(self.states.get(card.id), self.now)
        chosen: list[QueueItem] = []
        for pool, wanted in ((others, count - open_cards), (questions, open_cards)):
            for _ in range(min(wanted, len(pool))):
                # Counting the chosen as known moves on to the next topic once this one has caught up.
                card = min(pool, key=lambda card: known[card.topic] / sizes[card.topic])
                pool.remove(card)
                known[card.topic] += 1
                chosen.append(QueueItem(card, "new", 0.0))
        return chosen

    def was_away(self) -> bool:
        """Whether days went by without an answer, up to today."""
        last = max((attempt.at for attempt in self.before.values()), default=None)
        if last is None:
            return False
        return (self.now.date() - last.astimezone(self.now.tzinfo).date()).days >= ABSENCE_DAYS

    def tomorrow(self, items: Sequence[QueueItem]) -> tuple[int, int]:
        """Reviews and new cards of tomorrow, if all of today's items are answered right."""
        morning = self.now + timedelta(days=1)
        today = {item.card.id for item in items}
        reviews = sum(
            card.id not in today and card.id in self.states and is_due(self.states[card.id], card, morning)
            for card in self.cards
        )
        if self.plan.max_interval_days == 1:  # so near to the interview all come back tomorrow
            reviews += len(items)
        unseen = sum(card.id not in self.states and card.id not in today for card in self.cards)
        begins = plan(self.settings, morning.date()).takes_new and _catch_up_day(self.settings, morning) is None
        return min(reviews, self.settings.cap), min(unseen, self.settings.new_per_day) if begins else 0

    def _sure_miss(self) -> str | None:
        """The card to put first: missed on an earlier day by somebody who was sure, in the most overconfident topic.

        Confident errors are corrected well when feedback follows, but one a day is enough.
        """
        misses = {
            card_id: attempt
            for card_id, attempt in self.before.items()
            if attempt.rating == "again" and (attempt.confidence or 0) >= SURE and not was_right(attempt)
        }
        if misses.keys() & self.done:
            return None
        return max(
            (card.id for card in self.cards if card.id in misses),
            key=lambda card_id: (
                self.gaps.get(misses[card_id].topic, 0.0),
                misses[card_id].confidence,
                misses[card_id].at,
            ),
            default=None,
        )


def _catch_up_day(settings: Settings, now: datetime) -> int | None:
    """0, 1 or 2 on the three days of catching up."""
    if settings.catch_up_from is None:
        return None
    day = (now.date() - settings.catch_up_from).days
    return day if 0 <= day < CATCH_UP_DAYS else None


def _spread(due: Sequence[QueueItem], new: Sequence[QueueItem]) -> list[QueueItem]:
    """New cards evenly among the due ones, so that whoever stops early has had some of both."""
    places = [*((index + 0.5) / len(due) for index in range(len(due)))]
    places += [(index + 0.5) / len(new) for index in range(len(new))]
    order = sorted(range(len(places)), key=places.__getitem__)
    return [(*due, *new)[index] for index in order]
