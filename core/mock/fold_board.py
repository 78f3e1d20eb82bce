"""How events of the shared board change a state: pad, claims, sliders and their token, locked answers."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from core.mock import events as e
from core.mock.moment import Handler, Moment, put, seat_of, without
from core.mock.state import Checked, Locked, RoomState, SliderHold

MAX_CLAIMS, MAX_SLIDERS = 60, 80
HOLD_S = 10.0  # a hand that has not moved for so long no longer holds the sliders


def pad(state: RoomState, payload: e.PadWritten, moment: Moment) -> RoomState | str:
    return replace(state, pad=payload.text)


def claim(state: RoomState, payload: e.ClaimWritten, moment: Moment) -> RoomState | str:
    if payload.row not in state.claims and len(state.claims) >= MAX_CLAIMS:
        return f"The table has {MAX_CLAIMS} claims, as many as it holds: take one away."
    return replace(state, claims=put(state.claims, payload.row, payload))


def claim_removed(state: RoomState, payload: e.ClaimRemoved, moment: Moment) -> RoomState | str:
    if payload.row not in state.claims:
        return "This claim is gone already."
    return replace(state, claims=without(state.claims, payload.row), checked=without(state.checked, payload.row))


def claim_checked(state: RoomState, payload: e.ClaimChecked, moment: Moment) -> RoomState | str:
    if payload.row not in state.claims:
        return "This claim is gone."
    plan = state.plan.cards.get(payload.card)
    if plan is None or payload.number not in plan.numbers:
        return "The cards of this pack compute no such number."
    return replace(
        state, checked=put(state.checked, payload.row, Checked(payload.card, payload.number, moment.mark(state)))
    )


def claim_unchecked(state: RoomState, payload: e.ClaimUnchecked, moment: Moment) -> RoomState | str:
    if payload.row not in state.checked:
        return "This claim stands beside no number."
    return replace(state, checked=without(state.checked, payload.row))


def sliders(state: RoomState, payload: e.SlidersMoved, moment: Moment) -> RoomState | str:
    if (refusal := _other_hand(state, moment)) is not None:
        return refusal
    values = {**state.sliders, **payload.values}
    if len(values) > MAX_SLIDERS:
        return f"The calculator has at most {MAX_SLIDERS} values."
    hold = SliderHold(seat_of(moment), moment.at)
    return replace(state, sliders=MappingProxyType(values), sliders_seq=moment.seq, hold=hold)


def hold(state: RoomState, payload: e.Hold, moment: Moment) -> RoomState | str:
    if (refusal := _other_hand(state, moment)) is not None:
        return refusal
    return replace(state, hold=SliderHold(seat_of(moment), moment.at) if payload.on else None)


def held_by_another(state: RoomState, role: str, at: float) -> bool:
    """Whether another hand is on the sliders at a server time."""
    held = state.hold
    return held is not None and held.role != role and at < held.at + HOLD_S


def _other_hand(state: RoomState, moment: Moment) -> str | None:
    if state.hold is not None and held_by_another(state, moment.actor, moment.at):
        return f"The {state.hold.role} has the sliders."
    return None


def stuck(state: RoomState, payload: e.Stuck, moment: Moment) -> RoomState | str:
    return replace(state, stuck=payload.on)


def answer_locked(state: RoomState, payload: e.AnswerLocked, moment: Moment) -> RoomState | str:
    if payload.drill not in state.drills:
        return "This drill has not been shown."
    if payload.drill in state.answers:
        return "This answer is locked."
    answer = Locked(payload.text, payload.confidence, moment.mark(state))
    return replace(state, answers=put(state.answers, payload.drill, answer))


HANDLERS: dict[type[e.Payload], Handler] = {
    e.PadWritten: pad,
    e.ClaimWritten: claim,
    e.ClaimRemoved: claim_removed,
    e.ClaimChecked: claim_checked,
    e.ClaimUnchecked: claim_unchecked,
    e.SlidersMoved: sliders,
    e.Hold: hold,
    e.Stuck: stuck,
    e.AnswerLocked: answer_locked,
}
