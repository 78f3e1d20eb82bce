"""The private part of a rater's page: script, truth, rubric, what can be released, own notes and scores.

What another rater wrote is in it only when both have committed, and the candidate's own rating only when this rater,
the leading one and the candidate have.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from core.cards.draw import Variant
from core.cards.grading import DrillGrade
from core.cards.library import Bank
from core.cards.models import Competency, Drill, Question
from core.mock.agreement import Agreement, ItemDifference, agreement, differences
from core.mock.events import Feedback, SelfRated, Summary
from core.mock.fold_rating import commit_refusals
from core.mock.numbers import NumberRow, checked_rows, drill_grade
from core.mock.pack import Heard, Judgement, Observation, PhaseKind
from core.mock.reading import Pack
from core.mock.roles import RATERS, Rater, Role
from core.mock.scoring import item_scores, nearest_judgement, weighted_mean
from core.mock.state import Locked, Rating, RoomState
from core.mock.truth import CardTruth, TruthRow, twist_texts


@dataclass(frozen=True, slots=True)
class PhaseScript:
    """A phase as its interviewer reads it."""

    name: str
    kind: PhaseKind
    minutes: int
    card: str | None
    goal: str
    done_when: str
    probes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TruthStrip:
    """A card's numbers before and after twists; ``refused`` are twists that its numbers did not allow."""

    card: str
    title: str
    rows: tuple[TruthRow, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RubricRow:
    """An item to score. ``bar`` is the level that the chosen seniority is expected to reach."""

    key: str
    competency: Competency
    competency_title: str
    weight: float
    observe: str
    levels: Mapping[int, str]
    bar: int | None
    level: int | None  # own: 1 to 4, 0 not observed, None not scored
    evidence: int
    hint_cost: float


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """A clarifying question and its reply; ``reply`` is the position to release."""

    card: str
    reply: int
    ask: str
    give: str
    strong: bool
    released: bool
    asked: bool | None


@dataclass(frozen=True, slots=True)
class HintRow:
    """A rung of the ladder; ``hint`` counts from 1."""

    card: str
    hint: int
    cost: float
    text: str
    released: bool
    item: str


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """Where a reply leads: ``target`` is one of node, hint, twist, drill, ``to`` its name or number."""

    heard: Heard
    hear: str
    target: str
    to: str


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A question of the follow-up tree, of the numbers before any twist; ``heard`` is how the last reply to it went."""

    card: str
    node: str
    say: str
    good: str
    edges: tuple[EdgeRow, ...]
    visited: bool
    heard: Heard | None


@dataclass(frozen=True, slots=True)
class TwistRow:
    """A twist, or an event of the pack (no card); ``now`` says whether this phase offers it."""

    twist: str
    card: str | None
    say: str
    expect: str
    applied: bool
    now: bool


@dataclass(frozen=True, slots=True)
class DrillRow:
    """A numeric probe with its truth, and what the candidate locked."""

    drill: str
    title: str
    prompt: str
    steps: tuple[str, ...]
    answer: float
    unit: str
    rtol: float
    slips: tuple[tuple[float, str], ...]
    released: bool
    locked: Locked | None
    grade: DrillGrade | None  # None also where what was typed is no number


@dataclass(frozen=True, slots=True)
class OtherRating:
    """Another rater's work, when both have committed."""

    role: Rater
    rating: Rating
    differences: tuple[ItemDifference, ...]  # own level first
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class PrivateView:
    """Everything of a rater that a candidate never gets."""

    role: Rater
    leads: bool
    content_changed: bool
    seats: Mapping[Role, str]
    consented: frozenset[Role]
    ready: frozenset[Role]
    opening: str
    lens: str
    probes: tuple[str, ...]
    phases: tuple[PhaseScript, ...]
    truth: tuple[TruthStrip, ...]  # the cards in the pack's order
    checked: Mapping[str, NumberRow]  # claims beside their numbers, by row
    rubric: tuple[RubricRow, ...]
    observations: tuple[Observation, ...]
    replies: tuple[ReplyRow, ...]
    hints: tuple[HintRow, ...]
    tree: tuple[NodeRow, ...]
    moved: frozenset[str]  # cards whose numbers a twist has changed: the tree still speaks of the first ones
    twists: tuple[TwistRow, ...]
    drills: tuple[DrillRow, ...]
    stuck: bool
    own: Rating
    summary: Summary | None  # of the leading rater alone
    commit_refusals: tuple[str, ...]
    mean: float | None  # of own scores after hints, once the whole was judged
    nearest: Judgement | None  # what the items alone would say, once the whole was judged
    others: tuple[OtherRating, ...]
    candidate_committed: bool
    self_rating: SelfRated | None
    feedback: Feedback | None


def private_view(role: Rater, state: RoomState, pack: Pack, bank: Bank, cards: Mapping[str, CardTruth]) -> PrivateView:
    """The private part for one of the two raters."""
    model, own = pack.model, state.ratings[role]
    main = cards[model.cards[0].card]
    items = item_scores(state, role)
    judged = own.overall is not None
    return PrivateView(
        role=role,
        leads=state.lead == role,
        content_changed=state.content_changed,
        seats={seat: row.holder for seat, row in state.seats.items()},
        consented=state.consented,
        ready=state.ready,
        opening=main.base.fill(model.opening),
        lens=main.base.fill(getattr(model.lens, state.level)),
        probes=model.probes,
        phases=_phases(pack, cards, main),
        truth=tuple(
            TruthStrip(card, cards[card].base.card.title, cards[card].rows(), cards[card].refused)
            for card in state.plan.cards
        ),
        checked=checked_rows(state, cards),
        rubric=_rubric(role, state, bank, cards),
        observations=model.observations,
        replies=_replies(state, cards),
        hints=_hints(state, cards),
        tree=_tree(state, pack, cards),
        moved=frozenset(card for card in state.plan.cards if cards[card].now.values != cards[card].base.values),
        twists=_twists(state, pack, cards),
        drills=tuple(_drill(drill, state, cards[drill].base) for drill in state.plan.drills),
        stuck=state.stuck,
        own=own,
        summary=state.summary if state.lead == role else None,
        commit_refusals=tuple(commit_refusals(state, own)),
        mean=weighted_mean(items) if judged else None,
        nearest=nearest_judgement(items, state.level, bank.competencies) if judged else None,
        others=tuple(
            _other(other, role, state)
            for other in RATERS
            if other != role and own.committed and state.ratings[other].committed
        ),
        candidate_committed=state.self_rating is not None,
        self_rating=state.self_rating if state.revealed and own.committed else None,
        feedback=state.feedback if state.revealed and own.committed else None,
    )


def _other(other: Rater, role: Rater, state: RoomState) -> OtherRating:
    own, theirs = ({row.key: row.level for row in item_scores(state, rater)} for rater in (role, other))
    both = agreement([list(own.values()), list(theirs.values())])
    return OtherRating(other, state.ratings[other], differences(own, theirs), both)


def _phases(pack: Pack, cards: Mapping[str, CardTruth], main: CardTruth) -> tuple[PhaseScript, ...]:
    rows = []
    for phase in pack.model.phases:
        fill = (cards[phase.card] if phase.card else main).base.fill
        probes = tuple(fill(probe) for probe in phase.probes)
        goal, done = fill(phase.goal), fill(phase.done_when)
        rows.append(PhaseScript(phase.name, phase.kind, phase.minutes, phase.card, goal, done, probes))
    return tuple(rows)


def _rubric(role: Rater, state: RoomState, bank: Bank, cards: Mapping[str, CardTruth]) -> tuple[RubricRow, ...]:
    """The items, each room and rater with another order: the first one on the list is not always the same."""
    rows = []
    for score in item_scores(state, role):
        variant = cards[score.card].base
        item = next(item for item in _question(variant).rubric if item.id == score.item)
        ladder = bank.competencies.get(item.competency)
        rows.append(
            RubricRow(
                key=score.key,
                competency=item.competency,
                competency_title=ladder.title if ladder else item.competency,
                weight=item.weight,
                observe=variant.fill(item.observe),
                levels={level: variant.fill(text) for level, text in item.levels.items()},
                bar=ladder.expected[state.level] if ladder else None,
                level=state.ratings[role].scores.get(score.key),
                evidence=len(score.evidence),
                hint_cost=score.hint_cost,
            )
        )
    seat = state.seats.get("interviewer")
    random.Random(f"{role}:{seat.at if seat else 0}").shuffle(rows)
    return tuple(rows)


def _replies(state: RoomState, cards: Mapping[str, CardTruth]) -> tuple[ReplyRow, ...]:
    return tuple(
        ReplyRow(
            card=card,
            reply=at,
            ask=cards[card].now.fill(reply.ask),
            give=cards[card].now.fill(reply.give),
            strong=reply.signal == "strong",
            released=(card, at) in state.replies,
            asked=state.asked.get((card, at)),
        )
        for card in state.plan.cards
        for at, reply in enumerate(_question(cards[card].base).clarify)
    )


def _hints(state: RoomState, cards: Mapping[str, CardTruth]) -> tuple[HintRow, ...]:
    given = {(hint.card, hint.hint): hint.item for hint in state.hints}
    return tuple(
        HintRow(
            card=card,
            hint=number,
            cost=hint.cost,
            text=cards[card].now.fill(hint.text),
            released=(card, number) in given,
            item=given.get((card, number), ""),
        )
        for card in state.plan.cards
        for number, hint in enumerate(_question(cards[card].base).hints, start=1)
    )


def _tree(state: RoomState, pack: Pack, cards: Mapping[str, CardTruth]) -> tuple[NodeRow, ...]:
    heard = {(visit.card, visit.node): visit.heard for visit in state.visits}
    rows = []
    for row in pack.model.cards:
        fill = cards[row.card].base.fill  # fixed words beside the numbers were written for the first ones
        for node in row.tree:
            edges = []
            for reply, _, edge in node.edges():
                targets = {"node": edge.node, "hint": edge.hint, "twist": edge.twist, "drill": edge.drill}
                target, to = next((key, value) for key, value in targets.items() if value is not None)
                edges.append(EdgeRow(reply, fill(edge.hear), target, str(to)))
            key = (row.card, node.id)
            said, good = fill(node.say), fill(node.good)
            rows.append(NodeRow(row.card, node.id, said, good, tuple(edges), key in heard, heard.get(key)))
    return tuple(rows)


def _twists(state: RoomState, pack: Pack, cards: Mapping[str, CardTruth]) -> tuple[TwistRow, ...]:
    phase = None if state.time.phase is None else pack.model.phases[state.time.phase]
    offered = phase.twists if phase else ()
    marks = {(twist.card, twist.twist): twist.mark.twists for twist in state.twists}
    rows = []
    for card, plan in state.plan.cards.items():
        for twist in plan.twists:
            done = marks.get((card, twist))
            variant = cards[card].now if done is None else cards[card].at(done)
            said, expected = twist_texts(variant, twist)
            now = twist in offered and phase is not None and phase.card == card
            rows.append(TwistRow(twist, card, said, expected, done is not None, now))
    for event in pack.model.events:
        variant = cards[event.card or pack.model.cards[0].card].now
        said, expected = variant.fill(event.say), variant.fill(event.expect)
        rows.append(TwistRow(event.id, None, said, expected, (None, event.id) in marks, event.id in offered))
    return tuple(rows)


def _drill(drill: str, state: RoomState, variant: Variant) -> DrillRow:
    model = variant.card.model
    assert isinstance(model, Drill)
    locked = state.answers.get(drill)
    return DrillRow(
        drill=drill,
        title=model.title,
        prompt=variant.fill(variant.card.sections.get("Prompt", "")),
        steps=tuple(variant.fill(step) for step in variant.card.steps),
        answer=variant.answer,
        unit=model.answer.unit,
        rtol=model.answer.rtol,
        slips=tuple((variant.value_of(slip.expr), variant.fill(slip.say)) for slip in model.partial),
        released=drill in state.drills,
        locked=locked,
        grade=drill_grade(variant, locked.text) if locked else None,
    )


def _question(variant: Variant) -> Question:
    model = variant.card.model
    assert isinstance(model, Question)
    return model
