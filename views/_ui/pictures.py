"""The three still pictures: the five steps, where bytes live, and what one token does in a layer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.anatomy import LayerAnatomy, Level, Part
from core.display import digits, show_bytes, show_rate
from views._ui.diagram import Canvas
from views._ui.registry import STEPS

_ROW = 58  # pixels of one row with a bar under its words


def steps_picture(canvas: Canvas) -> float:
    """The steps one under the other, and the way back to the first."""
    x, width, height, gap = 40.0, canvas.width - 41.0, 50.0, 18.0
    for index, step in enumerate(STEPS):
        y = 1 + index * (height + gap)
        canvas.box(x, y, width, height)
        canvas.text(x + 12, y + 21, f"{step.number} {step.title}", strong=True)
        canvas.text(x + 12, y + 40, step.limit, small=True)
        if index:
            canvas.arrow((x + width / 2, y - gap), (x + width / 2, y))
    last = 1 + (len(STEPS) - 1) * (height + gap) + height / 2
    canvas.arrow((x, last), (14, last), (14, 26), (x, 26))
    canvas.text(x + width / 2 + 12, last + height / 2 + 22, "then measure again", small=True, anchor="middle")
    return last + height / 2 + 30


def steps_words() -> str:
    """The same in words."""
    order = "; ".join(f"{step.number} {step.title}: {step.limit}" for step in STEPS)
    return f"Five steps one after the other, and from the last back to the first, to measure again. {order}."


def levels_picture(canvas: Canvas, levels: Sequence[Level], unit: str) -> float:
    """A row for each place: to the left how much it holds, to the right how fast it is, both on a log scale."""
    middle = canvas.width / 2
    sizes = [level.num_bytes for level in levels if level.num_bytes]
    rates = [level.bytes_per_s for level in levels if level.bytes_per_s]
    canvas.text(middle - 8, 14, "holds", anchor="end", small=True)
    canvas.text(middle + 8, 14, "moves in a second", small=True)
    y = 26.0
    for level in levels:
        canvas.text(0, y + 14, level.name, strong=True)
        rate = show_rate(level.bytes_per_s, "B") if level.bytes_per_s else "no rate published"
        canvas.text(0 if canvas.narrow else canvas.width, y + (32 if canvas.narrow else 14), level.note, small=True,
                    anchor="start" if canvas.narrow else "end")  # fmt: skip
        top = y + (38 if canvas.narrow else 21)
        if level.num_bytes:
            length = _log_share(level.num_bytes, sizes) * (middle - 8)
            canvas.bar(middle - 8 - length, top, length, 8, "other")
            canvas.text(middle - 8, top + 23, show_bytes(level.num_bytes, unit), anchor="end")
        if level.bytes_per_s:
            canvas.bar(middle + 8, top, _log_share(level.bytes_per_s, rates) * (middle - 8), 8, "accent")
        canvas.text(middle + 8, top + 23, rate, small=not level.bytes_per_s)
        y = top + 36
    return y


def levels_words(levels: Sequence[Level], unit: str) -> str:
    """The same in words."""

    def words(level: Level) -> str:
        holds = f"holds {show_bytes(level.num_bytes, unit)}" if level.num_bytes else ""
        rate = f"moves {show_rate(level.bytes_per_s, 'B')}" if level.bytes_per_s else "no rate published"
        return f"{level.name} ({level.note}): {', '.join(part for part in (holds, rate) if part)}"

    return f"Where bytes live, from the inside out. {'; '.join(map(words, levels))}."


def layer_picture(canvas: Canvas, layer: LayerAnatomy, unit: str) -> float:
    """The operators in their order: bytes that are read and written, by what they are, and FLOPs."""
    left, most = 22.0, max(part.num_bytes for part in layer.parts)
    room = canvas.width - left
    y = 4.0
    for index, part in enumerate(layer.parts):
        canvas.text(left, y + 14, f"{part.name[0].upper()}{part.name[1:]}", strong=True)
        canvas.text(left, y + 32, _numbers(part, unit), small=True)
        x = left
        for num_bytes, role in ((part.weight_bytes, "weights"), (part.cache_bytes, "kv"),
                                (part.activation_bytes, "activations")):  # fmt: skip
            if length := room * num_bytes / most:
                length = max(length, 1.5)
                canvas.bar(x, y + 38, min(length, canvas.width - x), 9, role)
                x += length
        if index < len(layer.parts) - 2:  # the last part lies between the others
            canvas.arrow((8, y + 10), (8, y + _ROW + 6))
        y += _ROW
    for name, role in (("weights", "weights"), ("cache", "kv"), ("activations", "activations")):
        canvas.bar(left, y + 5, 12, 12, role)
        canvas.text(left + 18, y + 16, name, small=True)
        left += 100
    return y + 24


def layer_words(layer: LayerAnatomy, unit: str) -> str:
    """The same in words."""
    parts = "; ".join(f"{part.name}: {_numbers(part, unit)}" for part in layer.parts)
    return f"What one token does in a layer, {layer.context_len:,} tokens in the cache. {parts}."


def _numbers(part: Part, unit: str) -> str:
    kinds = {"weights": part.weight_bytes, "cache": part.cache_bytes, "activations": part.activation_bytes}
    moved = f"{show_bytes(part.num_bytes, unit)} ({max(kinds, key=lambda name: kinds[name])})"
    return f"{_flops(part.flops)}, {moved}, {digits(part.flops / part.num_bytes, 2)} FLOP/B"


def _flops(flops: float) -> str:
    scale, name = (1e9, "GFLOP") if flops >= 1e9 else (1e6, "MFLOP")
    return f"{digits(flops / scale)} {name}"


def _log_share(value: float, among: Sequence[float]) -> float:
    """From a tenth of the room for the least to all of it for the most."""
    least, most = math.log(min(among)), math.log(max(among))
    return 1.0 if most == least else 0.1 + 0.9 * (math.log(value) - least) / (most - least)
