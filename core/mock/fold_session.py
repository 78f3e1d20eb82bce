"""How events of the session change a state: seats, the clock, and what the interviewer releases."""

from __future__ import annotations

from dataclasses import replace

from core.mock import events as e
from core.mock.clock import unstretched_s
from core.mock.moment import Handler, Moment, put, seat_of
from core.mock.state import AppliedTwist, ReleasedHint, RoomState, Seat, Visit

MAX_VISITS = 500


def opened(state: RoomState, payload: e.Opened, moment: Moment) -> RoomState | str:
    if state.opened is not None:
        return "This room is open already."
    if payload.pack != state.plan.pack_id:
        return f"This room plays {payload.pack}."
    return replace(state, opened=payload, level=payload.level)


def joined(state: RoomState, payload: e.Joined, moment: Moment) -> RoomState | str:
    role = seat_of(moment)
    seat = state.seats.get(role)
    if seat is not None and seat.holder != payload.holder and not payload.take_over:
        return "This seat is taken. Watch, or take it over."
    return replace(state, seats=put(state.seats, role, Seat(payload.holder, payload.handle, moment.at)))


def consented(state: RoomState, payload: e.Consented, moment: Moment) -> RoomState | str:
    return replace(state, consented=state.consented | {seat_of(moment)})


def ready(state: RoomState, payload: e.Ready, moment: Moment) -> RoomState | str:
    if payload.on and seat_of(moment) not in state.consented:
        return "Read what is stored and agree to it first."
    own = {seat_of(moment)}
    return replace(state, ready=state.ready | own if payload.on else state.ready - own)


def level_set(state: RoomState, payload: e.LevelSet, moment: Moment) -> RoomState | str:
    if any(rating.committed for rating in state.ratings.values()):
        return "Scores are committed at this level."
    return replace(state, level=payload.level)


def phase_started(state: RoomState, payload: e.PhaseStarted, moment: Moment) -> RoomState | str:
    if payload.phase >= len(state.plan.minutes):
        return f"There are {len(state.plan.minutes)} phases."
    if payload.phase == state.time.phase:
        return "This phase is running."
    time = state.time
    if time.started_at is None:
        time = replace(time, started_at=moment.at)
    elif time.paused_at is not None:  # to go on is to resume
        time = replace(time, pauses_s=time.pauses_s + max(0.0, moment.at - time.paused_at), paused_at=None)
    began = time.running_s(moment.at)
    begun = (*time.begun, (payload.phase, began))[-200:]
    time = replace(time, phase=payload.phase, phase_began_s=began, stretched_s=0.0, begun=begun)
    card = state.plan.phase_cards[payload.phase]
    drills = (*state.drills, card) if card in state.plan.drills and card not in state.drills else state.drills
    return replace(state, time=time, drills=tuple(drill for drill in drills if drill is not None))


def stretched(state: RoomState, payload: e.Stretched, moment: Moment) -> RoomState | str:
    if state.time.phase is None:
        return "No phase is running yet."
    # No shorter than nothing: each minute below that would have to be given back before one counts again.
    total = max(-unstretched_s(state), min(3600.0, state.time.stretched_s + payload.seconds))
    if payload.seconds < 0 and total >= state.time.stretched_s:
        return "Nothing is left of this phase to take away."
    return replace(state, time=replace(state.time, stretched_s=total))


def paused(state: RoomState, payload: e.Paused, moment: Moment) -> RoomState | str:
    if state.time.started_at is None or state.time.paused_at is not None:
        return "The clock does not run."
    return replace(state, time=replace(state.time, paused_at=max(moment.at, state.time.started_at)))


def resumed(state: RoomState, payload: e.Resumed, moment: Moment) -> RoomState | str:
    if state.time.paused_at is None:
        return "The clock is running, or has not been started."
    over = max(0.0, moment.at - state.time.paused_at)
    return replace(state, time=replace(state.time, pauses_s=state.time.pauses_s + over, paused_at=None))


def handed_over(state: RoomState, payload: e.HandedOver, moment: Moment) -> RoomState | str:
    if moment.actor != state.lead and not moment.actor == payload.to == "interviewer":
        return f"The {state.lead} leads this session, and may hand the lead over."
    if payload.to == state.lead:
        return f"The {payload.to} leads already."
    if payload.to not in state.seats:
        return f"Nobody sits on the seat of the {payload.to}."
    if state.revealed and state.ratings[payload.to].committed is None:
        return f"The scorecard is open, and would close again: the {payload.to} has to commit scores first."
    return replace(state, lead=payload.to)


def finished(state: RoomState, payload: e.Finished, moment: Moment) -> RoomState | str:
    if state.time.started_at is None:
        return "The session has not begun."
    return replace(state, time=replace(state.time, finished_at=moment.at), hold=None, stuck=False)


def reply_released(state: RoomState, payload: e.ReplyReleased, moment: Moment) -> RoomState | str:
    if (refusal := _no_reply(state, payload.card, payload.reply)) is not None:
        return refusal
    key = (payload.card, payload.reply)
    if key in state.replies:
        return "This reply is out already."
    asked = put(state.asked, key, payload.asked)
    return replace(state, replies=put(state.replies, key, moment.mark(state)), asked=asked)


def reply_asked(state: RoomState, payload: e.ReplyAsked, moment: Moment) -> RoomState | str:
    if (refusal := _no_reply(state, payload.card, payload.reply)) is not None:
        return refusal
    return replace(state, asked=put(state.asked, (payload.card, payload.reply), payload.asked))


def _no_reply(state: RoomState, card: str, reply: int) -> str | None:
    plan = state.plan.cards.get(card)
    return None if plan is not None and reply < plan.replies else "This pack has no such reply."


def hint_released(state: RoomState, payload: e.HintReleased, moment: Moment) -> RoomState | str:
    plan = state.plan.cards.get(payload.card)
    if plan is None or payload.hint > len(plan.hint_costs):
        return "This pack has no such hint."
    if any((given.card, given.hint) == (payload.card, payload.hint) for given in state.hints):
        return "This hint is out already."
    if payload.item and payload.item not in state.plan.items:
        return f"{payload.item} is no item of this scorecard."
    cost = plan.hint_costs[payload.hint - 1]
    hint = ReleasedHint(payload.card, payload.hint, payload.item, cost, moment.mark(state))
    return replace(state, hints=(*state.hints, hint), stuck=False)


def twist_applied(state: RoomState, payload: e.TwistApplied, moment: Moment) -> RoomState | str:
    if payload.card is None:
        known = payload.twist in state.plan.events
    else:
        plan = state.plan.cards.get(payload.card)
        known = plan is not None and payload.twist in plan.twists
    if not known:
        return "This pack does not offer this twist."
    if any((done.card, done.twist) == (payload.card, payload.twist) for done in state.twists):
        return "This twist is applied already."
    twist = AppliedTwist(payload.twist, payload.card, payload.public, moment.mark(state))
    return replace(state, twists=(*state.twists, twist))


def drill_released(state: RoomState, payload: e.DrillReleased, moment: Moment) -> RoomState | str:
    if payload.drill not in state.plan.drills:
        return "This pack has no such drill."
    if payload.drill in state.drills:
        return "This drill is out already."
    return replace(state, drills=(*state.drills, payload.drill))


def node_visited(state: RoomState, payload: e.NodeVisited, moment: Moment) -> RoomState | str:
    plan = state.plan.cards.get(payload.card)
    if plan is None or payload.node not in plan.nodes:
        return "The follow-up tree has no such question."
    if len(state.visits) >= MAX_VISITS:
        return f"{MAX_VISITS} questions were marked; no more are kept."
    return replace(state, visits=(*state.visits, Visit(payload.card, payload.node, payload.heard)))


def mask_toggled(state: RoomState, payload: e.MaskToggled, moment: Moment) -> RoomState | str:
    return replace(state, masked=payload.on)


HANDLERS: dict[type[e.Payload], Handler] = {
    e.Opened: opened,
    e.Joined: joined,
    e.Consented: consented,
    e.Ready: ready,
    e.LevelSet: level_set,
    e.PhaseStarted: phase_started,
    e.Stretched: stretched,
    e.Paused: paused,
    e.Resumed: resumed,
    e.HandedOver: handed_over,
    e.Finished: finished,
    e.ReplyReleased: reply_released,
    e.ReplyAsked: reply_asked,
    e.HintReleased: hint_released,
    e.TwistApplied: twist_applied,
    e.DrillReleased: drill_released,
    e.NodeVisited: node_visited,
    e.MaskToggled: mask_toggled,
}
