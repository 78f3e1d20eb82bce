"""The card's model refuses what a card does not hold."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from core.mock.scorecard import DISCLAIMER, Scorecard
from core.mock.scorecard_build import scorecard
from tests.core.mock.made import bank, pack, whole

ROOM = whole()
CARD = scorecard(ROOM.state, ROOM.log, pack(), bank())


def test_it_goes_through_json_unchanged():
    text = CARD.model_dump_json(by_alias=True)
    assert Scorecard.model_validate_json(text).model_dump_json(by_alias=True) == text


def test_its_names_are_those_of_the_format():
    data = CARD.model_dump(mode="json", by_alias=True)
    assert data["schema"] == "scorecard/1"
    assert {"items", "numbers", "overall", "self", "hints", "twists", "content_hash", "seed", "level"} <= data.keys()
    assert data["items"][1]["evidence"][0].keys() == {"t", "phase", "sign", "text"}
    assert data["numbers"][0]["conf"] == 0.7


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"schema": "scorecard/2"},
        {"level": "boss"},
        {"items": [{"id": "x"}]},
        {"duration_s": "long"},
        {"pad": "x" * 30_001},
        {"next_drills": [{"id": "d", "title": "t"}] * 6},
    ],
)
def test_what_is_no_card_is_refused(change):
    data = CARD.model_dump(mode="json", by_alias=True)
    with pytest.raises(ValidationError):
        Scorecard.model_validate({**data, **change})


def test_it_says_what_it_is_not_for():
    assert "not a hiring decision" in DISCLAIMER
