"""A room pins what it plays and what the core computed for it."""

from __future__ import annotations

import dataclasses

import pytest

from core.cards.draw import DrawError
from core.mock.fold import prepare
from core.mock.opening import changes, holder_of, opening, session_name, truth_hash
from core.mock.state import RoomState
from tests.core.mock.made import CARD, NOON, Played, bank, pack, plan


def test_its_fields_open_a_room():
    fields = opening(pack(), bank(), level="senior", seed=7)
    room = Played().does("interviewer", "opened", **fields)
    assert (room.state.level, room.state.seeds[CARD]) == ("senior", 7)
    assert changes(room.state, bank()) == ()
    assert prepare(RoomState(plan()), "interviewer", "opened", NOON, **fields)["truth_hash"] == fields["truth_hash"]


def test_other_numbers_have_another_hash():
    hashes = {truth_hash(dict.fromkeys(plan().seeds, seed), bank()) for seed in (0, 1, 2)}
    assert len(hashes) == 3


def test_an_edited_pack_and_a_changed_core_are_told_in_words(monkeypatch):
    room = Played().does("interviewer", "opened", **opening(pack(), bank(), level="mid") | {"content_hash": "older"})
    assert [text[:12] for text in changes(room.state, bank())] == ["The pack or "]
    other = Played().does("interviewer", "opened", **opening(pack(), bank(), level="mid") | {"truth_hash": "older"})
    assert [text[:18] for text in changes(other.state, bank())] == ["The core computes "]


def test_a_seed_without_a_variant_is_refused_before_there_is_a_room():
    card = bank().cards[CARD]
    never = dataclasses.replace(card, model=card.model.model_copy(update={"require": "1 == 2"}))
    with pytest.raises(DrawError):
        opening(pack(), dataclasses.replace(bank(), cards={**bank().cards, CARD: never}), level="mid", seed=3)


def test_a_browser_has_another_name_in_each_session_and_keeps_it_where_one_is_restored():
    one, other = (Played(at=at).does("interviewer", "opened", **opening(pack(), bank(), level="mid")) for at in (1, 2))
    names = [session_name(room.log[0].at, room.state.opened) for room in (one, one, other)]
    holders = [holder_of("b" + "x" * 21, name) for name in names]
    assert holders[0] == holders[1] != holders[2]
    assert holders[0] != holder_of("b" + "y" * 21, names[0])
    assert "x" * 3 not in holders[0]
    one.does("interviewer", "joined", holder=holders[0])
    assert one.state.seats["interviewer"].holder == holders[0]
