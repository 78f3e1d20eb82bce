"""How events of rating change a state: notes, evidence, the scores that need it, judgements, commits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.mock import events as e
from core.mock.moment import Handler, Moment, put, without
from core.mock.roles import is_rater
from core.mock.state import EvidenceLine, NoteLine, Rating, RoomState

MAX_LINES = 500  # of evidence, and of notes, for one rater
_DONE = "Your scores are committed: they stay as they are."


def note(state: RoomState, payload: e.Note, moment: Moment) -> RoomState | str:
    def change(rating: Rating) -> Rating | str:
        if len(rating.notes) >= MAX_LINES:
            return f"{MAX_LINES} notes are kept, and no more."
        return replace(rating, notes=(*rating.notes, NoteLine(moment.seq, payload.text, moment.mark(state))))

    return _rated(state, moment, change)


def evidence(state: RoomState, payload: e.Evidence, moment: Moment) -> RoomState | str:
    if payload.item and payload.item not in state.plan.items:
        return _no_item(state, payload.item)

    def change(rating: Rating) -> Rating | str:
        if rating.committed:
            return _DONE
        if len(rating.evidence) >= MAX_LINES:
            return f"{MAX_LINES} lines of evidence are kept, and no more."
        line = EvidenceLine(moment.seq, payload.text, payload.sign, payload.item, moment.mark(state))
        return replace(rating, evidence=(*rating.evidence, line))

    return _rated(state, moment, change)


def evidence_linked(state: RoomState, payload: e.EvidenceLinked, moment: Moment) -> RoomState | str:
    if payload.item and payload.item not in state.plan.items:
        return _no_item(state, payload.item)

    def change(rating: Rating) -> Rating | str:
        if (refusal := _not_mine(rating, payload.evidence)) is not None:
            return refusal
        lines = (replace(x, item=payload.item) if x.id == payload.evidence else x for x in rating.evidence)
        return replace(rating, evidence=tuple(lines))

    return _rated(state, moment, change)


def evidence_removed(state: RoomState, payload: e.EvidenceRemoved, moment: Moment) -> RoomState | str:
    def change(rating: Rating) -> Rating | str:
        if (refusal := _not_mine(rating, payload.evidence)) is not None:
            return refusal
        return replace(rating, evidence=tuple(line for line in rating.evidence if line.id != payload.evidence))

    return _rated(state, moment, change)


def _not_mine(rating: Rating, line: int) -> str | None:
    if rating.committed:
        return _DONE
    return None if any(own.id == line for own in rating.evidence) else "This is no line of yours."


def score_drafted(state: RoomState, payload: e.ScoreDrafted, moment: Moment) -> RoomState | str:
    if payload.item not in state.plan.items:
        return _no_item(state, payload.item)

    def change(rating: Rating) -> Rating | str:
        if rating.committed:
            return _DONE
        if payload.level is None:
            return replace(rating, scores=without(rating.scores, payload.item))
        return replace(rating, scores=put(rating.scores, payload.item, payload.level))

    return _rated(state, moment, change)


def overall(state: RoomState, payload: e.Overall, moment: Moment) -> RoomState | str:
    def change(rating: Rating) -> Rating | str:
        if rating.committed:
            return _DONE
        if missing := [item for item in state.plan.items if item not in rating.scores]:
            return f"Score the items first, then the whole: {', '.join(missing)}."
        return replace(rating, overall=payload)

    return _rated(state, moment, change)


def committed(state: RoomState, payload: e.Committed, moment: Moment) -> RoomState | str:
    def change(rating: Rating) -> Rating | str:
        if rating.committed:
            return _DONE
        if open_items := commit_refusals(state, rating):
            return " ".join(open_items)
        return replace(rating, committed=moment.mark(state))

    return _rated(state, moment, change)


def commit_refusals(state: RoomState, rating: Rating) -> list[str]:
    """What keeps these scores from being committed, in words; empty where nothing does."""
    refusals = []
    for item in state.plan.items:
        level = rating.scores.get(item)
        if level is None:
            refusals.append(f'{item} has no score: give one, or say "not observed".')
        elif level != e.NOT_OBSERVED and not any(line.item == item for line in rating.evidence):
            refusals.append(f"{item} has a score without evidence: link one line to it (#{item}).")
    if rating.overall is None:
        refusals.append("There is no judgement as a whole yet.")
    return refusals


def summary(state: RoomState, payload: e.Summary, moment: Moment) -> RoomState | str:
    return replace(state, summary=payload)


def self_rated(state: RoomState, payload: e.SelfRated, moment: Moment) -> RoomState | str:
    if state.self_rating is not None:
        return "Your rating is committed: it stays as it is."
    if state.time.started_at is None:
        return "The session has not begun."
    return replace(state, self_rating=payload)


def feedback(state: RoomState, payload: e.Feedback, moment: Moment) -> RoomState | str:
    if state.time.started_at is None:
        return "The session has not begun."
    return replace(state, feedback=payload)


def _no_item(state: RoomState, item: str) -> str:
    return f"{item} is no item of this scorecard: {', '.join(state.plan.items)}."


def _rated(state: RoomState, moment: Moment, change: Callable[[Rating], Rating | str]) -> RoomState | str:
    assert is_rater(moment.actor)
    after = change(state.ratings[moment.actor])
    return after if isinstance(after, str) else replace(state, ratings=put(state.ratings, moment.actor, after))


HANDLERS: dict[type[e.Payload], Handler] = {
    e.Note: note,
    e.Evidence: evidence,
    e.EvidenceLinked: evidence_linked,
    e.EvidenceRemoved: evidence_removed,
    e.ScoreDrafted: score_drafted,
    e.Overall: overall,
    e.Committed: committed,
    e.Summary: summary,
    e.SelfRated: self_rated,
    e.Feedback: feedback,
}
