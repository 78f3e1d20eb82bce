"""Units of cards and of typed answers: "1.34 GB", "327,680 B", "1e3 tok/s" against what was asked.

A unit is a scale and a kind; only units of one kind compare. Counted things (requests, GPUs, layers) are numbers with a
name: their kind is the plain number, so "32 requests" answers a question in requests, and so does "32".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from core.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB

_BYTES = {"B": 1, "kB": KB, "KB": KB, "MB": MB, "GB": GB, "TB": TB, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB}
_BITS = {"bit": 0.125, "bits": 0.125, "kb": 125.0, "Kb": 125.0, "Mb": 125e3, "Gb": 125e6, "Tb": 125e9}
_SECONDS = {
    **{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0},
    **{"min": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0},
    **{"day": 86400.0, "days": 86400.0, "year": 31536000.0, "years": 31536000.0},
}
_FLOP = {
    **{"FLOP": 1.0, "FLOPs": 1.0, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "TFLOPs": 1e12, "PFLOP": 1e15},
    **{"PFLOPs": 1e15, "EFLOP": 1e18},
}
_COUNT_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_PLAIN = {"": 1.0, "x": 1.0, "%": 0.01, "points": 0.01, "xN": 1.0, "xP": 1.0}
_TOKENS = {"tok": 1.0, "token": 1.0, "tokens": 1.0}
_MONEY = {"USD": 1.0, "$": 1.0, "MUSD": 1e6}
_POWER = {"W": 1.0, "kW": 1e3, "MW": 1e6}
_ENERGY = {"Wh": 3600.0, "kWh": 3.6e6, "MWh": 3.6e9, "J": 1.0}

# Rates are written together often enough to be words of their own.
_WHOLE_WORDS = {
    "TFLOPS": ("TFLOP/s",),
    "PFLOPS": ("PFLOP/s",),
    "GBps": ("GB/s",),
    "tps": ("tok/s",),
    "Gbps": ("Gb/s",),
}


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

    What follows " per " or " of " names what the number belongs to and scales nothing. A word that is no unit is a
    counted thing; a letter k, M, B or T before it multiplies.

    Raises:
        UnitError: part of it is no unit.
    """
    clean = " ".join(text.split())
    head = re.split(r" (?:per|of) ", clean)[0]
    for whole, (meaning,) in _WHOLE_WORDS.items():
        if head == whole:
            head = meaning
    numerator, *rest = head.split("/")
    scale, kind = _simple(numerator.strip(), text)
    for part in rest:
        below_scale, below_kind = _simple(part.strip(), text)
        scale /= below_scale
        kind = kind if below_kind == "number" else f"{kind}/{below_kind}"
    return Unit(clean, scale, kind)


def _simple(word: str, whole: str) -> tuple[float, str]:
    for table, kind in (
        (_PLAIN, "number"),
        (_BYTES, "bytes"),
        (_SECONDS, "time"),
        (_FLOP, "FLOP"),
        (_MONEY, "money"),
        (_POWER, "power"),
        (_ENERGY, "energy"),
        (_TOKENS, "number"),
    ):
        if word in table:
            return float(table[word]), kind
    if word in _BITS:
        return _BITS[word], "bytes"
    prefix, _, thing = word.rpartition(" ")
    if prefix in _COUNT_PREFIXES and re.fullmatch(r"[A-Za-z][A-Za-z-]*", thing):
        nested = _MONEY.get(thing)
        return _COUNT_PREFIXES[prefix] * (nested or 1.0), "money" if nested else "number"
    if word in {"M", "k", "B", "T"}:  # USD/M: per million of what the sentence names
        return _COUNT_PREFIXES[word], "number"
    if re.fullmatch(r"[A-Za-z][A-Za-z -]*", word):
        return 1.0, "number"
    raise UnitError(f"{whole!r} is not a unit")


_NUMBER = re.compile(
    r"(?P<sign>[-+−]?)\s*(?P<digits>\d{1,3}(?:[,  ']\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)"
    r"(?:\s*(?:[eE]|[x×*]\s*10\s*\^)\s*(?P<power>[-+−]?\d{1,3}))?"
)
_POWER_OF_TEN = re.compile(r"10\s*\^\s*(?P<power>[-+−]?\d{1,3})")
MAX_ANSWER_LENGTH = 60
_KNOWN = {**_PLAIN, **_BYTES, **_BITS, **_SECONDS, **_FLOP, **_MONEY, **_POWER, **_ENERGY, **_TOKENS}


@dataclass(frozen=True, slots=True)
class Answer:
    """A typed number in the unit that was asked, and how it was read, for the page to say back."""

    value: float
    read_as: str


def read_answer(text: str, asked: str) -> Answer:
    """Read what a person typed as a number of the asked unit.

    A number alone is taken in the asked unit. Commas and thin spaces may group thousands; "1,34" is refused with its
    two readings, because it stands for 1.34 in half of the world and for a slip in the other half.

    Raises:
        UnitError: no number, a number that cannot be read with certainty, or a unit of another kind; in words.
    """
    clean = " ".join(text.replace(" ", " ").split())
    want = unit(asked)
    example = f"for example 12.5 {want.text}".rstrip()
    if not clean:
        raise UnitError(f"Nothing was typed. Write a number, {example}.")
    if len(clean) > MAX_ANSWER_LENGTH:
        raise UnitError(f"That has {len(clean):,} characters. Write one number, {example}.")
    if found := _POWER_OF_TEN.match(clean):
        number, rest = 10.0 ** int(found["power"].replace("−", "-")), clean[found.end() :]
    elif found := _NUMBER.match(clean):
        digits = re.sub(r"[,  ']", "", found["digits"])
        power = (found["power"] or "0").replace("−", "-")
        number = float(f"{digits}e{power}")
        if found["sign"] in {"-", "−"}:
            number = -number
        rest = clean[found.end() :]
    else:
        raise UnitError(f"{clean!r} does not begin with a number. Write one, {example}.")
    if comma := re.match(r",(\d+)", rest):
        other = f"{clean[: found.end()]}.{comma[1]}"
        raise UnitError(f"{clean!r} can be read in two ways. Write {other} with a point, or group thousands by three.")
    rest = rest.strip()
    if rest and re.match(r"[\d.,^*+/-]", rest) and not rest.startswith("/"):
        raise UnitError(f"{clean!r} is more than one number. Write one, {example}.")
    if number in {float("inf"), float("-inf")}:
        raise UnitError(f"{clean!r} is too large to be a number here.")
    if not rest:
        return Answer(number, f"read as {number:,.6g} {want.text}".rstrip())
    given = _typed_unit(rest, want)
    if given.kind != want.kind:
        raise UnitError(f"{rest!r} is not a unit of what is asked, which is in {want.text or 'a plain number'}.")
    value = number * given.scale / want.scale
    return Answer(value, f"read as {value:,.6g} {want.text}".rstrip())


def _typed_unit(text: str, want: Unit) -> Unit:
    if text == want.text:
        return want
    first = text.split("/")[0].strip()
    counted = first == want.text.split("/")[0] or first.rstrip("s") == want.text.rstrip("s")
    if first in _KNOWN or text in _WHOLE_WORDS or counted:
        return want if counted and "/" not in text else unit(text)
    for known in _KNOWN:  # gb, GBPS, Tok: right letters, other case
        if known.lower() == first.lower() and first not in {"mb", "kb", "gb", "tb"}:
            return unit(known + text[len(first) :])
    if first in {"gb", "mb", "kb", "tb"}:
        raise UnitError(
            f"{text!r} may mean bits or bytes. Write {first.upper()} for bytes or {first[0].upper()}b for bits."
        )
    raise UnitError(
        f"{text!r} is not a unit that is known here. The answer is asked in {want.text or 'a plain number'}."
    )
