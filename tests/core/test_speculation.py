"""Speculative decoding against the paper's tables and against a simulation of the draws."""

import numpy as np
import pytest

from core.speculation import expected_speculative_tokens, speculative_operations, speculative_speedup
from tests.published import as_printed
from tests.published_serving import serving_rows


@serving_rows("speedup")
def test_matches_the_expected_speedups_of_leviathan(row):
    assert speculative_speedup(**row["inputs"]) == as_printed(row)


@serving_rows("operations")
def test_matches_the_operations_of_leviathan(row):
    assert speculative_operations(**row["inputs"]) == as_printed(row)


# vLLM pull request 13626: "why a speed-up with one draft token?" The checking pass adds a token of its own.
def test_one_draft_token_gives_one_plus_the_acceptance():
    acceptance = np.linspace(0, 1, 11)
    assert expected_speculative_tokens(acceptance, 1) == pytest.approx(1 + acceptance)


def test_no_draft_is_plain_decoding():
    assert expected_speculative_tokens([0.0, 0.5, 1.0], 0) == pytest.approx([1, 1, 1])
    assert speculative_speedup(0.8, 0, draft_cost=0.05) == 1
    assert speculative_operations(0.8, 0, draft_operations=0.1) == 1


def test_a_sure_draft_yields_all_its_tokens_and_one():
    assert expected_speculative_tokens(1.0, [1, 4, 10]) == pytest.approx([2, 5, 11])
    assert expected_speculative_tokens(1 - 1e-9, 4) == pytest.approx(5)


def test_agrees_with_drawing_lots():
    rng = np.random.default_rng(0)
    accepted = rng.random((200_000, 5)) < 0.8
    run = np.cumprod(accepted, axis=1).sum(axis=1) + 1  # accepted until the first refusal, and the target's own
    assert run.mean() == pytest.approx(expected_speculative_tokens(0.8, 5), rel=0.005)


# Where compute binds, checking g + 1 tokens takes g + 1 times as long: 3.36 tokens for 5.2 steps' time.
def test_speculation_loses_where_compute_binds():
    bound = speculative_speedup(0.8, 4, draft_cost=0.05, verify_cost=5)
    assert bound == pytest.approx(0.6465, abs=0.00005)
    assert speculative_speedup(0.8, 4, draft_cost=0.05) == pytest.approx(2.801, abs=0.0005)


def test_acceptance_by_draft_gives_a_grid():
    assert speculative_speedup(np.linspace(0, 1, 5)[:, None], np.arange(9)).shape == (5, 9)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"acceptance": 1.2}, "acceptance=1.2 must be a share from 0 to 1"),
        ({"acceptance": -0.1}, "acceptance=-0.1 must be 0 or greater"),
        ({"draft_tokens": 2.5}, "draft_tokens=2.5 must be a whole number"),
        ({"draft_cost": -1}, "draft_cost=-1 must be 0 or greater"),
        ({"verify_cost": 0}, "verify_cost=0 must be greater than 0"),
    ],
)
def test_a_bad_input_is_refused_in_words(changed, message):
    with pytest.raises(ValueError, match=message):
        speculative_speedup(**({"acceptance": 0.8, "draft_tokens": 4} | changed))
