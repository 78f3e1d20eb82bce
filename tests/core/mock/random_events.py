"""Sequences of events as no page would send them: likely ones, impossible ones and plain noise, mixed."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from core.mock.events import KINDS
from tests.core.mock.made import CARD, DRILL, ITEMS, NOON, PACK, Line, plan

ACTORS = ("interviewer", "rater", "candidate", "observer", "server", "", "boss")
WORDS = st.sampled_from(
    ["", "x", "long " * 600, "<script>alert(1)</script>", "🙂", "مرحبا", "\x00", "47", "1,34", "nan"]
)
_POOLS: dict[str, st.SearchStrategy[Any]] = {
    "pack": st.sampled_from([PACK, "mock-other"]),
    "content_hash": st.sampled_from([plan().content_hash, "other"]),
    "truth_hash": st.just(""),
    "seed": st.sampled_from([None, 0, 7, 2**40, -1]),
    "level": st.sampled_from(["mid", "senior", "staff", 0, 1, 2, 3, 4, 5, None, "boss"]),
    "solo": st.booleans(),
    "holder": st.sampled_from(["a", "b", "", "\x00"]),
    "handle": WORDS,
    "take_over": st.booleans(),
    "on": st.booleans(),
    "phase": st.integers(-1, 9),
    "seconds": st.sampled_from([-10_000, -600, -1, 0, 60, 3600, 10**9]),
    "reason": WORDS | st.sampled_from(["asked", "away"]),
    "to": st.sampled_from(["interviewer", "rater", "candidate"]),
    "card": st.sampled_from([CARD, DRILL, "q-nowhere-x", None]),
    "reply": st.integers(-1, 7),
    "asked": st.booleans(),
    "hint": st.integers(0, 5),
    "item": st.sampled_from([*ITEMS, "", "nonsense"]),
    "twist": st.sampled_from(["long-context", "padding", "experts", "slow-rail", "half-budget", "none"]),
    "public": st.booleans(),
    "drill": st.sampled_from([DRILL, CARD]),
    "node": st.sampled_from(["start", "waiting", "none"]),
    "heard": st.sampled_from([None, "strong", "wrong", "stuck", "asleep"]),
    "row": st.sampled_from(["c1", "c2", ""]),
    "number": WORDS | st.sampled_from(["ceiling", "nothing"]),
    "text": WORDS,
    "claim": WORDS,
    "unit": st.sampled_from(["%", "tok/s", "furlong", ""]),
    "confidence": st.sampled_from([None, 0, 80, 101]),
    "values": st.dictionaries(st.sampled_from(["seq_len", "batch"]), st.floats() | st.booleans() | WORDS, max_size=2),
    "sign": st.sampled_from(["+", "-", "?", "!"]),
    "evidence": st.integers(0, 12),
    "judgement": st.sampled_from(["no hire", "lean hire", "maybe"]),
    "overall": st.sampled_from(["lean no", "strong hire", "maybe"]),
    "competencies": st.dictionaries(st.sampled_from(["quantitative", "charm"]), st.integers(0, 5), max_size=2),
    "words": WORDS,
    "strengths": st.lists(WORDS, max_size=4),
    "changes": st.lists(WORDS, max_size=4),
    "clear": st.integers(0, 6),
    "fair": st.integers(0, 6),
    "useful": st.integers(0, 6),
}
_NOISE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def _likely(kind: str) -> st.SearchStrategy[tuple[str, Any]]:
    fields = {name: _POOLS[name] for name in KINDS[kind].model_fields}
    return st.tuples(st.just(kind), st.fixed_dictionaries({}, optional=fields) | st.fixed_dictionaries(fields))


_EVENTS = st.one_of(
    *(_likely(kind) for kind in KINDS),
    st.tuples(st.sampled_from([*KINDS, "unknown", ""]), _NOISE),
)
_OPENED = ("opened", {"pack": PACK, "content_hash": plan().content_hash, "level": "staff"})


@st.composite
def logs(draw: st.DrawFn, max_size: int = 40) -> list[Line]:
    """A log with seqs from 1; most begin with an event that opens the room, and time may run backwards."""
    at = NOON
    events = draw(st.lists(st.tuples(st.sampled_from(ACTORS), _EVENTS), max_size=max_size))
    if draw(st.integers(0, 9)):
        events = [("interviewer", _OPENED), *events]
    lines = []
    for seq, (actor, (kind, payload)) in enumerate(events, start=1):
        at += draw(st.sampled_from([-50.0, 0.0, 1.0, 60.0, 900.0]))
        lines.append(Line(seq, at, actor, kind, payload))
    return lines
