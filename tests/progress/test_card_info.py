"""What progress knows of a card."""

import dataclasses

import pytest

from tests.progress.made import card


def test_a_card_cannot_be_changed_after_it_was_made():
    with pytest.raises(dataclasses.FrozenInstanceError):
        card().topic = "serving"


def test_equal_cards_are_one_key():
    assert {card(), card()} == {card()}
