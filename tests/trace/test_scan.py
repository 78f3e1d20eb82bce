"""Events out of text that arrives in pieces of any size."""

from __future__ import annotations

import json

import pytest

from core.trace import scan as module
from core.trace.scan import Scan

EVENTS = [{"name": 'brace } and quote " and ü', "args": {"deep": [1, [2.5, {"x": None}]]}}, {"ts": 1.25}, 7, "text"]


def walk(text: str | bytes, size: int = 1 << 20) -> tuple[list[object], Scan]:
    data = text if isinstance(text, bytes) else text.encode()
    scan = Scan(data[at : at + size] for at in range(0, len(data), size))
    return list(scan.events()), scan


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("indent", [None, 2])
def test_pieces_of_any_size_give_the_same_events(size, indent):
    about = {"schemaVersion": 1, "distributedInfo": {"rank": 3}, "x": [1.5], "traceEvents": EVENTS, "traceName": "t"}
    events, scan = walk(json.dumps(about, indent=indent, ensure_ascii=False), size)
    assert events == EVENTS
    assert (scan.header, scan.fault, scan.is_trace) == ({"distributedInfo": {"rank": 3}}, "", True)


def test_the_bare_array_is_a_trace_too_and_may_lack_its_end():
    # Trace Event Format: the closing bracket of the array form is optional. We say that it is missing, and keep all.
    assert walk(json.dumps(EVENTS))[0] == EVENTS
    events, scan = walk(json.dumps(EVENTS)[:-1])
    assert (events, scan.fault) == (EVENTS, "it is cut off")


def test_a_byte_order_mark_is_skipped():
    assert walk(b"\xef\xbb\xbf" + json.dumps(EVENTS).encode())[0] == EVENTS


@pytest.mark.parametrize("cut", range(40, 190, 10))
def test_a_cut_text_keeps_the_events_before_the_cut(cut):
    events, scan = walk(json.dumps({"traceEvents": [{"name": f"event {i}"} for i in range(10)]})[:cut])
    assert events == [{"name": f"event {i}"} for i in range(len(events))]
    assert len(events) >= (cut - 40) // 21
    assert scan.fault == "it is cut off"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it is empty"),
        ("PK nonsense", "it is not JSON"),
        ("<html>", "it is not JSON"),
        ('{"a" 1}', "it is not valid JSON near character 6"),
        ('{"traceEvents": [{"a": 1}, {"a": tru}, {"a": 3}], "b": 1}', "it is not valid JSON near character 28"),
        ('{"traceEvents": [' + "[" * 100_000, "it is nested too deeply"),
        ('{"traceEvents": [' + "9" * 6000 + "]}", "it is not valid JSON near character 18"),
        ('{"a": 1', "it is cut off"),
    ],
)
def test_a_fault_is_said_in_words(text, fault):
    assert walk(text)[1].fault == fault


def test_what_was_read_before_a_fault_is_kept():
    assert walk('{"traceEvents": [{"a": 1}, {"a": tru}]}')[0] == [{"a": 1}]


def test_one_endless_value_is_given_up(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_VALUE", 1000)
    read = 0

    def pieces():
        nonlocal read
        yield b'{"traceEvents": [{"name": "'
        for read in range(1, 10_000):  # noqa: B007
            yield b"x" * 100

    scan = Scan(pieces())
    assert list(scan.events()) == []
    assert scan.fault.startswith("it is not valid JSON")
    assert read < 20


def test_other_fields_are_not_kept():
    assert walk(json.dumps({f"field {i}": i for i in range(100)}))[1].header == {}
