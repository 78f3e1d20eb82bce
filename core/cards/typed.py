"""Typed answers: "1.34 GB", "327,680 B", "2.5k tok/s", "$0.42" against the unit that was asked.

What can be read in one way only is read, and how it was read is said back. The rest is refused in words.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from core.cards.quantities import KNOWN, PER_TIME, PREFIXES, RATES, Unit, UnitError, spelt_like, unit, without_owner
from core.cards.text import with_unit

MAX_ANSWER_LENGTH = 60
_NUMBER = re.compile(
    r"(?P<sign>[-+]?) ?"
    r"(?P<digits>\d{1,3}(?P<mark>[, '_])\d{3}(?:(?P=mark)\d{3})*(?!\d)(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)"
    r"(?: ?(?:[eE]|[x×*·⋅] ?10 ?(?:\^|\*\*)) ?(?P<power>[-+]?\d{1,3})(?!\d))?"
)
_POWER_OF_TEN = re.compile(r"(?P<sign>[-+]?) ?10 ?(?:\^|\*\*) ?(?P<power>[-+]?\d{1,3})(?![\d.])")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
# Dashes that stand for a minus, and the apostrophe of Swiss thousands, as phones and papers write them.
_SIGNS = str.maketrans({"−": "-", "–": "-", "﹣": "-", "－": "-", "’": "'", "＋": "+", "％": "%"})
_CURRENCY = re.compile(r"(?P<sign>-?) ?(?:US\$|USD|\$) ?", re.I)
_MULTIPLIER = re.compile(r"(?P<word>thousand|million|billion|trillion|[kKMBT](?![A-Za-z/])) ?", re.I)
_WORDS = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_IN_OTHER_WORDS = (
    (re.compile(r"^(?:percent|per cent|pct)\b", re.I), "%"),
    (re.compile(r"^(?:percentage points?|pp|point)(?= |$)", re.I), "points"),
    (re.compile(r"^(?:times|fold|×|X)(?= |$)"), "x"),
    (re.compile(r"^(?:US\$|\$|dollars?|usd\b)", re.I), "USD"),
    (re.compile(r"(?: ?/ ?| per | a )(?:1 ?M|million)\b ?", re.I), "/M "),
    (re.compile(r"^of .*"), ""),
    (re.compile(r"\bbn\b"), "billion"),
    (re.compile(r"^GPU[ -]?h(?:rs?|ours?)?(?= |$)", re.I), "GPU hours"),
    (re.compile(r"\b([kMBT])tok(?:en)?s?\b"), r"\1 tokens"),
)
_BITS_OR_BYTES = {"b", "kb", "mb", "gb", "tb"}
_FACTORS = {"", "x", "%", "points"}
_MULTIPLES = {"xN": re.compile(r"(?:[x×] ?)?N|x"), "xP": re.compile(r"(?:[x×] ?)?P|x")}  # of the parameters
_PER_ALONE = re.compile(r"^(?:per|an?) (?=[a-z]+$)")


@dataclass(frozen=True, slots=True)
class Answer:
    """A typed number in the unit that was asked, and how it was read, for the page to say back."""

    value: float
    read_as: str


def read_answer(text: str, asked: str) -> Answer:
    """Read what a person typed as a number of the asked unit.

    A number alone is taken in the asked unit, and so is one with k, M, B or T. Commas, spaces and apostrophes may group
    thousands; "1,34" is refused, because it stands for 1.34 in half of the world and for a slip in the other half.

    Raises:
        UnitError: no number, a number that cannot be read with certainty, or a unit of another kind; in words.
    """
    want = unit(asked)
    example = f"for example {with_unit(12.5, 3, want.text)}"
    clean = " ".join(text.translate(_SIGNS).split())
    if not clean:
        raise UnitError(f"Nothing was typed. Write a number, {example}.")
    if len(clean) > MAX_ANSWER_LENGTH:
        raise UnitError(f"That has {len(clean):,} characters. Write one number, {example}.")
    number, rest = _number(re.sub(r"^[~≈=] ?", "", clean), clean, example)
    value = _in_asked_unit(number, rest, want)
    if not math.isfinite(value):
        raise UnitError(f"{clean!r} is too large to be a number here.")
    small = 0 < abs(value) < 1 and want.text.startswith("%") and "%" not in rest and "percent" not in rest
    hint = " (less than one percent; a share is written as a percentage here)" if small else ""
    return Answer(value, f"read as {with_unit(value, 6, want.text)}{hint}")


def _number(clean: str, typed: str, example: str) -> tuple[float, str]:
    """The number that a text begins with, and what follows it; a currency in front goes behind."""
    money = _CURRENCY.match(clean)
    plain = f"{money['sign']}{clean[money.end() :]}" if money else clean
    plain = re.sub(r"(?<=\d)([⁺⁻]?[⁰¹²³⁴-⁹]+)", lambda found: "^" + found[0].translate(_SUPERSCRIPTS), plain)
    if found := _POWER_OF_TEN.match(plain):
        number = float(f"{found['sign']}1e{found['power']}")
    elif found := _NUMBER.match(plain):
        digits = found["digits"].replace(found["mark"], "") if found["mark"] else found["digits"]
        if found["mark"] and digits.startswith("0"):
            raise _two_ways(typed)
        number = float(f"{found['sign']}{digits}e{found['power'] or 0}")
    else:
        raise UnitError(f"{typed!r} does not begin with a number. Write one, {example}.")
    rest = plain[found.end() :]
    if re.match(r",\d", rest):
        raise _two_ways(typed)
    if re.match(r" ?[-\d.,^*+·⋅]| ?/ ?\d| ?(?:to|or|and) ?\d", rest) and rest.strip() != ".":
        raise UnitError(f"{typed!r} is more than one number. Write one, {example}.")
    rest = rest.strip().removesuffix(".").rstrip()
    return number, _money_behind(rest) if money else rest


def _money_behind(rest: str) -> str:
    """$1.2k/h as 1.2 k USD/h."""
    found = _MULTIPLIER.match(rest)
    before, after = (found["word"], rest[found.end() :]) if found else ("", rest)
    return f"{before} USD{'' if after.startswith('/') else ' '}{after}".strip()


def _two_ways(typed: str) -> UnitError:
    return UnitError(
        f"{typed!r} can be read in two ways. Write decimals with a point, as in 1.34, or group thousands by three."
    )


def _in_asked_unit(number: float, rest: str, want: Unit) -> float:
    for pattern, word in _IN_OTHER_WORDS:
        rest = pattern.sub(word, rest).strip()
    if want.text in _MULTIPLES and _MULTIPLES[want.text].fullmatch(without_owner(rest)):
        return number
    if "/" in want.text:  # 8 per day, where the rest of the unit was asked
        rest = _PER_ALONE.sub(f"{want.text.partition('/')[0]}/", rest)
    if _is_asked(rest, want):
        return number
    rest, factor = _without_multiplier(rest, want)
    if not rest or (not _counts_in_prefixes(want) and _is_asked(rest, want)):
        return number * factor / (want.scale if _counts_in_prefixes(want) else 1.0)  # 70B is 70 B parameters
    return number * factor * (_typed_unit(rest, want).scale / want.scale)


def _is_asked(text: str, want: Unit) -> bool:
    """Whether nothing was typed, or the asked unit, whole or without what it belongs to."""
    asked = without_owner(want.text)
    return text in ("", want.text, asked) or _joined(text) == _joined(asked)


def _joined(text: str) -> str:
    """micro-batches, micro batches and microbatch are one."""
    joined = re.sub(r"[ -]", "", text)
    return joined.removesuffix("es") if joined.endswith("ches") else joined.removesuffix("s")


def _without_multiplier(text: str, want: Unit) -> tuple[str, float]:
    """What follows a k, M, B or T, or such a word, and the factor; a letter that may be part of a unit is refused."""
    found = _MULTIPLIER.match(text)
    kind = want.kind.split("/")[0]
    if not found or (found["word"] in ("B", "b") and kind == "bytes"):
        return text, 1.0
    word, rest = found["word"], text[found.end() :]
    if word in ("b", "m", "t"):
        raise UnitError(f"{text!r} can be read in several ways. Write {word.upper()}, or the number in full.")
    if len(word) == 1 and not rest and kind not in ("number", "money"):
        raise UnitError(f"{text!r} is not a unit. The answer is asked in {want.text}: write the whole unit.")
    return rest, PREFIXES.get(word) or _WORDS[word.lower()]


def _typed_unit(text: str, want: Unit) -> Unit:
    """A typed unit, of the kind that is asked."""
    text = RATES.get(text, PER_TIME.sub("/", text))
    head, stroke, below = (part.strip() for part in without_owner(text).partition("/"))
    if head.lower() in _BITS_OR_BYTES and head not in KNOWN:
        prefix = head[:-1].upper().replace("K", "k")
        raise UnitError(f"{text!r} may mean bits or bytes. Write {prefix}B for bytes or {prefix}bit for bits.")
    counted = want.kind.split("/")[0] == "number" and _thing(head) == _thing(want.text)
    if head not in KNOWN and not counted and want.text:
        head = _known_spelling(head, want)
        text = f"{head}{stroke}{below}"
    if want.kind == "FLOP/time" and not below and head.endswith("FLOPs"):
        text = f"{head}/s"  # TFLOPs for TFLOP/s
    given = unit(text)
    if given.kind == want.kind and "/" in want.text and "/" not in given.text:
        given = unit(f"{text}/{want.text.partition('/')[2]}")  # 0.42 USD where USD/M is asked
    if given.kind != want.kind or not _same_thing(head, want):
        raise UnitError(f"{text!r} is not a unit of what is asked, which is {_asked(want)}.")
    return given


def _asked(want: Unit) -> str:
    return f"in {want.text}" if want.text else "a plain number"


def _known_spelling(head: str, want: Unit) -> str:
    """A unit that was typed in another case: TOK, gib."""
    near = spelt_like(head)
    if len(near) == 1:
        return near[0]
    if near:
        raise UnitError(f"{head!r} can be read in several ways. Write {' or '.join(near)}.")
    raise UnitError(
        f"{head!r} is not a unit that is known here. The answer is asked in {want.text or 'a plain number'}."
    )


def _same_thing(head: str, want: Unit) -> bool:
    """Counted things compare by name: tokens do not answer for requests, and neither does a percentage."""
    if want.kind.split("/")[0] != "number" or not without_owner(want.text):
        return True
    return _thing(head) == _thing(want.text)


def _thing(text: str) -> str:
    """What is counted, in one spelling; nothing for a factor or a share."""
    head = without_owner(text).partition("/")[0].strip()
    if head in _FACTORS:
        return ""
    thing = head.rpartition(" ")[2].lower().removesuffix("s")
    return "token" if thing == "tok" else thing


def _counts_in_prefixes(want: Unit) -> bool:
    """Whether the asked unit counts in thousands or more: B parameters."""
    prefix, space, _ = want.text.partition(" ")
    return bool(space) and prefix in PREFIXES and want.kind == "number"
