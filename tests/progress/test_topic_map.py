"""The map of topics by steps."""

from __future__ import annotations

import pytest

from core.progress.document import Settings
from core.progress.schedule import replay, retrievability
from core.progress.topic_map import known_share, topic_map, weakest_cards
from tests.progress.made import START, attempt, card, day

BANK = [
    *(card(f"d-bottleneck-{n}", "bottleneck", step=1) for n in range(4)),
    *(card(f"d-precision-{n}", "precision", step=2 + n % 2) for n in range(4)),
    *(card(f"d-serving-{n}", "serving", step=5) for n in range(2)),
    card("q-cost-0", "product-cost", kind="question", step=None),
]


TOMORROW = day(1)


def drawn(*attempts, now=TOMORROW):
    return topic_map(BANK, replay(attempts, Settings(), now), attempts, now)


def test_cells_are_where_topics_and_steps_meet():
    cells = drawn().cells
    assert sorted(cells, key=str) == [
        ("bottleneck", 1),
        ("precision", 2),
        ("precision", 3),
        ("product-cost", None),
        ("serving", 5),
    ]


def test_topics_are_in_the_order_of_the_bank():
    assert drawn().topics == ("bottleneck", "precision", "serving", "product-cost")


def test_nothing_seen_is_strength_zero():
    cell = drawn().whole["bottleneck"]
    assert (cell.cards, cell.seen, cell.coverage, cell.strength, cell.due) == (4, 0, 0, 0, 0)


def test_strength_is_retrievability_times_coverage():
    log = [attempt(n, card_id=f"d-bottleneck-{n}", topic="bottleneck", rating="good") for n in range(2)]
    now = day(5)
    states = replay(log, Settings(), now)
    cell = drawn(*log, now=now).cells["bottleneck", 1]
    expected = retrievability(states["d-bottleneck-0"], now)
    assert cell.coverage == 0.5
    assert cell.retrievability == pytest.approx(expected)
    assert cell.strength == pytest.approx(expected / 2)
    assert cell.due == 2


def test_a_check_up_with_every_answer_wrong_is_no_strength():
    wrong, right = (
        drawn(*(attempt(n, card_id=f"d-bottleneck-{n}", topic="bottleneck", rating=r) for n in range(4)), now=START)
        for r in ("again", "good")
    )
    assert wrong.whole["bottleneck"].strength == 0
    assert right.whole["bottleneck"].strength == 1


def test_the_weakest_three_topics():
    log = [attempt(n, card_id=f"d-bottleneck-{n}", topic="bottleneck") for n in range(4)]
    log.append(attempt(9, card_id="d-serving-0", topic="serving"))
    assert drawn(*log).weakest_topics() == ["precision", "product-cost", "serving"]
    assert len(drawn(*log).weakest_topics(99)) == 4


def test_a_ring_where_the_learner_is_too_sure():
    log = [
        attempt(n, card_id=f"d-bottleneck-{n % 4}", topic="bottleneck", confidence=90, correct=n < 3, number=None)
        for n in range(6)
    ]
    assert drawn(*log).cells["bottleneck", 1].overconfident
    assert not drawn(*log).cells["serving", 5].overconfident


def test_a_card_missed_last_is_not_known_until_answered_right():
    log = [attempt(0), attempt(1, day(2), rating="again")]
    assert known_share(replay(log, Settings(), day(3))["d-kv-cache-growth"], day(3)) == 0
    log.append(attempt(2, day(3)))
    assert known_share(replay(log, Settings(), day(3))["d-kv-cache-growth"], day(3)) == 1
    assert known_share(None, START) == 0


def test_the_weakest_cards_are_those_seen_that_faded_most():
    log = [
        attempt(0, day(0), card_id="d-bottleneck-0"),
        attempt(1, day(6), card_id="d-bottleneck-1"),
        attempt(2, day(7), card_id="d-bottleneck-2", rating="again"),
    ]
    states = replay(log, Settings(), day(8))
    names = [one.id for one in weakest_cards(BANK[:4], states, day(8), count=4)]
    assert names == ["d-bottleneck-2", "d-bottleneck-0", "d-bottleneck-1", "d-bottleneck-3"]
