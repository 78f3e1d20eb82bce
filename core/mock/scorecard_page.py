"""A scorecard as one printable page: HTML that needs nothing else, laid out for A4 and for a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from core.cards.text import with_unit
from core.mock.scorecard import DISCLAIMER, ItemPart, Scorecard
from core.mock.scorecard_text import (
    after_hints,
    beside,
    clock,
    dimension,
    error,
    header,
    level,
    other_rows,
    percent,
    said,
    self_rows,
    timeline,
    title_of,
)

_STYLE = """
@page { size: A4; margin: 14mm 15mm; }
body { font: 9.5pt/1.4 system-ui, sans-serif; color: #1a1d21; margin: 0 auto; max-width: 180mm; }
h1 { font-size: 15pt; margin: 0 0 2mm; }
h2 { font-size: 10.5pt; margin: 4mm 0 1mm; break-after: avoid; }
p, ul, dl { margin: 0 0 1mm; }
ul { padding-left: 5mm; }
li { break-inside: avoid; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(60mm, 1fr)); gap: 0 8mm; break-inside: avoid; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 4mm; }
dt { color: #59616b; }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.8mm 2mm 0.8mm 0; border-bottom: 0.2mm solid #c9ced4; }
th { color: #59616b; font-weight: 600; }
td { overflow-wrap: anywhere; }
tr { break-inside: avoid; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 8.5pt/1.35 ui-monospace, monospace; margin: 0; }
.note { color: #59616b; border-left: 0.8mm solid #c9ced4; padding-left: 3mm; margin: 2mm 0; }
.judged { font-weight: 600; }
.small { color: #59616b; font-size: 8pt; line-height: 1.25; }
"""


def to_html(card: Scorecard) -> str:
    """The whole card as a document of its own; everything that people wrote is escaped."""
    title = f"Scorecard: {card.title}"
    body = [
        f"<h1>{escape(title)}</h1>",
        "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in header(card)) + "</dl>",
        f'<p class="note">{escape(DISCLAIMER)}</p>',
        *_items(card),
        *_overall(card),
        *_numbers(card),
        *_pair(_self(card), _list("Next drills", (drill.title for drill in card.next_drills))),
        *_pair(_list("Strengths", card.strengths), _list("Changes", card.changes)),
        *_list("Timeline", (f"{clock(t)} {what}" for t, what in timeline(card))),
        *_board(card),
        *_private(card),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f'<body dir="auto">\n<main>\n{chr(10).join(body)}\n</main>\n</body></html>\n'
    )


def _items(card: Scorecard) -> list[str]:
    rows = []
    for item in card.items:
        lines = (f"{line.sign} {clock(line.t)} {line.phase}: {line.text}" for line in item.evidence)
        evidence = "<br>".join(escape(line) for line in lines)
        rows.append((_named(item), _level(item), evidence))
    return ["<h2>Items</h2>", _table(("item", "level", "evidence"), rows)]


def _named(item: ItemPart) -> str:
    """What was observed, and small the competency with the key that notes link to."""
    return f'{escape(item.title or item.id)} <span class="small">{escape(dimension(item))}, #{escape(item.id)}</span>'


def _level(item: ItemPart) -> str:
    """The level, and small what it says and what hints left of it."""
    hints = f"after hints {after_hints(item)}" if after_hints(item) else ""
    small = " · ".join(part for part in (item.reached, hints) if part)
    return escape(level(item)) + (f' <span class="small">{escape(small)}</span>' if small else "")


def _overall(card: Scorecard) -> list[str]:
    if card.overall is None:
        return []
    judged = f'<span class="judged">{escape(card.overall.judgement)}</span>: {escape(card.overall.reason)}'
    return ["<h2>Overall</h2>", f"<p>{judged}</p>", f"<p>{escape(beside(card))}</p>"]


def _numbers(card: Scorecard) -> list[str]:
    if not card.numbers:
        return []
    rows = [
        tuple(
            escape(text)
            for text in (row.ask, said(row), with_unit(row.truth, 4, row.unit), error(row), percent(row.conf))
        )
        for row in card.numbers
    ]
    return ["<h2>Numbers</h2>", _table(("asked", "said", "truth", "error", "confidence"), rows)]


def _self(card: Scorecard) -> list[str]:
    if card.self_ is None:
        return []
    judged = card.overall.judgement if card.overall else ""
    rows = [("overall", judged, card.self_.overall), *self_rows(card)]
    table = _table(("", "score", "self"), [tuple(map(escape, row)) for row in rows])
    words = [f"<p>{escape(card.self_.words)}</p>"] if card.self_.words else []
    return ["<h2>Self-rating against score</h2>", table, *words]


def _board(card: Scorecard) -> list[str]:
    if not (card.claims or card.pad):
        return []
    parts = ["<h2>Board</h2>"]
    if card.claims:
        rows = [
            (escape(row.claim), escape(f"{row.number} {row.unit}".strip()), percent(row.conf)) for row in card.claims
        ]
        parts.append(_table(("claim", "number", "confidence"), rows))
    return [*parts, f'<pre dir="auto">{escape(card.pad)}</pre>'] if card.pad else parts


def _private(card: Scorecard) -> list[str]:
    parts: list[str] = []
    for other in card.others:
        table = _table(("item", "level"), [tuple(map(escape, row)) for row in other_rows(card, other)])
        judged = f'<p><span class="judged">{escape(other.judgement)}</span></p>'
        parts += [f"<h2>{title_of(other)}</h2>", judged, table]
    parts += _list("Private notes", (f"{clock(note.t)} {note.text}" for note in card.notes))
    if (given := card.feedback) is not None:
        line = f"clear {given.clear}, fair {given.fair}, useful {given.useful} of 5. {given.words}"
        parts += ["<h2>Feedback of the candidate</h2>", f"<p>{escape(line)}</p>"]
    return parts


def _list(title: str, lines: Iterable[str]) -> list[str]:
    items = "".join(f'<li dir="auto">{escape(line)}</li>' for line in lines)
    return [f"<h2>{escape(title)}</h2>", f"<ul>{items}</ul>"] if items else []


def _pair(*parts: list[str]) -> list[str]:
    """Short parts beside each other, so that the scores stay on the first sheet."""
    cells = "".join(f"<div>{''.join(part)}</div>" for part in parts if part)
    return [f'<div class="pair">{cells}</div>'] if cells else []


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML already."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
