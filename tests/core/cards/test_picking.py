"""Which card comes next."""

from __future__ import annotations

from dataclasses import dataclass

from core.cards.picking import mixed, pick


@dataclass(frozen=True)
class Named:
    id: str
    topic: str


A1, A2, B1, B2 = (Named("a1", "a"), Named("a2", "a"), Named("b1", "b"), Named("b2", "b"))
ALL = [A1, A2, B1, B2]


def test_the_least_seen_comes_first():
    assert pick(ALL, {"a1": 1, "a2": 2, "b1": 1}) == B2


def test_neither_the_last_card_nor_its_topic():
    assert {pick(ALL, {}, last=A1, seed=seed) for seed in range(30)} == {B1, B2}


def test_its_topic_where_the_others_were_seen_more_often():
    assert pick(ALL, {"b1": 1, "b2": 1, "a1": 0}, last=A1) == A2


def test_none_where_there_is_no_other():
    assert pick([A1], {}, last=A1) is None
    assert pick([], {}) is None
    assert pick([A1], {}) == A1


def test_the_seed_decides_among_equals_whatever_the_order():
    assert {pick(ALL, {}, seed=seed) for seed in range(40)} == set(ALL)
    assert pick(ALL, {}, seed=3) == pick(ALL[::-1], {}, seed=3)


def test_a_mixture_goes_round_the_topics():
    found = mixed(ALL, {"a1": 5}, 4, seed=1)
    assert sorted(card.id for card in found) == ["a1", "a2", "b1", "b2"]
    assert {card.topic for card in found[:2]} == {"a", "b"}
    assert found.index(A2) < found.index(A1)
    assert len(mixed(ALL, {}, 3)) == 3
    assert mixed([], {}, 3) == []
