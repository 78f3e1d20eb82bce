"""Units of cards: bytes, bits, times, FLOP, rates, money, and counted things.

A unit is a scale and a kind; only units of one kind compare. Counted things (requests, GPUs, layers) are numbers with a
name: their kind is the plain number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from core.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB

_BYTES: dict[str, float] = {
    **{"B": 1, "byte": 1, "bytes": 1, "kB": KB, "KB": KB, "MB": MB, "GB": GB, "TB": TB, "PB": 1000 * TB},
    **{"KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB},
    **{"kilobytes": KB, "megabytes": MB, "gigabytes": GB, "terabytes": TB, "gibibytes": GIB, "mebibytes": MIB},
}
_BITS = {"bit": 0.125, "bits": 0.125, "Kb": 125.0, "Mb": 125e3, "Gb": 125e6, "Tb": 125e9}
_BITS |= {"kbit": 125.0, "Mbit": 125e3, "Gbit": 125e6, "Tbit": 125e9}
_SECONDS = {
    **{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0},
    **{"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "millisecond": 1e-3, "microsecond": 1e-6},
    **{"min": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0},
    **{"day": 86400.0, "days": 86400.0, "week": 604800.0, "weeks": 604800.0, "year": 31536000.0, "years": 31536000.0},
}
_FLOP = {
    **{"FLOP": 1.0, "FLOPs": 1.0, "MFLOP": 1e6, "MFLOPs": 1e6, "GFLOP": 1e9, "GFLOPs": 1e9, "TFLOP": 1e12},
    **{"TFLOPs": 1e12, "PFLOP": 1e15, "PFLOPs": 1e15, "EFLOP": 1e18, "EFLOPs": 1e18},
}
_PLAIN = {"": 1.0, "x": 1.0, "%": 0.01, "points": 0.01, "xN": 1.0, "xP": 1.0}
_TOKENS = {"tok": 1.0, "token": 1.0, "tokens": 1.0}
_MONEY = {"USD": 1.0, "$": 1.0, "MUSD": 1e6}
_POWER = {"W": 1.0, "kW": 1e3, "MW": 1e6}
_ENERGY = {"Wh": 3600.0, "kWh": 3.6e6, "MWh": 3.6e9, "J": 1.0, "kJ": 1e3, "MJ": 1e6}
_TABLES: tuple[tuple[dict[str, float], str], ...] = (
    *((_PLAIN, "number"), (_BYTES, "bytes"), (_BITS, "bytes"), (_SECONDS, "time"), (_FLOP, "FLOP")),
    *((_MONEY, "money"), (_POWER, "power"), (_ENERGY, "energy"), (_TOKENS, "number")),
)
KNOWN = {word: (float(scale), kind) for table, kind in _TABLES for word, scale in table.items()}
PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}  # before a counted thing: 70 B parameters

# Rates are written together often enough to be words of their own.
RATES = {"TFLOPS": "TFLOP/s", "PFLOPS": "PFLOP/s", "GBps": "GB/s", "TBps": "TB/s", "Gbps": "Gb/s", "tps": "tok/s"}
MAX_LENGTH = 40
_OF = re.compile(r" (?:per|of|an?) ")
PER_TIME = re.compile(r" (?:per|an?) (?=(?:ns|us|ms|s|sec|second|min|minute|h|hour|day|week|year)\b)")


class UnitError(ValueError):
    """A unit that is not known, or one of another kind than asked."""


@dataclass(frozen=True, slots=True)
class Unit:
    """``scale`` base units of ``kind`` make one of these."""

    text: str
    scale: float
    kind: str


@lru_cache(maxsize=1024)
def unit(text: str) -> Unit:
    """Read a unit: ``GB``, ``tok/s``, ``USD/h``, ``GB per request``, ``% of peak``, ``requests``, ``B parameters``.

    What follows " per ", " a " or " of " names what the number belongs to and scales nothing, but a time does: "tokens
    per second" is tok/s. A word that is no unit is a counted thing; a letter k, M, B or T before it multiplies.

    Raises:
        UnitError: part of it is no unit, or nearly one.
    """
    clean = " ".join(text.split())
    if len(clean) > MAX_LENGTH:
        raise UnitError(f"{clean[:MAX_LENGTH]!r}... is too long for a unit")
    plain = without_owner(clean)
    numerator, *below = (part.strip() for part in RATES.get(plain, plain).split("/"))
    scale, kind = _simple(numerator, clean)
    for part in below:
        if not part:
            raise UnitError(f"{clean!r} is not a unit: nothing stands below its stroke")
        below_scale, below_kind = _simple(part, clean)
        scale /= below_scale
        kind = kind if below_kind == "number" else f"{kind}/{below_kind}"
    return Unit(clean, scale, kind)


def without_owner(text: str) -> str:
    """A unit without what the number belongs to, a time as a stroke: GB of "GB per request", tok/s of "tok per s"."""
    return _OF.split(PER_TIME.sub("/", text))[0]


def _simple(word: str, whole: str) -> tuple[float, str]:
    """Scale and kind of what stands above or below a stroke."""
    if word in KNOWN:
        return KNOWN[word]
    if word in PREFIXES:  # USD/M: for a million of what the sentence names
        return PREFIXES[word], "number"
    prefix, _, thing = word.rpartition(" ")
    if prefix in PREFIXES and re.fullmatch(r"[A-Za-z][A-Za-z-]*", thing):
        scale, kind = KNOWN.get(thing, (1.0, "number"))
        if kind not in ("number", "money"):
            raise UnitError(f"{whole!r} is not a unit: a prefix stands with its unit, without a space")
        word, prefix_scale = thing, PREFIXES[prefix]
    else:
        scale, kind, prefix_scale = 1.0, "number", 1.0
    if not re.fullmatch(r"[A-Za-z][A-Za-z -]*", word):
        raise UnitError(f"{whole!r} is not a unit")
    if word not in KNOWN and (near := spelt_like(word)):
        raise UnitError(f"{whole!r} is not a unit; {' or '.join(near)} is")
    return prefix_scale * scale, kind


def spelt_like(word: str) -> list[str]:
    """Known units that differ from a word in case or a plural alone: gb is like GB and Gb."""
    plain = word.lower().removesuffix("s")
    if len(plain) < 2:
        return []
    known = [*KNOWN, *(name for name in RATES if name.endswith("ps"))]
    exact = [name for name in known if name.lower() == word.lower()]
    return exact or [name for name in known if name.lower().removesuffix("s") == plain]
