"""The drawing of which GPUs share a node: nodes as boxes, the groups of GPU 0 in the colours of their axes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from core.charts.svg import Diagram, box, label, svg
from core.rank_places import LETTERS, Group, Node, RankPicture

_CELL, _PAD, _HEAD, _GAP, _LINE = 30.0, 8.0, 26.0, 14.0, 22.0
_WIDE, _NARROW = 740.0, 330.0


@lru_cache(maxsize=64)
def rank_places(picture: RankPicture) -> Diagram:
    """Nodes in rows as wide as the page or the phone, then what each colour and letter means."""
    return Diagram(_drawn(picture, _WIDE), _drawn(picture, _NARROW), _alt(picture))


def _drawn(picture: RankPicture, width: float) -> str:
    most = max(len(node.gpus) for node in picture.nodes)
    columns = min(most, 4 if most <= 8 else int((width - 2 * _PAD) // _CELL), 12)
    wide = columns * _CELL + 2 * _PAD
    tall = _HEAD + math.ceil(most / columns) * _CELL + _PAD + (18 if any(n.left_out for n in picture.nodes) else 0)
    a_row = max(int((width + _GAP) // (wide + _GAP)), 1)
    parts: list[str] = []
    for k, node in enumerate(picture.nodes):
        x, y = k % a_row * (wide + _GAP), k // a_row * (tall + _GAP)
        parts += _node(node, x, y, wide, tall, columns)
    top = math.ceil(len(picture.nodes) / a_row) * (tall + _GAP) + 4
    lines = list(_legend(picture, top, width))
    return svg(width, top + lines_height(picture, width), [*parts, *lines])


def _node(node: Node, x: float, y: float, wide: float, tall: float, columns: int) -> Iterator[str]:
    yield box(x, y, wide, tall, "dia-node", radius=8)
    yield label(x + _PAD, y + 18, f"node {node.number:,}", "dia-quiet")
    for k, axes in enumerate(node.gpus):
        left, top = x + _PAD + k % columns * _CELL, y + _HEAD + k // columns * _CELL
        first = node.first_rank + k == 0
        kind = "dia-zero" if first else f"dia-{axes[0]}" if axes else "dia-none"
        yield box(left + 2, top + 2, _CELL - 4, _CELL - 4, kind)
        words = "0" if first else "".join(LETTERS[axis] for axis in axes)
        if words:
            yield label(left + _CELL / 2, top + _CELL / 2 + 5, words, "dia-small dia-strong", anchor="middle")
    if node.left_out:
        yield label(x + _PAD, y + tall - 8, f"and {node.left_out:,} more", "dia-quiet")


def _legend(picture: RankPicture, top: float, width: float) -> Iterator[str]:
    y = top + 4
    for group in picture.groups:
        yield box(0, y, 20, 16, f"dia-{group.axis}")
        yield label(10, y + 12.5, LETTERS[group.axis], "dia-small dia-strong", anchor="middle")
        for line in _in_lines(f"{group.axis}: {span_in_words(group)}", width):
            yield label(30, y + 13, line)
            y += _LINE
    if not picture.groups:
        yield label(0, y + 13, "One GPU: it talks to nobody.")


def lines_height(picture: RankPicture, width: float) -> float:
    """Room that the legend takes."""
    lines = sum(len(_in_lines(f"{group.axis}: {span_in_words(group)}", width)) for group in picture.groups)
    return max(lines, 1) * _LINE + 8


def _in_lines(words: str, width: float) -> list[str]:
    """Split at a comma where one line would not hold the words, at about 7 pixels a letter."""
    if len(words) * 7.2 + 30 <= width:
        return [words]
    head, _, tail = words.partition(", ")
    return [f"{head},", tail] if tail else [words]


def span_in_words(group: Group) -> str:
    """How many GPUs a group has and where they lie."""
    each = f"{group.ranks:,} GPUs"
    if group.inside and group.worst_nodes > 1:
        return f"{each}, inside one node, other groups over {group.worst_nodes:,}"
    if group.inside:
        return f"{each}, inside one node"
    members = f"{group.fewest:,}" if group.fewest == group.most else f"{group.fewest:,} to {group.most:,}"
    return f"{each}, over {group.nodes:,} nodes, {members} in each"


def _alt(picture: RankPicture) -> str:
    many = f"{picture.num_gpus:,} GPU{'s' if picture.num_gpus > 1 else ''} on {picture.num_nodes:,} node"
    said = "; ".join(f"{group.axis} group of {span_in_words(group)}" for group in picture.groups)
    drawn = f" {len(picture.nodes)} nodes are drawn." if len(picture.nodes) < picture.num_nodes else ""
    return f"{many}{'s' if picture.num_nodes > 1 else ''}. GPU 0 belongs to: {said or 'no group'}.{drawn}"
