"""Four seats, the same as in the store."""

from __future__ import annotations

from core.mock.roles import RATERS, ROLES, is_rater
from core.storage.rooms import ROLES as STORED


def test_the_store_has_a_link_for_each_seat():
    assert ROLES == STORED


def test_raters_are_the_two_that_see_what_is_private():
    assert [role for role in ROLES if is_rater(role)] == list(RATERS)
    assert not is_rater("")
