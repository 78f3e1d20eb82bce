"""Who is in the room, from the tabs that were seen lately: presence is kept beside the log and changes no state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from core.mock.roles import Role
from core.mock.state import RoomState

HERE_S = 10.0  # after so long without a sign a seat turns grey
AWAY_S = 60.0  # after so long without its interviewer the clock is paused


class SeenTab(Protocol):
    """A tab and when it was last seen, as the store gives it."""

    @property
    def role(self) -> str: ...
    @property
    def holder(self) -> str: ...
    @property
    def at(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Attendance:
    """Seats whose tab is here, how many observers watch, and whether the clock should be paused."""

    here: frozenset[Role]
    watching: int
    leader_away: bool


def attendance(state: RoomState, tabs: Iterable[SeenTab], now: float) -> Attendance:
    """Attendance at a server time; a tab counts for a seat only if it holds it. [s since 1970]

    Args:
        tabs: every tab of the room that was seen lately.
    """
    last: dict[tuple[str, str], float] = {}
    for tab in tabs:
        key = (tab.role, tab.holder)
        last[key] = max(tab.at, last.get(key, tab.at))
    seen = {role: last.get((role, seat.holder), seat.at) for role, seat in state.seats.items()}
    watching = sum(role == "observer" and now - at < HERE_S for (role, _), at in last.items())
    runs = state.time.started_at is not None and state.time.paused_at is None and state.time.finished_at is None
    leader = seen.get(state.lead)
    return Attendance(
        here=frozenset(role for role, at in seen.items() if now - at < HERE_S),
        watching=watching,
        leader_away=runs and leader is not None and now - leader >= AWAY_S,
    )
