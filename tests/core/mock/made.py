"""The example pack with the shipped bank, and rooms that are played event by event."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from core.cards.library import Bank, read_bank
from core.mock.fold import fold, prepare
from core.mock.plan import Plan, plan_of
from core.mock.reading import Pack, load_packs
from core.mock.state import RoomState

PACK = "mock-train-serve-45"
CARD, DRILL = "q-bottleneck-mfu-35-hfu-62", "d-serving-decode-tput"
ITEMS = ("define", "arithmetic", "causes", "plan")
NOON = 1_800_000_000.0


@cache
def bank() -> Bank:
    return read_bank()


@cache
def pack() -> Pack:
    return load_packs()[PACK]


@cache
def plan() -> Plan:
    return plan_of(pack(), bank())


@dataclass(frozen=True)
class Line:
    """An event as a store gives it."""

    seq: int
    at: float
    actor: str
    kind: str
    payload: Any


@dataclass
class Played:
    """A room in memory: each event goes through `prepare`, as a page does it."""

    at: float = NOON
    log: list[Line] = field(default_factory=list)
    state: RoomState = field(default_factory=lambda: RoomState(plan()))

    def does(self, actor: str, kind: str, *, after_s: float = 0.0, **fields: Any) -> Played:
        self.at += after_s
        return self.writes(actor, kind, prepare(self.state, actor, kind, self.at, **fields))

    def writes(self, actor: str, kind: str, payload: Any) -> Played:
        """The same past `prepare`, as another version or a broken client might."""
        self.log.append(Line(len(self.log) + 1, self.at, actor, kind, payload))
        self.state = fold(self.state, self.log[-1:])
        return self


def opened(**fields: Any) -> Played:
    """A room with both seats taken and consent given."""
    room = Played()
    values = {"pack": PACK, "content_hash": plan().content_hash, "level": "staff", **fields}
    room.does("interviewer", "opened", **values)
    for actor in ("interviewer", "candidate"):
        room.does(actor, "joined", holder=f"tab-{actor}", handle=actor.title())
        room.does(actor, "consented").does(actor, "ready")
    return room


def at_phase(phase: int, **fields: Any) -> Played:
    """The same, with the phases up to this one begun, each a minute after the one before."""
    room = opened(**fields)
    for number in range(phase + 1):
        room.does("interviewer", "phase_started", phase=number, after_s=60)
    return room


def scored(room: Played, rater: str = "interviewer", level: int = 3) -> Played:
    """All items scored with a line of evidence each, and the whole judged; not committed."""
    for item in ITEMS:
        room.does(rater, "evidence", text=f"{rater} heard this on {item}", sign="+", item=item, after_s=1)
        room.does(rater, "score_drafted", item=item, level=level)
    return room.does(rater, "overall", judgement="lean hire", reason=f"{rater} would hire")


def whole(level: int = 3) -> Played:
    """A session from the opening to both commits, with one of everything."""
    room = opened()
    room.does("rater", "joined", holder="tab-rater")
    go = room.does
    go("interviewer", "phase_started", phase=0, after_s=5)
    go("interviewer", "phase_started", phase=1, after_s=150)
    go("interviewer", "reply_released", card=CARD, reply=1, after_s=20)
    go("interviewer", "reply_asked", card=CARD, reply=0, asked=False)
    go("interviewer", "phase_started", phase=2, after_s=200)
    go("interviewer", "node_visited", card=CARD, node="start", heard="wrong")
    go("candidate", "stuck", after_s=60)
    go("interviewer", "hint_released", card=CARD, hint=1, item="arithmetic", after_s=10)
    go("candidate", "pad", text="8N over 6N", after_s=20)
    go("candidate", "claim", row="c1", claim="HFU ceiling", number="47", unit="%", confidence=80, after_s=5)
    go("interviewer", "claim_checked", row="c1", card=CARD, number="ratio")
    go("interviewer", "claim_unchecked", row="c1")
    go("interviewer", "claim_checked", row="c1", card=CARD, number="ceiling")
    go("interviewer", "mask_toggled", on=True)
    go("candidate", "hold", on=True)
    go("candidate", "sliders", values={"seq_len": 8192.0})
    go("candidate", "hold", on=False)
    go("interviewer", "mask_toggled", on=False)
    go("interviewer", "phase_started", phase=3, after_s=100)
    go("interviewer", "paused", after_s=10)
    go("interviewer", "resumed", after_s=600)
    go("interviewer", "stretched", seconds=120)
    go("interviewer", "phase_started", phase=4, after_s=700)
    go("interviewer", "twist_applied", twist="long-context", card=CARD, after_s=30)
    go("interviewer", "twist_applied", twist="slow-rail", after_s=200)
    go("interviewer", "phase_started", phase=5, after_s=300)
    go("candidate", "answer_locked", drill=DRILL, text="2350 tok/s", confidence=70, after_s=90)
    go("interviewer", "note", text="private: nervous at first", after_s=1)
    go("interviewer", "phase_started", phase=7, after_s=60)
    scored(room, "interviewer", level)
    go("interviewer", "summary", strengths=["Asked first"], changes=["Price each fix"])
    go("interviewer", "committed", after_s=5)
    scored(room, "rater", max(1, level - 1)).does("rater", "committed")
    go("candidate", "self_rated", overall="lean no", competencies={"quantitative": 2}, words="I forgot the price.")
    go("candidate", "feedback", clear=5, fair=4, useful=5, words="Thanks")
    return room.does("interviewer", "finished", after_s=20)
