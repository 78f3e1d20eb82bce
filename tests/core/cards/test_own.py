"""A person's own cards: read within bounds, checked with the same words, trusted with nothing."""

from __future__ import annotations

import io
import random
import time
import zipfile
import zlib

import pytest

from core.cards.draw import drawn_values
from core.cards.own import (
    MAX_FILES,
    MAX_TOTAL_BYTES,
    MAX_ZIP_BYTES,
    OwnCardsError,
    checked,
    draw_fault,
    from_folder,
    from_zip,
)
from tests.core.cards.made import DRILL, QUESTION, QUIZ, read

SHIPPED = read()
MINE = DRILL.replace("d-hardware-read", "d-hardware-mine")
AT = "drills/hardware/mine.md"


def zipped(files: dict[str, str | bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return data.getvalue()


def test_a_good_card_is_used_and_is_marked():
    own = from_zip(zipped({AT: MINE}), SHIPPED)
    assert list(own.cards) == ["d-hardware-mine"]
    assert own.cards["d-hardware-mine"].own
    assert own.problems == ()


def test_a_folder_above_and_the_dust_of_an_archiver_do_not_matter():
    dust = {f"__MACOSX/pack/{AT}": b"\x00\x05", "pack/.git/drills/x.md": "x", "pack/readme.txt": "x"}
    assert list(from_zip(zipped({f"pack/{AT}": MINE, **dust}), SHIPPED).cards) == ["d-hardware-mine"]


def test_own_cards_cite_own_and_shipped_sources_and_link_both_ways():
    sources = "mine:\n  title: A\n  year: 2020\n  url: https://example.org/mine\n  kind: book\n  supports: b\n"
    text = MINE.replace("[handbook]", "[handbook, mine]").replace(
        "prerequisites: []", "prerequisites: [q-hardware-bound]"
    )
    assert from_zip(zipped({AT: text, "sources/mine.yaml": sources}), SHIPPED).problems == ()


def test_the_id_of_a_shipped_card_is_refused():
    own = from_zip(zipped({"drills/hardware/read.md": DRILL}), SHIPPED)
    assert own.cards == {}
    assert str(own.problems[0]).startswith("drills/hardware/read.md:2: id: d-hardware-read is a card of the app")


def test_a_fault_leaves_one_card_out():
    own = from_zip(
        zipped({AT: MINE.replace("52.239", "1"), "quizzes/hardware.md": QUIZ.replace("m-hardware", "m-hardware-x")}),
        SHIPPED,
    )
    assert sorted(own.cards) == ["m-hardware-x-read", "m-hardware-x-ridge"]
    assert [problem.field for problem in own.problems] == ["golden"]


def test_an_own_question_of_an_unknown_topic_is_named():
    text = QUESTION.replace("topic: hardware", "topic: mine").replace("id: q-hardware-bound", "id: q-mine-bound")
    own = checked({"questions/mine/bound.md": text.encode()}, SHIPPED)
    assert [problem.field for problem in own.problems] == ["topic"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "cannot be read as a zip"),
        (b"not a zip", "cannot be read as a zip"),
        (b"PK\x03\x04" + b"\0" * 100, "cannot be read as a zip"),
        (zipped({AT: MINE})[:-30], "cannot be read as a zip"),
        (b"0" * (MAX_ZIP_BYTES + 1), "2 MB are read"),
        (zipped({}), "No card was found"),
        (zipped({"readme.txt": "x"}), "No card was found"),
        (zipped({f"drills/{number}.md": "" for number in range(MAX_FILES + 1)}), "at most 500"),
        (
            zipped({f"drills/{number}.md": b"0" * 200_000 for number in range(MAX_TOTAL_BYTES // 200_000 + 1)}),
            "unpacks to more",
        ),
        (zipped({AT: b"0" * 50_000_000}, zipfile.ZIP_BZIP2), "packed in an unusual way"),
        (zipped({AT: b"0" * 50_000_000}, zipfile.ZIP_LZMA), "packed in an unusual way"),
    ],
    ids=range(11),
)
def test_what_cannot_be_used_is_refused_in_words(data, says):
    begun = time.process_time()
    with pytest.raises(OwnCardsError, match=says):
        from_zip(data, SHIPPED)
    assert time.process_time() - begun < 2


def test_a_file_that_unpacks_to_much_is_cut_while_it_is_read():
    own = from_zip(zipped({AT: b"0" * 50_000_000}), SHIPPED)
    assert own.cards == {}
    assert "at most 200,000" in own.problems[0].message


def test_an_encrypted_zip_is_refused():
    data = bytearray(zipped({AT: MINE}))
    data[6] |= 1  # the flag of the local header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and of the directory
    with pytest.raises(OwnCardsError, match=r"encrypted|cannot be read"):
        from_zip(bytes(data), SHIPPED)


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_zip_is_refused_or_read_and_nothing_else(seed):
    stream = random.Random(seed)
    data = bytearray(zipped({AT: MINE, "quizzes/hardware.md": QUIZ}))
    for _ in range(stream.randrange(1, 6)):
        data[stream.randrange(len(data))] = stream.randrange(256)
    try:
        own = from_zip(bytes(data), SHIPPED)
    except OwnCardsError as error:
        refused = str(error)
    else:
        refused = "".join(map(str, own.problems)) or "read"
    assert refused


def test_data_that_does_not_inflate_is_refused():
    data = bytearray(zipped({AT: MINE}))
    start = data.index(b"mine.md") + len("mine.md")
    data[start : start + 20] = b"\xff" * 20
    with pytest.raises(zlib.error):
        zlib.decompress(bytes(data[start : start + 400]), -15)
    with pytest.raises(OwnCardsError, match="cannot be read"):
        from_zip(bytes(data), SHIPPED)


HOSTILE = {
    "tower": MINE.replace('check: "size', f'check: "{"**".join(["((1<2)+(1<2)+(1<2))"] * 12)}+size'),
    "rare": MINE.replace(
        '"size > share / 2"', '"size == 140 and share == 80 and hbm < 4000 and size*share == 11200"'
    ).replace("step: 10", "step: 0.01"),
    "choices": MINE.replace("[140, 70]", f"[{'1,' * 45_000}140]"),
    "params": MINE.replace(
        "defaults:", "\n".join(f"  p{at}: {{choices: [1], unit: ''}}" for at in range(3000)).lstrip() + "\ndefaults:"
    ),
    "huge": MINE.replace("golden: 52.239", f"golden: {'9' * 90_000}"),
    "hex": MINE.replace("golden: 52.239", f"golden: 0x{'f' * 90_000}"),
    "clock": MINE.replace("golden: 52.239", f"golden: 1{':1' * 45_000}"),
    "deep": MINE.replace("golden: 52.239", f"golden: {'[' * 900}{']' * 900}"),
    "braces": MINE + "{{" * 90_000,
    "brackets": MINE + "](" * 90_000,
    "links": MINE + "http://" * 25_000,
    "lines": MINE + "\n" * 190_000,
    "spaces": MINE + "\n## a" + " " * 190_000 + "b",
    "fences": QUIZ + "```mcq\n" * 28_000,
    "fields": MINE.replace("seconds: 60", "\n".join(f"f{at}: 1" for at in range(8_000))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_card_takes_no_time(name):
    begun = time.process_time()
    checked({AT: HOSTILE[name].encode()}, SHIPPED)
    assert time.process_time() - begun < 5


def test_a_folder_of_this_machine(tmp_path):
    place = tmp_path / AT
    place.parent.mkdir(parents=True)
    place.write_text(MINE)
    assert list(from_folder(tmp_path, SHIPPED).cards) == ["d-hardware-mine"]
    with pytest.raises(OwnCardsError, match="is no folder"):
        from_folder(tmp_path / "nowhere", SHIPPED)
    for number in range(MAX_FILES):
        (place.parent / f"{number}.md").write_text("")
    with pytest.raises(OwnCardsError, match="at most 500"):
        from_folder(tmp_path, SHIPPED)


def test_a_draw_that_the_check_has_not_seen_is_refused_in_words():
    text = MINE.replace("size: {choices: [140, 70]", "size: {range: [100, 5000], step: 1").replace(
        "A kernel reads", "{{ 1/(size - 4000) | 2g }}. A kernel reads"
    )
    card = from_zip(zipped({AT: text}), SHIPPED).cards["d-hardware-mine"]
    assert draw_fault(card, 0) == ""
    unlucky = next(seed for seed in range(200_000) if drawn_values(card, seed)["size"] == 4000)
    assert "has no value" in draw_fault(card, unlucky)
