"""Running time, and what a state says of itself."""

from __future__ import annotations

import pytest

from core.mock.state import RoomState, Timeline
from tests.core.mock.made import CARD, NOON, opened, plan, whole


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        (Timeline(), 0),
        (Timeline(started_at=NOON), 100),
        (Timeline(started_at=NOON, pauses_s=30), 70),
        (Timeline(started_at=NOON, paused_at=NOON + 40), 40),
        (Timeline(started_at=NOON, finished_at=NOON + 60, paused_at=NOON + 80), 60),
        (Timeline(started_at=NOON + 500), 0),  # a clock that was set back
    ],
)
def test_pauses_and_what_comes_after_the_end_do_not_count(time, seconds):
    assert time.running_s(NOON + 100) == seconds


def test_a_new_room_shows_and_reveals_nothing():
    state = RoomState(plan())
    assert (state.shown_cards, state.revealed, state.content_changed) == ((), False, False)
    assert state.seeds == plan().seeds


def test_a_card_is_shown_once_though_several_phases_play_it():
    assert whole().state.shown_cards == (CARD,)


def test_a_seed_of_the_room_goes_before_those_of_the_pack():
    assert opened(seed=9).state.seeds == dict.fromkeys(plan().seeds, 9)
    assert opened(seed=0).state.seeds == dict.fromkeys(plan().seeds, 0)
