"""A result in words: what was reached, against the plain calls, what was unsteady, what is missing."""

from __future__ import annotations

from core.microbench.summary import rate, spread, summary
from tests.core.microbench.fakes import DOCUMENT, TIME, document


def test_it_names_the_system_the_state_and_what_was_skipped():
    words = summary(DOCUMENT)
    assert words.splitlines()[0] == "NVIDIA H200, torch 2.11.0+cu130, 12 s: partial"
    assert "stopped: cancelled" in words
    assert "skipped 1: the card has no fp8 matrix units" in words


def test_our_copy_is_held_against_the_best_plain_one():
    plain = {"kind": "reference", "call": "x + 0.0", "buffer_bytes": 2**30, "bytes": 2**22, "time": TIME, "error": 0.0}
    changed = document()
    changed["measurements"].append(plain)
    assert "our copy is 50.0% of the best plain call, x + 0.0" in summary(changed)


def test_our_product_is_held_against_the_best_plain_one_of_its_size():
    product = {"m": 64, "n": 4096, "k": 4096, "dtype": "bf16", "flops": 2.8e9, "time": TIME, "error": 0.0}
    changed = document()
    changed["measurements"].append({"kind": "reference", "call": "x @ w", **product})
    assert "our product is 75.0% of the best plain call, x @ w" in summary(changed)


def test_unsteady_calls_over_100_us_are_listed():
    changed = document()
    slow = {**TIME, "median_s": 1e-3, "p10_s": 0.9e-3, "p90_s": 1.1e-3}
    changed["measurements"][0]["time"] = slow
    words = summary(changed)
    assert "1 above 3%" in words
    assert "22.2%" in words


def test_nothing_measured_is_still_said():
    empty = document(measurements=[], skipped=[])
    assert summary(empty).startswith("NVIDIA H200")


def test_rate_and_spread():
    entry = {"bytes": 10.0, "time": {"median_s": 2.0, "p10_s": 1.0, "p90_s": 1.5}}
    assert rate(entry, "bytes") == 5.0
    assert spread(entry) == 0.5
