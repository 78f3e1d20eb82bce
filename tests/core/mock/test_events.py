"""Each kind of event has limits; what cannot be read is None, what cannot be written is said in words."""

from __future__ import annotations

import math

import pytest

from core.mock.events import KINDS, MAX_PAD, MAX_TEXT, EventError, read, written
from core.mock.roles import ROLES, SERVER


def test_every_kind_of_the_specification_is_there():
    wanted = {
        *("joined", "ready", "consented", "phase_started", "stretched", "paused", "resumed", "reply_released"),
        *("hint_released", "twist_applied", "note", "evidence", "claim", "pad", "sliders", "hold", "mask_toggled"),
        *("stuck", "answer_locked", "score_drafted", "committed", "self_rated", "overall", "handed_over", "finished"),
    }
    assert wanted <= KINDS.keys()


def test_every_writer_is_a_seat_or_the_server_and_never_an_observer():
    writers = {actor for model in KINDS.values() for actor in model.by}
    assert writers == {*ROLES, SERVER} - {"observer"}


def test_kinds_fit_into_the_store():
    assert max(map(len, KINDS)) <= 40


@pytest.mark.parametrize("payload", [None, [], "x", 3, {"text": 3}, {"text": "x", "more": 1}, {}, {"text": "\ud800"}])
def test_a_payload_that_does_not_fit_is_none(payload):
    assert read("pad", payload) is None


def test_an_unknown_kind_is_none():
    assert read("invented", {}) is None
    assert read("", {}) is None


@pytest.mark.parametrize("value", [math.nan, math.inf, "x" * 81, [1], None])
def test_a_slider_has_a_plain_value(value):
    assert read("sliders", {"values": {"batch": value}}) is None
    assert read("sliders", {"values": {"batch": 8.0, "fused": True, "kv": "fp8"}}) is not None


@pytest.mark.parametrize(
    ("kind", "fields", "says"),
    [
        ("note", {"text": "x" * 100_000}, f"text has 100,000 characters, and at most {MAX_TEXT:,} are kept"),
        ("pad", {"text": "x" * (MAX_PAD + 1)}, "shorten it"),
        ("note", {"text": "   "}, "text is empty"),
        ("answer_locked", {"drill": "d-x", "text": "1", "confidence": 101}, "confidence: input should be less"),
        ("score_drafted", {"item": "plan", "level": 9}, "level: input should be"),
        ("joined", {"holder": "a b"}, "holder: string should match"),
        ("note", {}, "text: field required"),
    ],
)
def test_what_cannot_be_written_is_said_in_words(kind, fields, says):
    with pytest.raises(EventError, match=says):
        written(kind, fields)


@pytest.mark.parametrize("text", ["🙂", "مرحبا", "<script>alert(1)</script>", "a\x00b", "x" * MAX_TEXT])
def test_texts_are_kept_as_they_are(text):
    assert written("note", {"text": text}).model_dump()["text"] == text
