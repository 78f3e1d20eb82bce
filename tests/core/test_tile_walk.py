"""The walk of a tile: its frames tell the online softmax of one row, and end where the whole row ends."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.tile_walk import EXAMPLE, MOST_KEYS, MOST_SCORE, TILES, read_scores, short, walk

SCORES = st.lists(st.floats(-MOST_SCORE, MOST_SCORE), min_size=1, max_size=MOST_KEYS)


@given(SCORES, st.sampled_from(TILES))
@settings(max_examples=150, deadline=None)
def test_every_walk_ends_within_rounding_of_the_whole_row(scores, tile):
    done = walk(scores, tile)
    assert done.difference < 1e-12 * max(1.0, abs(done.reference))
    assert len(done.rows) == len(done.tiles) == -(-len(scores) // tile)
    assert len(done.frames) == 2 * len(done.tiles) + 2
    assert all(frame.title and frame.words and "nan" not in frame.words for frame in done.frames)


@pytest.mark.parametrize("tile", TILES)
def test_the_example_ends_within_1e_12(tile):
    assert walk(read_scores(EXAMPLE), tile).difference < 1e-12


# Scores 1, 3, 2, 5: as the test of core.online_softmax has them by hand.
def test_the_frames_of_two_tiles():
    done = walk([1.0, 3.0, 2.0, 5.0], 2)
    start, first, used, second, last_used, end = done.frames
    assert (start.tile, start.rows, start.chip) == (None, 0, ("-∞", "0", "0"))
    assert (first.tile, first.used, first.chip) == (0, False, start.chip)
    assert "over the tile before" not in first.words
    assert "over the tile before" in second.words
    assert used.words == "The running maximum is 3. Sum: exp(1 - 3) + exp(3 - 3) = 1.135."
    assert "rises from 3 to 5" in last_used.words
    assert "exp(3 - 5) = 0.1353" in last_used.words
    assert (end.tile, end.rows) == (None, 2)
    assert done.rows[1].output == "36.88"
    assert end.words.startswith("44.38 / 1.203 = 36.88 goes to HBM. The softmax over the whole row gives 36.88")


def test_a_lower_tile_rescales_nothing():
    done = walk([5.0, 1.0], 1)
    assert done.frames[4].words.startswith("No score here is above 5: nothing is rescaled.")
    assert [row.rescale for row in done.rows] == ["-", "1"]


def test_the_sums_in_words_can_be_followed():
    used = walk(read_scores(EXAMPLE), 2).frames[4].words
    factor, before, total = re.search(r"Sum: (\S+) × (\S+) \+ .* = (\S+)\.$", used).groups()
    assert float(factor) * float(before) + 2.718281828 ** (2 - 5) + 1 == pytest.approx(float(total), rel=1e-3)


@pytest.mark.parametrize(
    ("text", "scores"), [("1, 3", [1, 3]), ("1;2\n-3.5", [1, 2, -3.5]), (" 7 ,", [7]), ("1e1", [10])]
)
def test_scores_are_read_as_typed(text, scores):
    assert read_scores(text) == scores


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 given. Give 1 to 12 numbers"),
        (",".join("1" * 13), "13 given"),
        ("1, two", "'two' is no number from -100 to 100"),
        ("1e30", "'1e30' is no number"),
        ("nan", "'nan' is no number"),
        ("inf", "'inf' is no number"),
        ("x" * 500, f"'{'x' * 20}' is no number"),
    ],
)
def test_bad_scores_are_refused_in_words(text, message):
    with pytest.raises(ValueError, match="Scores: ") as refusal:
        read_scores(text)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (1.13534, "1.135"), (1e-14, "1.00·10⁻¹⁴"), (-2.5e7, "-2.50·10⁷")]
)
def test_numbers_are_short(value, text):
    assert short(value) == text
