"""The diagram "who talks to whom": four GPUs under data, tensor, pipeline and expert parallelism."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from core.charts.svg import Diagram, arrow, box, label, svg

GPUS = 4
_WIDTH, _HEIGHT, _GAP = 342.0, 184.0, 40.0
_BOX, _TOP, _TALL = 68.0, 60.0, 44.0

# Title, what each GPU holds, and two lines: what is sent and when.
_PANELS = {
    "data": (
        "Data parallel",
        ("batch 1", "batch 2", "batch 3", "batch 4"),
        ("Gradients round a ring, once a step.", "Hides behind the backward pass."),
    ),
    "tensor": (
        "Tensor parallel",
        ("1/4 layer", "1/4 layer", "1/4 layer", "1/4 layer"),
        ("Hidden states, summed in every layer.", "The next product waits for them."),
    ),
    "pipeline": (
        "Pipeline parallel",
        ("stage 1", "stage 2", "stage 3", "stage 4"),
        ("Hidden states on, their gradients back.", "Little to send; stages wait instead."),
    ),
    "expert": (
        "Expert parallel",
        ("experts 1-2", "experts 3-4", "experts 5-6", "experts 7-8"),
        ("Each token to its experts, and back.", "All to all, in every layer of experts."),
    ),
}
_ALT = (
    "Who talks to whom, on four GPUs. Data parallel: each holds the whole model and another part of the batch, and "
    "gradients go round a ring once a step. Tensor parallel: each holds a quarter of every layer, and all four sum "
    "hidden states in every layer. Pipeline parallel: each holds some layers, hidden states go to the next stage and "
    "their gradients come back. Expert parallel: each holds other experts, and every GPU sends tokens to every other "
    "one and gets them back."
)


@lru_cache(maxsize=1)
def who_talks() -> Diagram:
    """Two panels beside each other, or one below the other."""
    wide = [part for k, axis in enumerate(_PANELS) for part in _panel(axis, k % 2 * (_WIDTH + _GAP), k // 2 * _HEIGHT)]
    narrow = [part for k, axis in enumerate(_PANELS) for part in _panel(axis, 0, k * _HEIGHT)]
    return Diagram(svg(2 * _WIDTH + _GAP, 2 * _HEIGHT, wide), svg(_WIDTH, 4 * _HEIGHT, narrow), _ALT)


def _panel(axis: str, left: float, top: float) -> Iterator[str]:
    title, holds, words = _PANELS[axis]
    pitch = (_WIDTH - _BOX) / (GPUS - 1)
    lefts = [left + k * pitch for k in range(GPUS)]
    middles = [x + _BOX / 2 for x in lefts]
    yield label(left, top + 18, title, "dia-strong")
    yield from {"data": _ring, "tensor": _sum, "pipeline": _chain, "expert": _all_to_all}[axis](
        lefts, middles, top + _TOP
    )
    for x, middle, held in zip(lefts, middles, holds, strict=True):
        yield box(x, top + _TOP, _BOX, _TALL, f"dia-{axis}")
        yield label(middle, top + _TOP + 27, held, "dia-small", anchor="middle")
    for line, text in enumerate(words):
        yield label(left, top + _TOP + _TALL + 38 + 19 * line, text, "dia-quiet")


def _ring(lefts: list[float], middles: list[float], y: float) -> Iterator[str]:
    for x, following in pairwise(lefts):
        yield arrow(f"M{x + _BOX + 2:g} {y + _TALL / 2:g}H{following - 2:g}")
    low = y + _TALL + 14
    yield arrow(f"M{middles[-1]:g} {y + _TALL + 2:g}V{low:g}H{middles[0]:g}V{y + _TALL + 3:g}")


def _sum(lefts: list[float], middles: list[float], y: float) -> Iterator[str]:
    bus = y - 26
    yield f'<path d="M{middles[0]:g} {bus:g}H{middles[-1]:g}" class="dia-line dia-bus"/>'
    for middle in middles:
        yield arrow(f"M{middle:g} {bus + 3:g}V{y - 2:g}", both=True)


def _chain(lefts: list[float], middles: list[float], y: float) -> Iterator[str]:
    for x, following in pairwise(lefts):
        yield arrow(f"M{x + _BOX + 2:g} {y + 14:g}H{following - 2:g}")
        yield arrow(f"M{following - 2:g} {y + 31:g}H{x + _BOX + 2:g}", "dia-back")


def _all_to_all(lefts: list[float], middles: list[float], y: float) -> Iterator[str]:
    for one in range(GPUS):
        for other in range(one + 1, GPUS):
            # Arcs fan out of each box, so that each pair can be followed.
            start, end = middles[one] + 26 - 7 * (other - one), middles[other] - 26 + 7 * (other - one)
            high = y - 2 - 24 * (other - one) ** 0.7
            yield arrow(f"M{start:g} {y - 2:g}Q{(start + end) / 2:g} {high:g} {end:g} {y - 2:g}", both=True)
