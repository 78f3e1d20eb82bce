"""Text that comes from people or files, made safe to stand inside Markdown; numbers of things."""

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:&])")
_SPECIAL_WITHIN_A_LINE = re.compile(r"([\\`*_{}\[\]<>|~$:&])")
# What Streamlit puts in place of plain text, escaped or not: arrows and dashes, icons, links.
_REPLACED = re.compile(
    r"(?<=-)(?=[->])|(?<=<)(?=[-=])|(?<=[>~])(?==)|(?<=:)(?=material/)|(?<=www)(?=\.)|(?<=http)(?=s?:)|(?=@)", re.I
)
_WORD_JOINER = "\u2060"  # without width, and no line break
# Control signs, and those that turn the direction of the text around them.
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text with every Markdown sign escaped, so that it shows as it was typed, on one line."""
    return _SPECIAL.sub(r"\\\1", _one_line(text))


def inline(text: str) -> str:
    """The same for text that stands within a line, where ``17.6 GB`` needs no escape."""
    return _SPECIAL_WITHIN_A_LINE.sub(r"\\\1", _one_line(text))


def money_safe(text: str) -> str:
    """Our own Markdown with dollar signs escaped: Streamlit would read a pair of them as mathematics."""
    return text.replace("$", r"\$")


def counted(number: int, thing: str, things: str = "") -> str:
    """A number of things in words: ``1 card``, ``1,200 cards``; ``things`` where the plural is not an added s."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def _one_line(text: str) -> str:
    return " ".join(_REPLACED.sub(_WORD_JOINER, _UNSEEN.sub("", text)).split())
