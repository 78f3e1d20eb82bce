"""Apply a twist: the banner, the truth computed anew, and the mirrored controls that it moves."""

from __future__ import annotations

from core.mock.calculator import twist_values
from core.mock.truth import truths
from views._ui.room import Room


def apply_twist(room: Room, twist: str, card: str | None, *, public: bool = True, at: str = "") -> None:
    """Write it as this role. While the candidate's hand is on the controls they stay: the banner says the fact."""
    if not room.act("twist_applied", at=at, twist=twist, card=card, public=public) or not public or card is None:
        return
    values = twist_values(truths(room.state, room.bank)[card].now, twist)
    if values:
        room.act("sliders", at="twist.sliders", values=values)


def twist_pressed(room: Room, twist: str, card: str | None, *, public: bool = True, at: str = "") -> None:
    """A callback: the same, then what has changed is drawn."""
    apply_twist(room, twist, card, public=public, at=at)
    room.redraw()
