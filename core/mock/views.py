"""What each role may see, filtered on the server before anything is drawn.

A candidate and an observer get a :class:`PublicView`: nothing in it comes from a rubric, a truth, a note, a score or
anything that has not been released. Raters get that and a private part (:mod:`core.mock.rater_view`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.cards.library import Bank
from core.cards.models import Drill, Level, Question
from core.mock.debrief import Debrief, debrief_of
from core.mock.events import SelfRated
from core.mock.pack import PhaseKind
from core.mock.rater_view import PrivateView, private_view
from core.mock.reading import Pack
from core.mock.roles import Role, is_rater
from core.mock.state import AppliedTwist, Mark, RoomState
from core.mock.truth import CardTruth, truths, twist_texts


@dataclass(frozen=True, slots=True)
class Reply:
    """A clarifying reply that was released."""

    ask: str
    give: str


@dataclass(frozen=True, slots=True)
class Problem:
    """An open card's prompt with what was given while it was at hand; banners with their number in the session.

    ``number`` is its place among the pack's problems, from 1; 0 and no prompt before the first one is shown.
    """

    number: int
    prompt: str
    banners: tuple[tuple[int, str], ...]
    replies: tuple[Reply, ...]
    hints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DrillShown:
    """A numeric probe on the candidate's board; ``number`` is its position in the pack's drills."""

    number: int
    prompt: str
    seconds: int
    unit: str
    rtol: float  # how far off still counts


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A row of the claims table."""

    row: str
    claim: str
    number: str
    unit: str
    confidence: int | None


@dataclass(frozen=True, slots=True)
class PublicView:
    """What everybody in the room sees. Texts are Markdown with numbers put in.

    ``handles`` are the names that interviewer and candidate gave; a second rater and observers are not in it.
    ``problems`` hold the same prompts, replies, hints and banners once more, the problem at hand first;
    ``problem_count`` is how many the pack has.
    ``sliders_seq`` is the event that last moved a slider: the key version of a mirrored one.
    """

    seq: int
    title: str
    minutes: int
    level: Level
    phase: int | None
    phase_name: str
    phase_kind: PhaseKind | None
    finished: bool
    handles: Mapping[str, str]
    prompts: tuple[str, ...]
    replies: tuple[Reply, ...]
    hints: tuple[str, ...]
    banners: tuple[str, ...]
    problems: tuple[Problem, ...]
    problem_count: int
    drills: tuple[DrillShown, ...]
    pad: str
    claims: tuple[ClaimRow, ...]
    sliders: Mapping[str, bool | float | str]
    sliders_seq: int
    slider_hand: Role | None
    masked: bool


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """What the candidate locked, without a word on whether it is right."""

    number: int
    text: str
    confidence: int


@dataclass(frozen=True, slots=True)
class ObserverView:
    """An observer's page."""

    public: PublicView


@dataclass(frozen=True, slots=True)
class CandidateView:
    """A candidate's page: the public part and their own; ``debrief`` comes when both have committed."""

    public: PublicView
    consented: bool
    ready: bool
    stuck: bool
    answers: tuple[OwnAnswer, ...]
    self_rating: SelfRated | None
    gave_feedback: bool
    debrief: Debrief | None


@dataclass(frozen=True, slots=True)
class RaterView:
    """An interviewer's or second rater's page."""

    public: PublicView
    private: PrivateView
    debrief: Debrief | None


View = ObserverView | CandidateView | RaterView


def view_for(role: Role, state: RoomState, pack: Pack, bank: Bank) -> View:
    """Exactly what a role may see of a room; it changes only with ``state.seq``, and the clock is apart from it.

    Raises:
        DrawError: a card has no variant for the room's seed.
    """
    cards = truths(state, bank)
    public = public_view(state, pack, cards)
    if role == "observer":
        return ObserverView(public)
    sealed = not state.revealed or (is_rater(role) and state.ratings[role].committed is None)
    debrief = None if sealed else debrief_of(state, cards, bank)
    if is_rater(role):
        return RaterView(public, private_view(role, state, pack, bank, cards), debrief)
    return CandidateView(
        public=public,
        consented="candidate" in state.consented,
        ready="candidate" in state.ready,
        stuck=state.stuck,
        answers=tuple(
            OwnAnswer(state.plan.drills.index(drill), answer.text, answer.confidence)
            for drill, answer in state.answers.items()
        ),
        self_rating=state.self_rating,
        gave_feedback=state.feedback is not None,
        debrief=debrief,
    )


def public_view(state: RoomState, pack: Pack, cards: Mapping[str, CardTruth]) -> PublicView:
    """The part that no role is denied."""
    model, at = pack.model, state.time.phase
    phase = None if at is None else model.phases[at]
    claims = (ClaimRow(row, c.claim, c.number, c.unit, c.confidence) for row, c in state.claims.items())
    return PublicView(
        seq=state.seq,
        title=model.title,
        minutes=model.minutes,
        level=state.level,
        phase=at,
        phase_name=phase.name if phase else "",
        phase_kind=phase.kind if phase else None,
        finished=state.time.finished_at is not None,
        handles={role: seat.handle for role, seat in state.seats.items() if role in ("interviewer", "candidate")},
        prompts=tuple(_section(cards[card], "Prompt") for card in state.shown_cards),
        replies=tuple(_reply(cards[card], at, mark.twists) for (card, at), mark in state.replies.items()),
        hints=tuple(_hint(cards[hint.card], hint.hint, hint.mark.twists) for hint in state.hints),
        banners=tuple(banner(twist, pack, cards) for twist in state.twists if twist.public),
        problems=_problems(state, pack, cards),
        problem_count=len(_in_order(state)),
        drills=tuple(_drill(cards[drill], state.plan.drills.index(drill)) for drill in state.drills),
        pad=state.pad,
        claims=tuple(claims),
        sliders=state.sliders,
        sliders_seq=state.sliders_seq,
        slider_hand=state.hold.role if state.hold else None,
        masked=state.masked,
    )


def _problems(state: RoomState, pack: Pack, cards: Mapping[str, CardTruth]) -> tuple[Problem, ...]:
    """Each problem that was shown, the one at hand first and the others as they came last."""
    begun = [card for phase, _ in state.time.begun if (card := _open_card(state, phase)) is not None]
    shown: list[str | None] = list(dict.fromkeys(reversed(begun)))
    numbers = {card: number for number, card in enumerate(_in_order(state), start=1)}
    public = [twist for twist in state.twists if twist.public]
    banners = [(_at_hand(state, twist.mark), (n, banner(twist, pack, cards))) for n, twist in enumerate(public, 1)]
    replies = [
        (_at_hand(state, mark), _reply(cards[card], at, mark.twists)) for (card, at), mark in state.replies.items()
    ]
    hints = [(_at_hand(state, hint.mark), _hint(cards[hint.card], hint.hint, hint.mark.twists)) for hint in state.hints]
    if not shown and (banners or replies or hints):
        shown = [None]
    return tuple(
        Problem(
            number=0 if card is None else numbers[card],
            prompt="" if card is None else _section(cards[card], "Prompt"),
            banners=tuple(row for at, row in banners if at == card),
            replies=tuple(row for at, row in replies if at == card),
            hints=tuple(row for at, row in hints if at == card),
        )
        for card in shown
    )


def _in_order(state: RoomState) -> tuple[str, ...]:
    """The open cards as the pack's phases come to them."""
    cards = (_open_card(state, phase) for phase in range(len(state.plan.phase_cards)))
    return tuple(dict.fromkeys(card for card in cards if card is not None))


def _open_card(state: RoomState, phase: int) -> str | None:
    card = state.plan.phase_cards[phase]
    return card if card in state.plan.cards else None


def _at_hand(state: RoomState, mark: Mark) -> str | None:
    """The problem at the time: a phase without one goes on with that of before; before the first, it is the first."""
    if mark.phase is not None and (card := _open_card(state, mark.phase)) is not None:
        return card
    cards = [(card, t) for phase, t in state.time.begun if (card := _open_card(state, phase)) is not None]
    before = [card for card, t in cards if t <= mark.t]
    return before[-1] if before else cards[0][0] if cards else None


def _section(truth: CardTruth, name: str) -> str:
    return truth.base.fill(truth.base.card.sections.get(name, ""))


def _reply(truth: CardTruth, at: int, twists: int) -> Reply:
    model, variant = truth.base.card.model, truth.at(twists)
    assert isinstance(model, Question)
    return Reply(variant.fill(model.clarify[at].ask), variant.fill(model.clarify[at].give))


def _hint(truth: CardTruth, hint: int, twists: int) -> str:
    model = truth.base.card.model
    assert isinstance(model, Question)
    return truth.at(twists).fill(model.hints[hint - 1].text)


def banner(twist: AppliedTwist, pack: Pack, cards: Mapping[str, CardTruth]) -> str:
    """What is said for a twist, with the numbers as they were before it."""
    if twist.card is not None:
        return twist_texts(cards[twist.card].at(twist.mark.twists), twist.twist)[0]
    event = next(event for event in pack.model.events if event.id == twist.twist)
    return cards[event.card].at(twist.mark.twists).fill(event.say) if event.card else event.say


def _drill(truth: CardTruth, number: int) -> DrillShown:
    model = truth.base.card.model
    assert isinstance(model, Drill)
    return DrillShown(number, _section(truth, "Prompt"), model.seconds, model.answer.unit, model.answer.rtol)
