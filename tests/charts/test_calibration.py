"""The reliability plot: marks at their shares, in an SVG of our own, and the same in words."""

from xml.etree import ElementTree

import pytest

from core.charts.calibration import TICKS, in_words, reliability_plot
from core.progress.calibration import Bin

SURE = Bin(confidence=90, answers=20, right=15, low=0.53, high=0.89)
UNSURE = Bin(confidence=50, answers=4, right=2, low=0.15, high=0.85)
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*bins):
    return ElementTree.fromstring(reliability_plot(bins).wide)


def square(root):
    """Of the axes: left, top, side."""
    (box,) = [one for one in root.iter(f"{SVG}rect") if "dia-none" in one.get("class")]
    assert box.get("width") == box.get("height")
    return tuple(float(box.get(name)) for name in ("x", "y", "width"))


def share_at(root, x, y):
    """A point of the drawing as shares of the axes, from the lower left."""
    left, top, side = square(root)
    return (float(x) - left) / side, 1 - (float(y) - top) / side


@pytest.mark.parametrize("one", [SURE, UNSURE, Bin(0, 5, 0, 0.0, 0.43), Bin(100, 5, 5, 0.57, 1.0)])
def test_a_mark_stands_at_what_was_said_and_what_was_right(one):
    root = drawn(one)
    (mark,) = root.iter(f"{SVG}circle")
    assert share_at(root, mark.get("cx"), mark.get("cy")) == pytest.approx((one.confidence / 100, one.share_right))


def test_the_interval_is_a_line_from_low_to_high():
    root = drawn(SURE)
    (line,) = [one for one in root.iter(f"{SVG}path") if "dia-mark" in one.get("class", "")]
    start, end = (point.split() for point in line.get("d").removeprefix("M").split("L"))
    assert share_at(root, *start) == pytest.approx((0.9, 0.53), abs=1e-4)
    assert share_at(root, *end) == pytest.approx((0.9, 0.89), abs=1e-4)


def test_the_dashed_diagonal_is_where_said_and_right_agree():
    root = drawn(SURE)
    (line,) = [one for one in root.iter(f"{SVG}path") if "dia-dashed" in one.get("class", "")]
    start, end = (point.split() for point in line.get("d").removeprefix("M").split("L"))
    assert (share_at(root, *start), share_at(root, *end)) == ((0, 0), (1, 1))


def test_thin_bins_are_quiet():
    kinds = [mark.get("class") for mark in drawn(UNSURE, SURE).iter(f"{SVG}circle")]
    assert kinds == ["dia-quiet-mark", "dia-mark"]


def test_both_axes_are_labelled():
    words = [text.text for text in drawn(SURE).iter(f"{SVG}text")]
    assert [words.count(f"{tick}%") for tick in TICKS] == [2] * len(TICKS)
    assert {"how sure you said you were", "share right"} <= set(words)


def test_one_drawing_serves_all_widths_and_has_words():
    plot = reliability_plot([UNSURE, SURE])
    assert plot.wide == plot.narrow
    assert plot.alt == in_words([UNSURE, SURE])
    assert plot.alt == (
        "Confidence against share right: said 50%, right 50% of 4, within 15% to 85%; "
        "said 90%, right 75% of 20, within 53% to 89%."
    )
