"""A file that was edited, cut off, made by another version or is something else is refused in words."""

from __future__ import annotations

import contextlib
import json
import random

import pytest

from core.microbench.reading import MAX_CHARS, ResultError, read
from tests.core.microbench.fakes import DOCUMENT, document, text


def test_a_written_result_is_read_from_text_and_from_bytes():
    assert read(text()) == read(text().encode()) == read("\ufeff" + text())


TIME = "measurements__0__time__"
EDITED = [
    ({f"{TIME}median_s": -1.0}, "measurements[0].time.median_s is -1.0: must be at least 1e-09"),
    ({f"{TIME}median_s": 0.0}, "measurements[0].time.median_s is 0.0: must be at least"),
    ({f"{TIME}p90_s": 1e300}, "measurements[0].time.p90_s is 1e+300: must be at most 100,000"),
    ({f"{TIME}median_s": "fast"}, "measurements[0].time.median_s is 'fast': should be a valid number"),
    ({f"{TIME}median_s": True}, "measurements[0].time.median_s is True: should be a valid number"),
    ({f"{TIME}p10_s": 2e-4}, "p10_s=0.0002, median_s=0.0001, p90_s=0.000101 do not rise"),
    ({f"{TIME}samples": 0}, "measurements[0].time.samples is 0: must be at least 1"),
    ({f"{TIME}method": "guess"}, "measurements[0].time.method is 'guess'"),
    ({"measurements__0__bytes": 1e24}, "would be 1e+28 bytes/s, which no device does"),
    ({"measurements__1__flops": 1e20}, "would be 1e+24 FLOP/s, which no device does"),
    ({"measurements__1__dtype": "fp4"}, "measurements[1].dtype is 'fp4'"),
    ({"measurements__1__m": 2.5}, "measurements[1].m is 2.5"),
    ({"measurements__1__error": 1.5}, "measurements[1].error is 1.5: must be at most 1"),
    ({"measurements__2__extra": 1}, "measurements[2].extra is 1: extra inputs are not permitted"),
    ({"measurements__0__kind": "magic"}, "measurements[0]"),
    ({"measurements__8__ranks": 1}, "measurements[8].ranks is 1: must be at least 2"),
    ({"measurements__3": DOCUMENT["measurements"][2]}, "2 times; keep one"),
    ({"status": "complete"}, "disagree: a partial result says why"),
    ({"stopped": None}, "disagree: a partial result says why"),
    ({"run__code_sha256": "abc"}, "run.code_sha256 is 'abc'"),
    ({"run__commit": "HEAD"}, "run.commit is 'HEAD'"),
    ({"run__started": "yesterday"}, "run.started is 'yesterday'"),
    ({"run__started": "1066-10-14T00:00:00Z"}, "started must lie in the years 2020 to 2199"),
    ({"system__memory_bytes": -1}, "system.memory_bytes is -1: must be at least 0"),
    ({"system__hostname": "me"}, "system.hostname is 'me': extra inputs"),
    ({"system": None}, "system "),
    ({"system__name": " "}, "system.name is ' ': string should match pattern"),
    ({"run__models__0__num_kv_heads": 5}, "run.models[0] num_kv_heads=5 does not divide num_heads=32"),
    ({"run__models__0__hidden_size": 10**9}, "run.models[0].hidden_size is 1000000000: must be at most 1e+07"),
    ({"run__models__0__num_heads": 10**6}, "run.models[0].num_heads is 1000000: must be at most 100,000"),
    ({"skipped__0__reason": 5}, "skipped[0].reason is 5"),
]


@pytest.mark.parametrize(("changes", "words"), EDITED, ids=[next(iter(changes)) for changes, _ in EDITED])
def test_an_edited_value_is_named_with_its_rule(changes, words):
    with pytest.raises(ResultError) as error:
        read(text(**changes))
    assert words in error.value.what
    assert error.value.way_out == "Undo what was changed by hand, or measure again."


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_what_is_no_number_is_refused(number):
    changed = text().replace('"seconds": 12.5', f'"seconds": {number}')
    with pytest.raises(ResultError, match=f"holds {number}, which is no number"):
        read(changed)


@pytest.mark.parametrize(
    ("format_", "words"),
    [
        ("microbench/2", "This file is microbench/2; this version of the app reads microbench/1. Update the app"),
        ("microbench/0", "This file is microbench/0; this version of the app reads microbench/1. Measure again"),
        ("progress/1", "This JSON is no measurement of ours: its format is 'progress/1'"),
        (1, "its format is 1"),
    ],
)
def test_another_version_is_named(format_, words):
    with pytest.raises(ResultError) as error:
        read(text(format=format_))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "This file is empty."),
        ("  \n", "This file is empty."),
        ("{", "This is not JSON: it starts with '{'."),
        ("[" * 100_000, "This is not JSON"),
        ("[" * 300_000, "holds more values than a result does"),
        ("[]", "it does not say what it is"),
        ("null", "it does not say what it is"),
        (b"\xff\xfe", "This file is not UTF-8 text."),
        (text()[:-20], f"of {len(text()) - 20:,}."),
        (text()[: text().index("measurements")], "This is not whole JSON: it breaks at character "),
        (" " * (MAX_CHARS + 1), "has 20,000,001 characters; a result has at most 20,000,000"),
    ],
)
def test_what_is_no_result_is_refused(given, words):
    with pytest.raises(ResultError) as error:
        read(given)
    assert words in str(error.value)


def test_many_problems_are_told_in_three():
    spoilt = document()
    for entry in spoilt["measurements"]:
        entry["time"] = {**entry["time"], "samples": -1}
    with pytest.raises(ResultError, match="; and 7 more"):
        read(json.dumps(spoilt))


def test_a_thousand_mutations_are_read_or_refused_and_nothing_else():
    chance = random.Random(1)
    odd = [None, -1, 0, 1e300, "", "x" * 1000, [], {}, True, 2**70, 0.5]

    def spoil(node: object) -> None:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))  # type: ignore[arg-type]
        if not keys:
            return
        key = chance.choice(keys)
        below = node[key]  # type: ignore[index]
        if isinstance(below, dict | list) and chance.random() < 0.8:
            spoil(below)
        elif chance.random() < 0.3:
            del node[key]  # type: ignore[attr-defined]
        else:
            node[key] = chance.choice(odd)  # type: ignore[index]

    refused = 0
    for _ in range(1000):
        changed = document()
        for _ in range(chance.randint(1, 3)):
            spoil(changed)
        given = json.dumps(changed)
        if chance.random() < 0.1:
            given = given[: chance.randrange(len(given))]
        with contextlib.suppress(ResultError):
            read(given)
            refused -= 1
        refused += 1
    assert refused > 700
