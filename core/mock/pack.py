"""What a mock pack (``mock/1``) and its calibration answers (``calibration/1``) may hold, as pydantic models.

A pack names cards of the bank and adds what a live session needs: phases, a follow-up tree, drills, event twists, what
to observe. Here each file is checked on its own; :mod:`core.mock.check` checks it against the bank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from core.cards.models import Competency, Level, Line, Misplaced, Name, Strict, Text

PHASES = ("setup", "clarify", "diagnose", "design", "twist", "probe", "reverse", "wrap")
MAX_DEPTH = 3  # nodes from the first question of a tree to its last
SETUP, WRAP = PHASES[0], PHASES[-1]
ANSWERS = ("weak", "mixed", "strong")

PhaseKind = Literal["setup", "clarify", "diagnose", "design", "twist", "probe", "reverse", "wrap"]
Theme = Literal["training", "serving", "mixed"]
Sign = Literal["+", "-", "?"]
Judgement = Literal["no hire", "lean no", "lean hire", "strong hire"]
Heard = Literal["strong", "wrong", "stuck"]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
QuestionId = Annotated[str, StringConstraints(pattern=r"^q-[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
DrillId = Annotated[str, StringConstraints(pattern=r"^d-[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
RubricLevel = Literal[1, 2, 3, 4]


class Edge(Strict):
    """Where to go from a node: to one other node, a hint of the card (1 is the first), a twist or a drill."""

    hear: Line
    node: Slug | None = None
    hint: Annotated[int, Field(ge=1, le=12)] | None = None
    twist: Slug | None = None
    drill: DrillId | None = None

    @model_validator(mode="after")
    def _one_target(self) -> Edge:
        if sum(target is not None for target in (self.node, self.hint, self.twist, self.drill)) != 1:
            raise ValueError("leads to one of node, hint, twist and drill")
        return self


class Node(Strict):
    """One question of a follow-up tree, what a good reply holds, and where each kind of reply leads.

    Edges of one kind are tried in their order: the second is for what the first did not help.
    """

    id: Slug
    say: Line
    good: Line
    strong: tuple[Edge, ...] = Field(default=(), max_length=4)
    wrong: tuple[Edge, ...] = Field(default=(), max_length=4)
    stuck: tuple[Edge, ...] = Field(default=(), max_length=4)

    def edges(self) -> Iterator[tuple[Heard, int, Edge]]:
        """Every edge with its kind and its place among its kind."""
        for heard, edges in self.by_reply().items():
            for at, edge in enumerate(edges):
                yield heard, at, edge

    def by_reply(self) -> dict[Heard, tuple[Edge, ...]]:
        """The edges of each kind."""
        return {"strong": self.strong, "wrong": self.wrong, "stuck": self.stuck}


class PackCard(Strict):
    """An open card to play: the seed of its numbers, the twists on offer (all, if none is named), its tree."""

    card: QuestionId
    seed: Seed = 0
    twists: tuple[Slug, ...] = Field(default=(), max_length=12)
    tree: tuple[Node, ...] = Field(min_length=2, max_length=16)

    @field_validator("tree")
    @classmethod
    def _is_a_tree(cls, tree: tuple[Node, ...]) -> tuple[Node, ...]:
        ids = [node.id for node in tree]
        _refuse_repeats(ids, "id")
        for at, node in enumerate(tree):
            for heard, number, edge in node.edges():
                if edge.node is not None and edge.node not in ids:
                    raise Misplaced(f"{edge.node} is no node of this tree", at, heard, number, "node")
        for heard, edges in tree[0].by_reply().items():
            if not edges:
                raise Misplaced(f"the first node says where {heard} leads", 0, heard)
        depths = _depths(tree)
        for at, node in enumerate(tree):
            if node.id not in depths:
                raise Misplaced(f"no edge leads to {node.id}", at, "id")
            if depths[node.id] > MAX_DEPTH:
                raise Misplaced(f"{node.id} lies {depths[node.id]} questions deep; at most {MAX_DEPTH}", at, "id")
        return tree


class PackDrill(Strict):
    """A numeric probe: a drill of the bank and the seed of its numbers."""

    card: DrillId
    seed: Seed = 0


class EventTwist(Strict):
    """A change of circumstances that moves no parameter: what is said, and what a strong candidate then does.

    Its texts may print numbers of the card that it names.
    """

    id: Slug
    say: Line
    expect: Text
    card: QuestionId | None = None


class Phase(Strict):
    """A part of the session. ``card`` is shown to the candidate from here on; ``twists`` are those on offer."""

    kind: PhaseKind
    name: Annotated[str, StringConstraints(min_length=1, max_length=40, strip_whitespace=True)]
    minutes: int = Field(ge=1, le=40)
    goal: Line
    done_when: Line
    card: QuestionId | DrillId | None = None
    probes: tuple[Line, ...] = Field(default=(), max_length=8)
    twists: tuple[Slug, ...] = Field(default=(), max_length=8)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Phase:
        if self.kind in (SETUP, "reverse", WRAP) and self.card is not None:
            raise ValueError(f"a phase of kind {self.kind} shows no card")
        if self.kind == "probe" and (self.card is None or not self.card.startswith("d-")):
            raise ValueError("a probe has a drill as its card")
        if self.kind in ("clarify", "diagnose", "design", "twist") and not (self.card or "").startswith("q-"):
            raise ValueError(f"a phase of kind {self.kind} has an open card, one whose id begins with q-")
        if (self.kind == "twist") != bool(self.twists):
            raise ValueError("a phase of kind twist, and no other, offers twists")
        return self


class ScoredItem(Strict):
    """A rubric item that the scorecard has; ``id`` is how notes link to it (#id), by default the item's own."""

    card: QuestionId
    item: Name
    id: Name = ""

    @property
    def key(self) -> str:
        """The name under which notes, scores and the scorecard have it."""
        return self.id or self.item


class Observation(Strict):
    """A button that writes one line of evidence: a fact that was heard or seen, never a trait."""

    text: Annotated[str, StringConstraints(min_length=3, max_length=80, strip_whitespace=True)]
    sign: Sign
    competency: Competency


class Lens(Strict):
    """What the same evidence has to show at each seniority."""

    mid: Line
    senior: Line
    staff: Line


class MockPack(Strict):
    """``mock/1``: one session, from the opening line to the wrap."""

    schema_: Literal["mock/1"] = Field(alias="schema")
    id: Annotated[str, StringConstraints(pattern=r"^mock-[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
    title: Line
    about: Line
    minutes: Literal[30, 45, 60]
    level: Level
    theme: Theme
    lens: Lens
    opening: Text
    probes: tuple[Line, ...] = Field(min_length=3, max_length=8)
    cards: tuple[PackCard, ...] = Field(min_length=1, max_length=5)
    drills: tuple[PackDrill, ...] = Field(min_length=1, max_length=6)
    events: tuple[EventTwist, ...] = Field(default=(), max_length=8)
    phases: tuple[Phase, ...] = Field(min_length=4, max_length=14)
    scored: tuple[ScoredItem, ...] = Field(min_length=4, max_length=8)
    observations: tuple[Observation, ...] = Field(min_length=6, max_length=12)

    @property
    def slug(self) -> str:
        """The name of its file and of its calibration answers."""
        return self.id.removeprefix("mock-")

    @property
    def seeds(self) -> dict[str, int]:
        """Every card and drill with the seed of its numbers."""
        return {row.card: row.seed for row in self.cards} | {row.card: row.seed for row in self.drills}

    @field_validator("cards", "drills")
    @classmethod
    def _cards_differ(cls, rows: tuple[PackCard | PackDrill, ...]) -> tuple[PackCard | PackDrill, ...]:
        _refuse_repeats([row.card for row in rows], "card")
        return rows

    @field_validator("events")
    @classmethod
    def _events_differ(cls, rows: tuple[EventTwist, ...]) -> tuple[EventTwist, ...]:
        _refuse_repeats([row.id for row in rows], "id")
        return rows

    @field_validator("scored")
    @classmethod
    def _items_differ(cls, rows: tuple[ScoredItem, ...]) -> tuple[ScoredItem, ...]:
        _refuse_repeats([row.key for row in rows], "id")
        return rows

    @field_validator("observations")
    @classmethod
    def _observations_differ(cls, rows: tuple[Observation, ...]) -> tuple[Observation, ...]:
        _refuse_repeats([row.text for row in rows], "text")
        return rows

    @field_validator("phases")
    @classmethod
    def _begins_and_ends(cls, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        _refuse_repeats([phase.name for phase in phases], "name")
        for at, phase in enumerate(phases):
            if (phase.kind == SETUP) != (at == 0):
                raise Misplaced("the first phase, and no other, is of kind setup", at, "kind")
            if (phase.kind == WRAP) != (at == len(phases) - 1):
                raise Misplaced("the last phase, and no other, is of kind wrap", at, "kind")
        return phases

    @model_validator(mode="after")
    def _parts_fit(self) -> MockPack:
        total = sum(phase.minutes for phase in self.phases)
        if total != self.minutes:
            raise Misplaced(f"the phases take {total} minutes, and the pack says {self.minutes}", "minutes")
        questions, drills = {row.card for row in self.cards}, {row.card for row in self.drills}
        for at, phase in enumerate(self.phases):
            if phase.card is not None and phase.card not in questions | drills:
                raise Misplaced(f"{phase.card} stands neither in cards nor in drills", "phases", at, "card")
        played = {phase.card for phase in self.phases}
        for at, row in enumerate(self.cards):
            if row.card not in played:
                raise Misplaced(f"no phase plays {row.card}", "cards", at, "card")
            for number, node in enumerate(row.tree):
                for heard, place, edge in node.edges():
                    if edge.drill is not None and edge.drill not in drills:
                        at_edge = ("cards", at, "tree", number, heard, place, "drill")
                        raise Misplaced(f"{edge.drill} does not stand in drills", *at_edge)
        named = [("scored", at, row.card) for at, row in enumerate(self.scored)]
        named += [("events", at, row.card) for at, row in enumerate(self.events) if row.card is not None]
        for field, at, card in named:
            if card not in questions:
                raise Misplaced(f"{card} does not stand in cards", field, at, "card")
        return self


class Score(Strict):
    """The level that an answer earns on one rubric item, and the words of the answer that earn it."""

    level: RubricLevel
    why: Line


class ScoredAnswer(Strict):
    """Scores of one scripted answer by rubric item, and the judgement as a whole."""

    scores: dict[Name, Score] = Field(min_length=3, max_length=8)
    overall: Judgement
    why: Line


class Calibration(Strict):
    """Front matter of ``calibration/1``; the answers stand under ``## Weak``, ``## Mixed``, ``## Strong``."""

    schema_: Literal["calibration/1"] = Field(alias="schema")
    pack: Annotated[str, StringConstraints(pattern=r"^mock-[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
    card: QuestionId
    seed: Seed = 0
    weak: ScoredAnswer
    mixed: ScoredAnswer
    strong: ScoredAnswer

    def answers(self) -> dict[str, ScoredAnswer]:
        """The three scored answers by name."""
        return {"weak": self.weak, "mixed": self.mixed, "strong": self.strong}


def _refuse_repeats(values: Iterable[str], field: str) -> None:
    seen: set[str] = set()
    for at, value in enumerate(values):
        if value in seen:
            raise Misplaced(f"{value!r} stands twice", at, field)
        seen.add(value)


def _depths(tree: tuple[Node, ...]) -> dict[str, int]:
    """How many questions lead to each node that can be reached, itself included; a circle is refused."""
    below = {node.id: {edge.node for _, _, edge in node.edges() if edge.node is not None} for node in tree}
    depths: dict[str, int] = {}
    waiting: list[tuple[str, tuple[str, ...]]] = [(tree[0].id, ())]
    while waiting:
        name, above = waiting.pop()
        if name in above:
            at = next(number for number, node in enumerate(tree) if node.id == name)
            raise Misplaced(f"the edges lead from {name} back to {name}", at, "id")
        depths[name] = max(depths.get(name, 0), len(above) + 1)
        waiting += [(other, (*above, name)) for other in below[name]]
    return depths
