"""A missed card comes once more, without a second entry in the log."""

import pytest

from core.progress.sitting import sit_down


def test_a_missed_card_comes_once_more_at_the_end():
    sitting = sit_down(["a", "b", "c"])
    shown = []
    while sitting.current is not None:
        shown.append((sitting.current, sitting.is_repeat))
        sitting = sitting.answered("again" if sitting.current == "a" else "good")
    assert shown == [("a", False), ("b", False), ("c", False), ("a", True)]


def test_only_first_answers_are_to_be_logged():
    sitting, logged = sit_down(["a", "b"]), []
    while sitting.current is not None:
        if not sitting.is_repeat:
            logged.append(sitting.current)
        sitting = sitting.answered("again")
    assert logged == ["a", "b"]


def test_a_card_named_twice_comes_once():
    assert sit_down(["a", "b", "a"]).waiting == ("a", "b")


def test_nothing_can_be_answered_after_the_end():
    with pytest.raises(ValueError, match="the sitting is over"):
        sit_down([]).answered("good")
