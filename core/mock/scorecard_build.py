"""Make a scorecard from a room: the state says what happened, the log goes along so that the room can be restored."""

from __future__ import annotations

from collections.abc import Sequence

from core.cards.library import Bank
from core.cards.models import Question
from core.mock.events import Event
from core.mock.fold import fold
from core.mock.numbers import number_rows
from core.mock.opening import session_name, truth_hash
from core.mock.reading import Pack
from core.mock.roles import RATERS, Rater, is_rater
from core.mock.scorecard import (
    Audience,
    ClaimPart,
    DrillPart,
    EvidencePart,
    FeedbackPart,
    HintPart,
    ItemPart,
    LogLine,
    NotePart,
    NumberPart,
    OtherPart,
    OverallPart,
    PhasePart,
    Scorecard,
    SelfPart,
    TwistPart,
)
from core.mock.scoring import ItemScore, item_scores, nearest_judgement, next_drills, weighted_mean
from core.mock.state import Mark, Rating, RoomState
from core.mock.truth import CardTruth, truths
from core.mock.views import banner

SEALED = "sealed"  # the kind of a blanked event: the fold passes over it, and the events after it keep their numbers
_OF_THE_CANDIDATE = {"self_rated", "feedback"}
_OF_A_RATER = frozenset(
    ("note", "evidence", "evidence_linked", "evidence_removed", "score_drafted", "overall", "committed", "summary")
)


class ScorecardError(ValueError):
    """A scorecard that cannot be made or read, in words."""


def scorecard(
    state: RoomState,
    log: Sequence[Event],
    pack: Pack,
    bank: Bank,
    *,
    audience: Audience = "interviewer",
    rater: Rater | None = None,
    with_names: bool = True,
) -> Scorecard:
    """The scorecard of a room.

    Args:
        state: the fold of the whole log.
        log: every event of the room.
        audience: the candidate's copy has no notes, no other rater, no log.
        rater: whose scores it shows; by default those of the one who leads.
        with_names: leave the handles out for a copy that shall not name anybody.

    Raises:
        ScorecardError: the room was never opened, or a candidate's copy is asked for before both have committed.
    """
    if state.opened is None or not log:
        raise ScorecardError("This room has not been opened yet: there is nothing to export.")
    if audience == "candidate" and not state.revealed:
        raise ScorecardError("The candidate's copy comes when the interviewer and the candidate have both committed.")
    role: Rater = rater or state.lead
    if audience == "candidate":
        role = state.lead
    own = state.ratings[role]
    private = audience == "interviewer"
    unsealed = state.revealed and own.committed is not None
    summary = state.summary if unsealed or role == state.lead else None
    cards, items = truths(state, bank), item_scores(state, role)
    names = {seat: row.handle for seat, row in state.seats.items() if row.handle and (private or seat != "rater")}
    drills = next_drills(items, bank, state.drills)
    rows = number_rows(state, cards)
    return Scorecard(
        audience=audience,
        session=session_name(log[0].at, state.opened),
        rater=role,
        names=names if with_names else {},
        pack=pack.id,
        title=pack.model.title,
        cards={card_id: bank.cards[card_id].title for card_id in state.plan.seeds},
        content_hash=state.opened.content_hash,
        truth_hash=state.opened.truth_hash or truth_hash(state.seeds, bank),
        seed=state.opened.seed,
        level=state.level,
        solo=state.opened.solo,
        opened_at=log[0].at,
        duration_s=round(state.time.running_s(log[-1].at)),
        planned_s=60 * pack.model.minutes,
        committed=own.committed is not None,
        items=tuple(_item(score, pack, bank, cards[score.card]) for score in items),
        overall=None
        if own.overall is None
        else OverallPart(
            judgement=own.overall.judgement,
            reason=own.overall.reason,
            weighted=weighted_mean(items),
            nearest=nearest_judgement(items, state.level, bank.competencies),
        ),
        numbers=tuple(
            NumberPart(
                ask=row.ask,
                typed=row.typed,
                said=row.said,
                truth=row.truth,
                unit=row.unit,
                rtol=row.rtol,
                right=row.right,
                conf=None if row.confidence is None else row.confidence / 100,
            )
            for row in rows
        ),
        hints=tuple(
            HintPart(t=round(hint.mark.t), card=hint.card, hint=hint.hint, item=hint.item, cost=hint.cost)
            for hint in state.hints
        ),
        twists=tuple(
            TwistPart(t=round(twist.mark.t), id=twist.twist, card=twist.card, say=banner(twist, pack, cards))
            for twist in state.twists
            if private or twist.public
        ),
        timeline=tuple(PhasePart(t=round(t), name=pack.model.phases[at].name) for at, t in state.time.begun),
        **{"self": _self(state) if unsealed else None},
        strengths=summary.strengths if summary else (),
        changes=summary.changes if summary else (),
        next_drills=tuple(DrillPart(id=drill, title=bank.cards[drill].title) for drill in drills),
        claims=tuple(
            ClaimPart(
                claim=claim.claim,
                number=claim.number,
                unit=claim.unit,
                conf=None if claim.confidence is None else claim.confidence / 100,
            )
            for claim in state.claims.values()
        ),
        pad=state.pad,
        others=_others(state, role) if private else (),
        notes=tuple(NotePart(t=round(note.mark.t), text=note.text) for note in own.notes) if private else (),
        feedback=_feedback(state) if private and unsealed else None,
        log=tuple(_line(event, state, role) for event in log) if private else (),
    )


def restored(card: Scorecard, state: RoomState) -> RoomState:
    """The fold of a scorecard's log from an empty state.

    Raises:
        ScorecardError: it has none: it is a candidate's copy.
    """
    if not card.log:
        raise ScorecardError(
            "This is a candidate's copy, which holds no log: a room is restored from the interviewer's."
        )
    return fold(state, events_of(card))


def events_of(card: Scorecard) -> tuple[Event, ...]:
    """The log of a scorecard as events, counted from 1."""
    return tuple(_Numbered(seq, line) for seq, line in enumerate(card.log, start=1))


class _Numbered:
    """A line of a log with its number."""

    def __init__(self, seq: int, line: LogLine) -> None:
        self.seq, self.at, self.actor, self.kind, self.payload = seq, line.at, line.actor, line.kind, line.payload


def _item(score: ItemScore, pack: Pack, bank: Bank, truth: CardTruth) -> ItemPart:
    """An item in words as the console's rubric has it; of its levels only the one that was reached."""
    model, ladder = truth.base.card.model, bank.competencies.get(score.competency)
    assert isinstance(model, Question)
    item = next(item for item in model.rubric if item.id == score.item)
    return ItemPart(
        title=truth.base.fill(item.observe),
        dimension=ladder.title if ladder else score.competency,
        reached=next((truth.base.fill(text) for level, text in item.levels.items() if level == score.level), ""),
        id=score.key,
        card=score.card,
        competency=score.competency,
        weight=score.weight,
        level=score.level,
        hint_cost=score.hint_cost,
        after_hints=score.after_hints,
        evidence=tuple(
            EvidencePart(t=round(line.mark.t), phase=_phase(line.mark, pack), sign=line.sign, text=line.text)
            for line in score.evidence
        ),
    )


def _phase(mark: Mark, pack: Pack) -> str:
    return "" if mark.phase is None else pack.model.phases[mark.phase].name


def _self(state: RoomState) -> SelfPart | None:
    if (own := state.self_rating) is None:
        return None
    return SelfPart(overall=own.overall, competencies=own.competencies, words=own.words)


def _feedback(state: RoomState) -> FeedbackPart | None:
    if (said := state.feedback) is None:
        return None
    return FeedbackPart(clear=said.clear, fair=said.fair, useful=said.useful, words=said.words)


def _others(state: RoomState, role: Rater) -> tuple[OtherPart, ...]:
    parts = []
    for other in RATERS:
        rating = state.ratings[other]
        if other != role and state.ratings[role].committed and rating.committed and rating.judgement:
            levels = {score.key: score.level for score in item_scores(state, other)}
            parts.append(OtherPart.model_validate({"role": other, "levels": levels, "judgement": rating.judgement}))
    return tuple(parts)


def _line(event: Event, state: RoomState, role: Rater) -> LogLine:
    """An event as this rater may keep it."""
    committed = state.ratings[role].committed is not None
    if event.kind in _OF_THE_CANDIDATE:
        hidden = not (state.revealed and committed)
    elif event.kind in _OF_A_RATER and event.actor != role:
        theirs = state.ratings[event.actor] if is_rater(event.actor) else Rating()
        hidden = not (committed and theirs.committed is not None)
    else:
        hidden = False
    kind, payload = (SEALED, {}) if hidden else (event.kind, event.payload)
    return LogLine(at=event.at, actor=event.actor, kind=kind, payload=payload)
