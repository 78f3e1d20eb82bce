"""Export, import in a fresh store, export again: the same bytes; what was changed is refused in words."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re

import pytest

from core.mock.fold import fold
from core.mock.scorecard_build import ScorecardError, scorecard
from core.mock.scorecard_file import MAX_BYTES, from_json, to_json
from core.mock.state import RoomState
from core.storage.engine import open_database
from core.storage.records import Draft
from core.storage.rooms import RoomStore
from tests.core.mock.made import PACK, at_phase, bank, opened, pack, plan, scored, whole

PACKS = {PACK: pack()}
ROOM = whole()
CARD = scorecard(ROOM.state, ROOM.log, pack(), bank())
TEXT = to_json(CARD)


def read(text: str):
    return from_json(text.encode(), PACKS, bank())


def sealed_again(data: dict) -> str:
    """A changed card with a checksum that fits: a careful hand."""
    rest = {key: value for key, value in data.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, indent=1, ensure_ascii=False)
    return json.dumps({**rest, "checksum": hashlib.sha256(text.encode()).hexdigest()})


@pytest.mark.parametrize("audience", ["interviewer", "candidate"])
def test_both_copies_are_read_back_and_written_to_the_same_bytes(audience):
    text = to_json(scorecard(ROOM.state, ROOM.log, pack(), bank(), audience=audience))
    found = read(text)
    assert found.warnings == ()
    assert to_json(found.card) == text


@pytest.mark.parametrize("room", [whole(), at_phase(3), scored(at_phase(7)), opened(seed=7)])
def test_a_room_restored_in_a_fresh_store_exports_the_same_bytes(room, tmp_path):
    text = to_json(scorecard(room.state, room.log, pack(), bank()))
    card = read(text).card
    store = RoomStore(open_database(f"sqlite:///{tmp_path}/fresh.db"), clock=lambda: room.at + 1e6)
    made = store.restore_room([Draft(line.actor, line.kind, line.payload, line.at) for line in card.log])
    log = store.events(made.room)
    state = fold(RoomState(plan()), log)
    assert to_json(scorecard(state, log, pack(), bank())) == text
    assert dataclasses.replace(state) == room.state
    store.engine.dispose()


def test_a_text_with_every_kind_of_letter_keeps_its_bytes():
    room = at_phase(2).does("candidate", "pad", text='🙂 مرحبا <script> "quoted" \\ \x00 \u2028 line\nline')
    room.does("interviewer", "note", text="| pipe | `tick` ")
    text = to_json(scorecard(room.state, room.log, pack(), bank()))
    assert to_json(read(text).card) == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"level": 3', '"level": 4'),
        ('"judgement": "lean hire"', '"judgement": "strong hire"'),
        ("I forgot the price.", "I was splendid."),
        ('"said": 2350.0', '"said": 2345.0'),
        ('"checksum": "', '"checksum": "0'),
    ],
)
def test_a_changed_file_is_refused(old, new):
    assert old in TEXT
    with pytest.raises(ScorecardError, match="changed after it was exported"):
        read(TEXT.replace(old, new, 1))


def test_a_changed_file_with_a_fitting_checksum_does_not_follow_from_its_log():
    data = json.loads(TEXT)
    data["items"][0]["level"] = 4
    with pytest.raises(ScorecardError, match="does not follow from its own log"):
        read(sealed_again(data))


def test_a_file_without_a_checksum_is_refused():
    data = {key: value for key, value in json.loads(TEXT).items() if key != "checksum"}
    with pytest.raises(ScorecardError, match="checksum does not fit"):
        read(json.dumps(data))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[]", "no scorecard"),
        (b'{"schema": "progress/1"}', "no scorecard"),
        (b"[" * 100_000, "no JSON"),
        (b'{"schema": "scorecard/1", "pad": NaN}', "no JSON"),
        (b'{"schema": "scorecard/1"}', "was changed"),
        (b"x" * (MAX_BYTES + 1), "at most 20"),
        (b'{"schema": "scorecard/1", "checksum": "\\ud800", "pad": "\\ud800"}', "was changed"),
    ],
)
def test_what_is_no_scorecard_is_said_in_words(raw, says):
    with pytest.raises(ScorecardError, match=says):
        from_json(raw, PACKS, bank())


def test_a_field_that_is_wrong_is_named():
    data = json.loads(TEXT)
    data["items"][2]["level"] = "high"
    with pytest.raises(ScorecardError, match=r"items\.2\.level"):
        read(sealed_again(data))


@pytest.mark.parametrize(("field", "most"), [("kind", 40), ("actor", 16)])
def test_a_line_of_the_log_that_no_database_of_rooms_can_hold_is_refused(field, most):
    data = json.loads(TEXT)
    data["log"][3][field] = "x" * (most + 1)
    with pytest.raises(ScorecardError, match=rf"log\.3\.{field}: .* at most {most} characters"):
        read(sealed_again(data))


def test_a_pack_that_is_gone_or_edited_is_a_warning():
    assert "no pack mock-train-serve-45" in from_json(TEXT.encode(), {}, bank()).warnings[0]
    edited = {PACK: dataclasses.replace(pack(), content_hash="other")}
    found = from_json(TEXT.encode(), edited, bank())
    assert "has been edited" in found.warnings[0]
    assert to_json(found.card) == TEXT


def test_a_core_that_computes_other_numbers_is_a_warning(monkeypatch):
    monkeypatch.setattr("core.mock.opening.truth_hash", lambda seeds, bank: "other")
    room = opened(truth_hash="those of then")
    text = to_json(scorecard(room.state, room.log, pack(), bank()))
    assert any("computes other numbers" in warning for warning in read(text).warnings)


def test_keys_are_sorted_so_that_the_file_is_easy_to_compare():
    keys = re.findall(r'^ "([a-z_]+)":', TEXT, flags=re.M)
    assert keys == sorted(keys)
    assert TEXT.endswith("}\n")
