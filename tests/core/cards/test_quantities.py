"""Units against a table worked by hand."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cards.quantities import UnitError, spelt_like, unit, without_owner

# Each scale written out: base units are bytes, seconds, FLOP, watts, joules, dollars and plain numbers.
BY_HAND = [
    ("", 1, "number"),
    ("x", 1, "number"),
    ("%", 0.01, "number"),
    ("points", 0.01, "number"),
    ("B", 1, "bytes"),
    ("bytes", 1, "bytes"),
    ("kB", 1_000, "bytes"),
    ("MB", 1_000_000, "bytes"),
    ("GB", 1_000_000_000, "bytes"),
    ("TB", 1_000_000_000_000, "bytes"),
    ("KiB", 1_024, "bytes"),
    ("MiB", 1_048_576, "bytes"),
    ("GiB", 1_073_741_824, "bytes"),
    ("TiB", 1_099_511_627_776, "bytes"),
    ("bits", 1 / 8, "bytes"),
    ("Gb", 125_000_000, "bytes"),
    ("Gbit", 125_000_000, "bytes"),
    ("Gb/s", 125_000_000, "bytes/time"),
    ("Gbps", 125_000_000, "bytes/time"),
    ("GBps", 1_000_000_000, "bytes/time"),
    ("ns", 1e-9, "time"),
    ("us", 1e-6, "time"),
    ("µs", 1e-6, "time"),
    ("ms", 1e-3, "time"),
    ("s", 1, "time"),
    ("min", 60, "time"),
    ("h", 3_600, "time"),
    ("days", 86_400, "time"),
    ("weeks", 604_800, "time"),
    ("years", 31_536_000, "time"),
    ("TFLOP", 1e12, "FLOP"),
    ("PFLOP", 1e15, "FLOP"),
    ("TFLOP/s", 1e12, "FLOP/time"),
    ("TFLOPS", 1e12, "FLOP/time"),
    ("FLOP/B", 1, "FLOP/bytes"),
    ("FLOP/byte", 1, "FLOP/bytes"),
    ("tok/s", 1, "number/time"),
    ("tokens per second", 1, "number/time"),
    ("tokens a second", 1, "number/time"),
    ("requests/min", 1 / 60, "number/time"),
    ("%/h", 0.01 / 3600, "number/time"),
    ("USD", 1, "money"),
    ("USD/h", 1 / 3600, "money/time"),
    ("USD/M", 1e-6, "money"),
    ("USD/M tokens", 1e-6, "money"),
    ("USD/kWh", 1 / 3_600_000, "money/energy"),
    ("kW", 1_000, "power"),
    ("kWh", 3_600_000, "energy"),
    ("GB per request", 1_000_000_000, "bytes"),
    ("B per token", 1, "bytes"),
    ("ms per sample", 1e-3, "time"),
    ("% of peak", 0.01, "number"),
    ("GB/s per GPU", 1_000_000_000, "bytes/time"),
    ("requests", 1, "number"),
    ("KV heads", 1, "number"),
    ("micro-batches", 1, "number"),
    ("B parameters", 1_000_000_000, "number"),
    ("T tokens", 1_000_000_000_000, "number"),
    ("M elements", 1_000_000, "number"),
    ("accelerator", 1, "number"),
    ("  GB   per  request ", 1_000_000_000, "bytes"),
]


@pytest.mark.parametrize(("text", "scale", "kind"), BY_HAND, ids=[row[0] for row in BY_HAND])
def test_scale_and_kind(text, scale, kind):
    found = unit(text)
    assert found.scale == pytest.approx(scale, rel=1e-12)
    assert found.kind == kind


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gb", "GB or Gb is"),
        ("GBs", "GB"),
        ("mib", "MiB is"),
        ("tflops", "TFLOPs is"),
        ("usd", "USD is"),
        ("Seconds", "seconds is"),
        ("GB^2", "is not a unit"),
        ("GB*s", "is not a unit"),
        ("GB/", "nothing stands below"),
        ("/s/", "nothing stands below"),
        ("M GB", "without a space"),
        ("3 GPUs", "is not a unit"),
        ("<b>", "is not a unit"),
        ("x" * 41, "too long"),
    ],
)
def test_what_is_no_unit_is_refused_with_what_would_be_right(text, says):
    with pytest.raises(UnitError, match=says.replace("^", r"\^")):
        unit(text)


def test_words_that_are_like_no_unit_count_things():
    assert spelt_like("layers") == spelt_like("experts") == spelt_like("a") == []
    assert spelt_like("Gbs") == ["GB", "Gb"]


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("GB per request", "GB"),
        ("% of peak", "%"),
        ("tok per s", "tok/s"),
        ("requests a day", "requests/day"),
        ("x", "x"),
    ],
)
def test_what_a_number_belongs_to_is_no_part_of_its_unit_but_a_time_is(text, alone):
    assert without_owner(text) == alone


@given(st.text(max_size=60))
def test_any_text_is_a_unit_of_a_positive_scale_or_is_refused(text):
    with contextlib.suppress(UnitError):
        assert unit(text).scale > 0
