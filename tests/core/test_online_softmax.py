"""The online softmax ends where whole rows do, whatever the tiles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.online_softmax import MOST_CELLS, online_softmax, softmax_attention

SIZES = st.integers(1, 12)


@st.composite
def problems(draw):
    rows, keys, width = draw(SIZES), draw(SIZES), draw(st.integers(1, 4))
    scores = draw(arrays(np.float64, (rows, keys), elements=st.floats(-500, 500)))
    values = draw(arrays(np.float64, (keys, width), elements=st.floats(-10, 10)))
    return scores, values, draw(st.integers(1, 15))


@given(problems())
@settings(max_examples=150, deadline=None)
def test_ends_at_the_softmax_of_whole_rows(problem):
    scores, values, tile = problem
    *_, last = online_softmax(scores, values, tile=tile)
    assert np.max(np.abs(last.output - softmax_attention(scores, values))) < 1e-12


@given(problems())
@settings(max_examples=50, deadline=None)
def test_each_step_is_the_softmax_of_what_it_has_seen(problem):
    scores, values, tile = problem
    for step in online_softmax(scores, values, tile=tile):
        assert step.running_max == pytest.approx(scores[:, : step.stop].max(axis=1))
        seen = softmax_attention(scores[:, : step.stop], values[: step.stop])
        assert step.output == pytest.approx(seen, abs=1e-12)


# By hand: scores 1, 3, 2, 5 in tiles of two.
def test_a_row_by_hand():
    first, second = online_softmax([1.0, 3.0, 2.0, 5.0], [10.0, 20.0, 30.0, 40.0], tile=2)
    assert (first.tile_max, first.running_max, first.rescale) == (3, 3, 0)
    assert first.running_sum == pytest.approx(np.exp(-2) + 1)
    assert first.accumulated == pytest.approx(10 * np.exp(-2) + 20)
    assert (second.tile_max, second.running_max) == (5, 5)
    assert second.rescale == pytest.approx(np.exp(-2))
    assert second.running_sum == pytest.approx(np.exp(-4) + np.exp(-2) + np.exp(-3) + 1)
    assert second.output == pytest.approx(36.88, abs=0.005)


def test_a_lower_maximum_rescales_nothing():
    steps = list(online_softmax([5.0, 1.0, 2.0], [1.0, 2.0, 3.0], tile=1))
    assert [float(step.rescale[0]) for step in steps] == [0, 1, 1]
    assert [float(step.running_max[0]) for step in steps] == [5, 5, 5]


def test_large_scores_do_not_overflow():
    *_, last = online_softmax([1e4, -1e4, 1e4], [1.0, 2.0, 3.0], tile=1)
    assert last.output == pytest.approx(2.0)


def test_a_causal_mask_hides_keys_and_a_row_that_saw_none_is_zero():
    scores = np.where(np.tri(4) > 0, np.arange(16.0).reshape(4, 4), -np.inf)
    steps = list(online_softmax(scores[:, ::-1], np.eye(4)[::-1], tile=1))
    assert not steps[0].output[:3].any()
    assert steps[-1].output == pytest.approx(softmax_attention(scores, np.eye(4)), abs=1e-12)


def test_the_last_tile_may_be_short():
    assert [(s.start, s.stop) for s in online_softmax(np.zeros(5), np.ones(5), tile=2)] == [(0, 2), (2, 4), (4, 5)]


@pytest.mark.parametrize(
    ("scores", "values", "tile", "message"),
    [
        ([1.0, 2.0], [1.0], 1, "need one value a key"),
        ([], [], 1, "need one value a key"),
        ([1.0], [1.0], 0, "tile=0 must be a whole number"),
        ([1.0], [1.0], 1.5, "tile=1.5 must be a whole number"),
        ([np.nan], [1.0], 1, "finite numbers, or minus infinity"),
        ([np.inf], [1.0], 1, "finite numbers, or minus infinity"),
        ([1.0], [np.nan], 1, "values=nan must be a finite number"),
        (np.zeros(MOST_CELLS + 1), np.zeros(MOST_CELLS + 1), 1, "too many to step through"),
    ],
)
def test_a_bad_input_is_refused_in_words_before_the_first_step(scores, values, tile, message):
    with pytest.raises(ValueError, match=message):
        online_softmax(scores, values, tile=tile)
