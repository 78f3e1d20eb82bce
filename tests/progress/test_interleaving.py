"""Neighbours of different topics, against trying every order."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.progress.interleaving import interleave


def equal_neighbours(topics, after=None):
    return sum(one == other for one, other in pairwise([after, *topics]))


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        ("", ""),
        ("abc", "abc"),
        ("aab", "aba"),
        ("aabb", "abab"),
        ("abbb", "babb"),  # cannot be spread: one pair is left
        ("aaabbc", "ababac"),
    ],
)
def test_the_most_urgent_come_first_where_that_leaves_a_spread(topics, expected):
    assert "".join(interleave(topics, topics)) == expected


def test_the_first_differs_from_what_came_before():
    assert "".join(interleave("aab", "aab", after="a"))[0] == "b"


def test_topics_of_the_items_decide_not_the_items():
    assert interleave([1, 2, 3], ["x", "x", "y"]) == [1, 3, 2]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=6), st.none() | st.sampled_from("abc"))
def test_equal_neighbours_remain_only_where_every_order_has_some(topics, after):
    order = interleave(topics, topics, after=after)
    assert Counter(order) == Counter(topics)
    fewest = min(equal_neighbours(each, after) for each in permutations(topics))
    assert (equal_neighbours(order, after) == 0) == (fewest == 0)
    assert equal_neighbours(order, after) <= fewest + 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from("abcdefghijkl"), min_size=30, max_size=40))
def test_a_day_of_many_topics_has_no_equal_neighbours(topics):
    if max(Counter(topics).values()) <= len(topics) // 2:
        assert equal_neighbours(interleave(topics, topics)) == 0
