"""A control that mirrors a value of the room gets a new key when it has come to differ, and only a hand moves it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from views._ui import mirrored

ROOM: Any = SimpleNamespace(id="room")


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Stands for a session's state; a control that is drawn puts its value there, as Streamlit does."""
    state: dict[str, object] = {}
    monkeypatch.setattr(mirrored, "st", SimpleNamespace(session_state=state))
    return state


def drawn(state: dict[str, object], value: object, name: str = "batch") -> str:
    key = mirrored.key_of(ROOM, name, value)
    state.setdefault(key, value)
    return key


def test_a_key_stays_while_the_control_has_the_room_s_value(state: dict[str, object]):
    key = drawn(state, 8)
    assert drawn(state, 8) == key
    state[key] = 16  # the own hand, and then the room has it too
    assert drawn(state, 16) == key


def test_a_control_that_differs_from_the_room_is_replaced(state: dict[str, object]):
    keys = [drawn(state, 8), drawn(state, 16)]  # somebody else's hand
    state[keys[-1]] = 32  # the own hand, refused
    keys.append(drawn(state, 16))
    assert len(set(keys)) == 3


def test_a_control_whose_state_the_server_has_forgotten_is_replaced(state: dict[str, object]):
    """It had left the page; the browser may hold it still, with what it had then."""
    key = drawn(state, 8)
    del state[key]
    assert drawn(state, 8) != key


def test_only_a_value_that_is_news_is_a_move(state: dict[str, object]):
    key = drawn(state, 8)
    assert not mirrored.moved(ROOM, "batch", key)  # the browser sent it once more, after the control had gone
    state[key] = 16
    assert mirrored.moved(ROOM, "batch", key)
    assert not mirrored.moved(ROOM, "batch", key)
    state[key] = 8
    assert mirrored.moved(ROOM, "batch", key)


def test_a_control_that_was_replaced_moves_nothing(state: dict[str, object]):
    old = drawn(state, 8)
    drawn(state, 16)
    state[old] = 4
    assert not mirrored.moved(ROOM, "batch", old)
    assert not mirrored.moved(ROOM, "never drawn", old)
