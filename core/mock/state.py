"""What a room's log adds up to. Frozen: folding makes a new state and shares what has not changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from core.cards.models import Level
from core.mock.events import ClaimWritten, Feedback, Opened, Overall, SelfRated, Summary
from core.mock.pack import Heard, Judgement, Sign
from core.mock.plan import Plan
from core.mock.roles import RATERS, Rater, Role


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits on a seat: the tab that holds it, a name if one was given, and since when."""

    holder: str
    handle: str
    at: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the clock is computed from: server times in seconds since 1970, running times without pauses in seconds."""

    started_at: float | None = None
    phase: int | None = None
    phase_began_s: float = 0.0  # running time
    stretched_s: float = 0.0  # of this phase
    paused_at: float | None = None
    pauses_s: float = 0.0  # those that are over
    finished_at: float | None = None
    begun: tuple[tuple[int, float], ...] = ()  # every phase with its running time, in order

    def running_s(self, at: float) -> float:
        """Seconds of session at a server time, pauses and what came before the start left out."""
        if self.started_at is None:
            return 0.0
        ends = [at, *(end for end in (self.paused_at, self.finished_at) if end is not None)]
        return max(0.0, min(ends) - self.started_at - self.pauses_s)


@dataclass(frozen=True, slots=True)
class Mark:
    """When something happened: running seconds, the phase (None before the first), and how many twists there were."""

    t: float
    phase: int | None
    twists: int = 0


@dataclass(frozen=True, slots=True)
class ReleasedHint:
    """A hint that was given: 1 is the card's first; ``item`` is what it costs ("" where none was named)."""

    card: str
    hint: int
    item: str
    cost: float
    mark: Mark


@dataclass(frozen=True, slots=True)
class AppliedTwist:
    """A twist as it was applied; ``card`` is None for an event of the pack."""

    twist: str
    card: str | None
    public: bool
    mark: Mark


@dataclass(frozen=True, slots=True)
class Visit:
    """A question of a tree that was asked, and how the reply went."""

    card: str
    node: str
    heard: Heard | None


@dataclass(frozen=True, slots=True)
class Locked:
    """An answer to a numeric probe, as typed."""

    text: str
    confidence: int
    mark: Mark


@dataclass(frozen=True, slots=True)
class Checked:
    """The number of a card that a claim is about."""

    card: str
    number: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A private note."""

    id: int
    text: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One observed fact; ``id`` is the seq of its event."""

    id: int
    text: str
    sign: Sign
    item: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater has written. A score of 0 means "not observed"."""

    notes: tuple[NoteLine, ...] = ()
    evidence: tuple[EvidenceLine, ...] = ()
    scores: Mapping[str, int] = field(default_factory=_nothing)
    overall: Overall | None = None
    committed: Mark | None = None

    @property
    def judgement(self) -> Judgement | None:
        """The judgement as a whole, if one was made."""
        return self.overall.judgement if self.overall else None


@dataclass(frozen=True, slots=True)
class SliderHold:
    """Whose hand is on the sliders, and when it last moved (server time)."""

    role: Role
    at: float


@dataclass(frozen=True, slots=True)
class RoomState:
    """A room after the event ``seq``. ``plan`` is what its pack allows."""

    plan: Plan
    seq: int = 0
    opened: Opened | None = None
    level: Level = "senior"
    lead: Rater = "interviewer"
    seats: Mapping[Role, Seat] = field(default_factory=_nothing)
    consented: frozenset[Role] = frozenset()
    ready: frozenset[Role] = frozenset()
    time: Timeline = Timeline()
    replies: Mapping[tuple[str, int], Mark] = field(default_factory=_nothing)  # released: card and position
    asked: Mapping[tuple[str, int], bool] = field(default_factory=_nothing)
    hints: tuple[ReleasedHint, ...] = ()
    twists: tuple[AppliedTwist, ...] = ()
    drills: tuple[str, ...] = ()  # released, by phase or by hand
    visits: tuple[Visit, ...] = ()
    masked: bool = False
    pad: str = ""
    claims: Mapping[str, ClaimWritten] = field(default_factory=_nothing)
    checked: Mapping[str, Checked] = field(default_factory=_nothing)  # by the claim's row
    sliders: Mapping[str, bool | float | str] = field(default_factory=_nothing)
    sliders_seq: int = 0  # of the event that last moved one: the key version of a mirrored slider
    hold: SliderHold | None = None
    stuck: bool = False
    answers: Mapping[str, Locked] = field(default_factory=_nothing)
    ratings: Mapping[Rater, Rating] = field(
        default_factory=lambda: MappingProxyType({role: Rating() for role in RATERS})
    )
    summary: Summary | None = None
    self_rating: SelfRated | None = None
    feedback: Feedback | None = None

    @property
    def content_changed(self) -> bool:
        """Whether the room was opened with another edition of the pack or of its cards."""
        return self.opened is not None and self.opened.content_hash != self.plan.content_hash

    @property
    def seeds(self) -> Mapping[str, int]:
        """The seed of each card's numbers in this room."""
        if self.opened is None or self.opened.seed is None:
            return self.plan.seeds
        return dict.fromkeys(self.plan.seeds, self.opened.seed)

    @property
    def shown_cards(self) -> tuple[str, ...]:
        """Open cards whose prompt the candidate has, in the order in which they came."""
        cards = (self.plan.phase_cards[phase] for phase, _ in self.time.begun)
        return tuple(dict.fromkeys(card for card in cards if card in self.plan.cards and card is not None))

    @property
    def revealed(self) -> bool:
        """Whether interviewer and candidate see each other's ratings: both have committed."""
        return self.self_rating is not None and self.ratings[self.lead].committed is not None
