"""A scorecard as Markdown: readable as it stands in a repository, and the order in which the printed page has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from core.cards.text import significant, with_unit
from core.mock.scorecard import DISCLAIMER, ItemPart, NumberPart, OtherPart, Scorecard

_MARKUP = re.compile(r"[\\`*_\[\]<>|~$&]|^[-+#=]|^\d{1,9}(?=[.)](?: |$))")
# What readers of Markdown turn into links, names and pictures, escaped or not: addresses, e-mail, @name, :smile:.
_TURNED = re.compile(r"(?<=[a-z])(?=://)|(?<=www)(?=\.)|(?<=@)(?=\w)|(?<=:)(?=(?!\d{1,2}:)[\w+-]+:)", re.IGNORECASE)
_WORD_JOINER = "\u2060"  # without width, and no line break
# Control signs, and those that turn the direction of the text around them.
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def to_markdown(card: Scorecard) -> str:
    """The whole card; what people wrote is escaped, so that it stays text."""
    parts = [
        f"# Scorecard: {escaped(card.title)}",
        "\n".join(f"- {name}: {escaped(value)}" for name, value in header(card)),
        f"> {DISCLAIMER}",
        "## Items",
        _table(("item", "level", "after hints", "evidence"), [_item(item) for item in card.items]),
    ]
    if card.overall is not None:
        parts += ["## Overall", f"**{card.overall.judgement}**: {escaped(card.overall.reason)}", beside(card)]
    if card.numbers:
        columns = ("asked", "said", "truth", "error", "confidence")
        parts += ["## Numbers", _table(columns, [_number(row) for row in card.numbers])]
    if card.self_ is not None:
        parts += ["## Self-rating against score", _gaps(card)]
    for title, lines in (("Strengths", card.strengths), ("Changes", card.changes)):
        if lines:
            parts += [f"## {title}", "\n".join(f"- {escaped(line)}" for line in lines)]
    if card.next_drills:
        parts += ["## Next drills", "\n".join(f"- {escaped(row.title)}" for row in card.next_drills)]
    parts += ["## Timeline", "\n".join(f"- {clock(t)} {escaped(what)}" for t, what in timeline(card))]
    if card.claims or card.pad:
        parts.append("## Board")
        if card.claims:
            rows = [
                (escaped(row.claim), escaped(f"{row.number} {row.unit}".strip()), percent(row.conf))
                for row in card.claims
            ]
            parts.append(_table(("claim", "number", "confidence"), rows))
        if card.pad:
            parts.append(_quoted(card.pad))
    for other in card.others:
        levels = [(escaped(item), level) for item, level in other_rows(card, other)]
        parts += [f"## {title_of(other)}", f"**{other.judgement}**", _table(("item", "level"), levels)]
    if card.notes:
        parts += ["## Private notes", "\n".join(f"- {clock(note.t)} {escaped(note.text)}" for note in card.notes)]
    if card.feedback is not None:
        said = card.feedback
        line = f"clear {said.clear}, fair {said.fair}, useful {said.useful} of 5"
        parts += ["## Feedback of the candidate", f"{line}. {escaped(said.words)}".strip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def header(card: Scorecard) -> list[tuple[str, str]]:
    """Name and value of each line above the items."""
    day = datetime.fromtimestamp(card.opened_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    numbers = "the pack's own" if card.seed is None else f"seed {card.seed}"
    cost = sum(hint.cost for hint in card.hints)
    rows = [
        ("pack", f"{card.pack} ({card.level}{', solo' if card.solo else ''})"),
        ("cards", "; ".join(card.cards.values())),
        ("numbers", f"{numbers}, edition {card.content_hash}"),
        ("when", f"{day}, {clock(card.duration_s)} of {clock(card.planned_s)}"),
        ("hints", f"{len(card.hints)}, cost {significant(cost, 3)}" if card.hints else "none"),
        ("twists", f"{len(card.twists)}, see the timeline" if card.twists else "none"),
        ("copy", f"for the {card.audience}{'' if card.committed else ', scores not committed'}"),
    ]
    return [(role, name) for role, name in card.names.items()] + rows


def timeline(card: Scorecard) -> list[tuple[int, str]]:
    """Phases, hints and twists by their time."""
    rows = [(part.t, part.name) for part in card.timeline]
    rows += [(part.t, f"hint {part.hint}{f' ({part.item})' if part.item else ''}") for part in card.hints]
    rows += [(part.t, f"twist: {part.say}") for part in card.twists]
    return sorted(rows, key=lambda row: row[0])


def clock(seconds: int) -> str:
    """75 as 1:15."""
    return f"{seconds // 60}:{seconds % 60:02d}"


def percent(share: float | None) -> str:
    """0.8 as 80%; nothing for None."""
    return "" if share is None else f"{share:.0%}"


def level(item: ItemPart) -> str:
    """The level as a word or digit."""
    return _in_words(item.level)


def _in_words(level: int | None) -> str:
    return "not observed" if level is None else str(level)


def dimension(item: ItemPart) -> str:
    """The competency in words."""
    return item.dimension or item.competency


def after_hints(item: ItemPart) -> str:
    """What is left after hints, with what they cost."""
    if item.after_hints is None or not item.hint_cost:
        return ""
    return f"{significant(item.after_hints, 3)} (hints {significant(item.hint_cost, 3)})"


def said(row: NumberPart) -> str:
    """What was said, as a number in the unit of the truth, or as it was typed."""
    return row.typed if row.said is None else with_unit(row.said, 6, row.unit)


def error(row: NumberPart) -> str:
    """How far off: a signed share of the truth, and whether that is within the tolerance."""
    if row.said is None:
        return "no number"
    if row.truth == 0:
        return "right" if row.right else "wrong"
    return f"{(row.said - row.truth) / row.truth:+.1%}, {'right' if row.right else 'wrong'}"


def title_of(other: OtherPart) -> str:
    """The heading above another rater's scores."""
    return "Second rater" if other.role == "rater" else "Interviewer"


def other_rows(card: Scorecard, other: OtherPart) -> list[tuple[str, str]]:
    """What was observed, in words, and the level that another rater gave."""
    titles = {item.id: item.title or item.id for item in card.items}
    return [(titles.get(item, item), _in_words(level)) for item, level in other.levels.items()]


def self_rows(card: Scorecard) -> list[tuple[str, str, str]]:
    """Competency in words, score and own level, for those that were rated by either."""
    own = card.self_.competencies if card.self_ else {}
    rows: list[tuple[str, str, str]] = []
    for competency in dict.fromkeys(item.competency for item in card.items):
        pairs = [(item.weight, item.after_hints) for item in card.items if item.competency == competency]
        seen = [(weight, value) for weight, value in pairs if value is not None]
        total = sum(weight for weight, _ in seen)
        score = significant(sum(weight * value for weight, value in seen) / total, 3) if seen else "not observed"
        words = next(dimension(item) for item in card.items if item.competency == competency)
        rows.append((words, score, str(own.get(competency, ""))))
    return rows


def beside(card: Scorecard) -> str:
    """The sentence that sets the judgement beside what the items alone would say."""
    if card.overall is None or card.overall.weighted is None or card.overall.nearest is None:
        return ""
    mean = significant(card.overall.weighted, 3)
    return f"Items after hints: {mean} on average, which alone would read {card.overall.nearest} at {card.level} level."


def escaped(text: str) -> str:
    """A person's text on one line of Markdown, with every mark of Markdown and HTML made plain.

    A backslash does not keep an address from becoming a link, so a sign without width stands in it.
    """
    plain = " ".join(_TURNED.sub(_WORD_JOINER, _UNSEEN.sub("", text)).split())
    return _MARKUP.sub(lambda mark: f"{mark[0]}\\" if mark[0].isdigit() else f"\\{mark[0]}", plain)


def _item(item: ItemPart) -> tuple[str, ...]:
    lines = (f"{line.sign} {clock(line.t)} {escaped(line.phase)}: {escaped(line.text)}" for line in item.evidence)
    named = f"{escaped(item.title)} ({dimension(item)}, #{item.id})" if item.title else f"{item.id} ({dimension(item)})"
    got = f"{level(item)}: {escaped(item.reached)}" if item.reached else level(item)
    return named, got, after_hints(item), "<br>".join(lines)


def _number(row: NumberPart) -> tuple[str, ...]:
    truth = with_unit(row.truth, 4, row.unit)
    return escaped(row.ask), escaped(said(row)), escaped(truth), error(row), percent(row.conf)


def _gaps(card: Scorecard) -> str:
    assert card.self_ is not None
    judged = card.overall.judgement if card.overall else "none"
    table = _table(("", "score", "self"), [("overall", judged, card.self_.overall), *self_rows(card)])
    return table + (f"\n\n{escaped(card.self_.words)}" if card.self_.words else "")


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _quoted(text: str) -> str:
    """A pad as a code block, whose fence is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"
