"""Typed answers: read in one way, or refused in words."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cards.quantities import UnitError
from core.cards.text import with_unit
from core.cards.typed import MAX_ANSWER_LENGTH, read_answer

READ = [
    # plain numbers, in the asked unit
    ("12.5", "GB", 12.5),
    ("12.", "GB", 12),
    (".5", "GB", 0.5),
    ("+5", "GB", 5),
    ("-5", "GB", -5),
    ("− 5", "GB", -5),
    ("–5 GB", "GB", -5),
    ("~12 GB", "GB", 12),
    ("≈ 12", "GB", 12),
    ("1e3", "GB", 1000),
    ("1.5E-3 s", "ms", 1.5),
    ("10^9", "B", 1e9),
    ("10**9 B", "B", 1e9),
    ("10⁹ B", "B", 1e9),
    ("3.2x10^9", "B", 3.2e9),
    ("3.2 × 10⁻³ s", "ms", 3.2),
    ("3.2·10^-3 s", "ms", 3.2),
    ("٣", "GPUs", 3),
    # grouped thousands
    ("327,680 B", "B", 327_680),
    ("1,234,567.5", "B", 1_234_567.5),
    ("1 234 567", "B", 1_234_567),
    ("1\u00a0234", "B", 1234),
    ("1\u202f234", "B", 1234),
    ("1\u2009234", "B", 1234),
    ("1'234", "B", 1234),
    ("1’234", "B", 1234),
    # units of the same kind
    ("1.34 GB", "GB", 1.34),
    ("1340MB", "GB", 1.34),
    ("0.3 MiB", "B", 314_572.8),
    ("1.5 TiB", "GB", 1649.267441664),
    ("12 GB.", "GB", 12),
    ("12 Mb", "MB", 1.5),
    ("100 Gbit/s", "Gb/s", 100),
    ("12.5 GB/s", "Gb/s", 100),
    ("3.35 TB/s", "GB/s", 3350),
    ("3350 GB per second", "GB/s", 3350),
    ("0.0418 s", "ms", 41.8),
    ("12 h", "days", 0.5),
    ("1e3 tok/s", "tok/s", 1000),
    ("2345 tokens per second", "tok/s", 2345),
    ("5 requests/s", "requests per second", 5),
    ("300 requests per minute", "requests per second", 5),
    ("5 tok/s", "tokens per second", 5),
    ("120 tokens a minute", "tok/s", 2),
    ("720 requests/min", "requests/s", 12),
    ("295 FLOP/byte", "FLOP/B", 295),
    ("295 flops/byte", "FLOP/B", 295),
    ("989 TFLOPS", "TFLOP/s", 989),
    ("0.989 PFLOPs", "TFLOP/s", 989),
    ("989 tflops", "TFLOP/s", 989),
    ("1.34 GB per request", "GB per request", 1.34),
    ("1340 MB per request", "GB per request", 1.34),
    ("1.34 GB/request", "GB per request", 1.34),
    ("320 KiB", "B per token", 327_680),
    # counted things
    ("3 gpu", "GPUs", 3),
    ("8192 elements", "", 8192),
    ("3 heads", "KV heads", 3),
    ("2.5k", "tokens", 2500),
    ("2.5K tokens", "tokens", 2500),
    ("2.5k tok/s", "tok/s", 2500),
    ("2.5 million", "tokens", 2.5e6),
    ("2.5 bn tokens", "tokens", 2.5e9),
    ("70", "B parameters", 70),
    ("70B", "B parameters", 70),
    ("70 billion parameters", "B parameters", 70),
    ("15000 B tokens", "T tokens", 15),
    ("15T", "T tokens", 15),
    # shares and factors
    ("46.7", "%", 46.7),
    ("46.7 %", "%", 46.7),
    ("46.7％", "%", 46.7),
    ("46.7 percent", "%", 46.7),
    ("46.7% of peak", "%", 46.7),
    ("12 pp", "points", 12),
    ("24.7x", "x", 24.7),
    ("24.7 times", "x", 24.7),
    ("24.7×", "x", 24.7),
    ("50%", "x", 0.5),
    ("5%/h", "%/h", 5),
    ("12 %/day", "%/h", 0.5),
    # money
    ("$0.42", "USD/M", 0.42),
    ("0.42 USD", "USD/M", 0.42),
    ("USD 0.42", "USD/M", 0.42),
    ("$0.42/M", "USD/M", 0.42),
    ("$0.42 per million tokens", "USD/M", 0.42),
    ("0.42 $/Mtok", "USD/M", 0.42),
    ("0.42 USD/M tokens", "USD/M", 0.42),
    ("-$3", "USD", -3),
    ("$1.2k", "USD", 1200),
    ("$2M", "MUSD", 2),
    ("48 USD/day", "USD/h", 2),
    # the same thing, said as people say it
    ("10.6 N", "xN", 10.6),
    ("10.6N", "xN", 10.6),
    ("10.6x N", "xN", 10.6),
    ("10.6x", "xN", 10.6),
    ("10.6 N per token", "xN", 10.6),
    ("3 P", "xP", 3),
    ("8 per day", "interruptions/day", 8),
    ("8 a day", "interruptions/day", 8),
    ("1 per hour", "interruptions/day", 24),
    ("3 GPU-hours", "GPU hours", 3),
    ("3 GPUh", "GPU hours", 3),
    ("3 GPU h", "GPU hours", 3),
    ("5 microbatches", "micro-batches", 5),
    ("5 micro batches", "micro-batches", 5),
]


@pytest.mark.parametrize(("text", "asked", "value"), READ, ids=[f"{text} in {asked}" for text, asked, _ in READ])
def test_it_is_read(text, asked, value):
    assert read_answer(text, asked).value == pytest.approx(value, rel=1e-12)


REFUSED = [
    ("", "GB", "Nothing was typed. Write a number, for example 12.5 GB."),
    ("   ", "%", "for example 12.5%"),
    ("9" * 10_000, "GB", "10,000 characters"),
    ("many", "GB", "does not begin with a number"),
    ("∞", "GB", "does not begin with a number"),
    ("nan", "GB", "does not begin with a number"),
    ("inf", "GB", "does not begin with a number"),
    ("$", "USD", "does not begin with a number"),
    ("<script>alert(1)</script>", "GB", "does not begin with a number"),
    ("5 <b>", "GB", "is not a unit that is known here"),
    ("1e999", "GB", "too large"),
    ("10^999", "GB", "too large"),
    ("1e308 TB", "B", "too large"),
    # commas
    ("1,34", "GB", "two ways"),
    ("1,34 GB", "GB", "two ways"),
    ("1.234,56", "GB", "two ways"),
    ("0,123", "GB", "two ways"),
    ("1,3400", "GB", "two ways"),
    ("1 234,5", "GB", "two ways"),
    ("1e5,5", "GB", "two ways"),
    # more than one number
    ("12-14", "GB", "more than one number"),
    ("12 to 14 GB", "GB", "more than one number"),
    ("1/3", "x", "more than one number"),
    ("10.6 P", "xN", "is not a unit"),
    ("8 per week of work", "interruptions/day", "is not a unit"),
    ("3*4", "GB", "more than one number"),
    ("1.5.2", "GB", "more than one number"),
    ("1,234 567", "B", "more than one number"),
    ("2^30 B", "B", "more than one number"),
    # bits or bytes
    ("12 mb", "MB", "may mean bits or bytes. Write MB for bytes or Mbit for bits."),
    ("12 kb", "kB", "Write kB for bytes or kbit for bits."),
    ("12 gb/s", "GB/s", "Write GB for bytes or Gbit for bits."),
    ("12 b", "B", "Write B for bytes or bit for bits."),
    ("5 gbps", "GB/s", "Write GBps or Gbps"),
    # a letter that may be half a unit
    ("2.5M", "MB", "write the whole unit"),
    ("1.34G", "GB", "asked in GB"),
    ("2.5m", "tokens", "several ways"),
    # another kind
    ("3 TB", "GB/s", "not a unit of what is asked, which is in GB/s"),
    ("12 tokens", "requests", "not a unit of what is asked, which is in requests"),
    ("12%", "requests", "not a unit of what is asked"),
    ("2345 tok", "tok/s", "not a unit of what is asked"),
    ("5x", "GB", "not a unit of what is asked"),
    ("5 GB", "", "which is a plain number"),
    ("12 furlongs", "GB", "is not a unit that is known here"),
    ("5 GB/", "GB", "nothing stands below"),
]


@pytest.mark.parametrize(
    ("text", "asked", "says"), REFUSED, ids=[f"{text[:20]} in {asked}" for text, asked, _ in REFUSED]
)
def test_it_is_refused_in_words(text, asked, says):
    with pytest.raises(UnitError) as refused:
        read_answer(text, asked)
    assert says in str(refused.value)


def test_how_it_was_read_is_said_back():
    assert read_answer("1340 MB", "GB").read_as == "read as 1.34 GB"
    assert read_answer("2.5k", "tokens").read_as == "read as 2,500 tokens"
    assert read_answer("46.7", "%").read_as == "read as 46.7%"


def test_a_share_where_percent_is_asked_is_pointed_out():
    assert read_answer("0.467", "%").read_as.startswith("read as 0.467% (less than one percent")
    assert read_answer("0.467 %", "%").read_as == "read as 0.467%"
    assert read_answer("0.467", "x").read_as == "read as 0.467x"


UNITS = [
    "GB",
    "%",
    "x",
    "",
    "ms",
    "tok/s",
    "FLOP/B",
    "USD/M",
    "B parameters",
    "GB per request",
    "Gb/s",
    "KV heads",
    "requests",
]


@given(st.floats(-1e12, 1e12, allow_nan=False), st.sampled_from(UNITS))
def test_a_number_comes_back(number, asked):
    assert read_answer(repr(number), asked).value == pytest.approx(number)


@given(st.floats(1e-3, 1e14), st.sampled_from(UNITS), st.integers(3, 7))
def test_a_printed_number_with_its_unit_comes_back(number, asked, digits):
    assert read_answer(with_unit(number, digits, asked), asked).value == pytest.approx(number, rel=10.0 ** (1 - digits))


PARTS = st.sampled_from(
    [
        *"0123456789.,-+eE^×x* '/%$kMBTbm~<>&",
        " ",
        "10^",
        "GB",
        "MiB",
        "tok/s",
        "USD",
        "per ",
        "million",
        " a ",
        "∞",
        "⁹",
        "\u00a0",
        "\x00",
    ]
)


@given(st.one_of(st.text(max_size=80), st.lists(PARTS, max_size=16).map("".join)), st.sampled_from(UNITS))
def test_any_text_is_a_finite_number_or_refused_in_words(text, asked):
    with contextlib.suppress(UnitError):
        answer = read_answer(text, asked)
        assert math.isfinite(answer.value)
        assert answer.read_as.startswith("read as ")
        assert len(" ".join(text.split())) <= MAX_ANSWER_LENGTH
