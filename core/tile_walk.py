"""One query row through the tiles, frame by frame: what lies on the chip, the running numbers, and why they change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.online_softmax import Step, online_softmax, softmax_attention

MOST_KEYS, MOST_SCORE = 12, 100.0
EXAMPLE = "1, 3, 2, 5, 4, 0, 6, 2"
TILES = (1, 2, 3, 4)
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Row:
    """The running numbers after one tile, as text; ``stop`` is one past its last key."""

    tile: str
    scores: str
    maximum: str
    rescale: str
    total: str
    output: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One moment: a tile on its way, a tile used, or the end."""

    tile: int | None  # on the chip, counted from 0; None before the first and at the end
    used: bool  # its scores are in the running numbers
    rows: int  # rows of the table that are known
    chip: tuple[str, str, str]  # maximum, sum, accumulated output
    title: str
    words: str


@dataclass(frozen=True, slots=True)
class Walk:
    """All frames for one row of scores, with what ends up in memory."""

    keys: tuple[str, ...]  # scores as text
    tiles: tuple[tuple[int, int], ...]  # first key, one past the last
    rows: tuple[Row, ...]
    frames: tuple[Frame, ...]
    result: float
    reference: float

    @property
    def difference(self) -> float:
        """How far the end lies from the softmax over the whole row at once."""
        return abs(self.result - self.reference)


def read_scores(text: str) -> list[float]:
    """What a person typed, as numbers.

    Raises:
        ValueError: in words: too many, too large, or no numbers.
    """
    pieces = [piece for piece in text.replace(";", ",").replace("\n", ",").split(",") if piece.strip()]
    if not 1 <= len(pieces) <= MOST_KEYS:
        raise ValueError(f"Scores: {len(pieces)} given. Give 1 to {MOST_KEYS} numbers, with commas between them.")
    scores = []
    for piece in pieces:
        try:
            score = float(piece)
        except ValueError:
            score = np.nan
        if not abs(score) <= MOST_SCORE:
            shown = piece.strip()[:20]
            raise ValueError(f"Scores: {shown!r} is no number from -{MOST_SCORE:g} to {MOST_SCORE:g}. Try 1, 3, 2, 5.")
        scores.append(score)
    return scores


def walk(scores: list[float], tile: int) -> Walk:
    """The frames of one query row; key number k has the value 10 k, so that the output can be followed by eye."""
    values = [10.0 * (key + 1) for key in range(len(scores))]
    steps = list(online_softmax(scores, values, tile=tile))
    frames = [
        Frame(
            None,
            False,
            0,
            ("-∞", "0", "0"),
            "The queries lie on the chip",
            "Nothing is summed yet. Keys and values wait in HBM, in tiles; a whole row of scores will never exist.",
        )
    ]
    rows: list[Row] = []
    before: Step | None = None
    for index, step in enumerate(steps):
        frames.append(_arrives(index, step, before, rows))
        rows.append(_row(index, step, scores))
        frames.append(_used(index, step, before, scores, len(rows)))
        before = step
    result, reference = float(steps[-1].output[0, 0]), float(softmax_attention(scores, values)[0, 0])
    last = steps[-1]
    frames.append(
        Frame(
            None,
            True,
            len(rows),
            _chip(last),
            "The output is written once",
            f"{short(last.accumulated[0, 0])} / {short(last.running_sum[0])} = {short(result)} goes to HBM."
            f" The softmax over the whole row gives {short(reference)}, {short(abs(result - reference))} away.",
        )
    )
    return Walk(
        keys=tuple(f"{score:g}" for score in scores),
        tiles=tuple((step.start, step.stop) for step in steps),
        rows=tuple(rows),
        frames=tuple(frames),
        result=result,
        reference=reference,
    )


def short(value: float) -> str:
    """Four digits, enough to follow the arithmetic; very small and very large numbers in powers of ten."""
    number = float(value)
    if number == 0 or 1e-3 <= abs(number) < 1e5:
        return f"{number:.4g}"
    mantissa, exponent = f"{number:.2e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def _chip(step: Step) -> tuple[str, str, str]:
    return short(step.running_max[0]), short(step.running_sum[0]), short(step.accumulated[0, 0])


def _arrives(index: int, step: Step, before: Step | None, rows: list[Row]) -> Frame:
    held = ("-∞", "0", "0") if before is None else _chip(before)
    keys = f"key {step.start + 1}" if step.stop == step.start + 1 else f"keys {step.start + 1} to {step.stop}"
    value = "its value move" if step.stop == step.start + 1 else "their values move"
    over = ", over the tile before" if index else ""
    words = f"{keys.capitalize()} and {value} from HBM into SRAM{over}."
    return Frame(index, False, len(rows), held, f"Tile {index + 1} arrives", words)


def _used(index: int, step: Step, before: Step | None, scores: list[float], known: int) -> Frame:
    own = [f"exp({scores[key]:g} - {short(step.running_max[0])})" for key in range(step.start, step.stop)]
    if before is None:
        words = f"The running maximum is {short(step.running_max[0])}. Sum: {' + '.join(own)}"
    elif step.running_max[0] > before.running_max[0]:
        words = (
            f"The maximum rises from {short(before.running_max[0])} to {short(step.running_max[0])}, so sum and output"
            f" so far shrink by exp({short(before.running_max[0])} - {short(step.running_max[0])})"
            f" = {short(step.rescale[0])}. Sum: {short(step.rescale[0])} × {short(before.running_sum[0])}"
            f" + {' + '.join(own)}"
        )
    else:
        words = (
            f"No score here is above {short(before.running_max[0])}: nothing is rescaled."
            f" Sum: {short(before.running_sum[0])} + {' + '.join(own)}"
        )
    words += f" = {short(step.running_sum[0])}."
    return Frame(index, True, known, _chip(step), f"Tile {index + 1} is used up", words)


def _row(index: int, step: Step, scores: list[float]) -> Row:
    return Row(
        tile=str(index + 1),
        scores=", ".join(f"{score:g}" for score in scores[step.start : step.stop]),
        maximum=short(step.running_max[0]),
        rescale="-" if index == 0 else short(step.rescale[0]),
        total=short(step.running_sum[0]),
        output=short(step.output[0, 0]),
    )
