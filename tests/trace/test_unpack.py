"""Plain, gzip and zip, whole and damaged, and what is too large."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile

import pytest

from core.trace.columns import TraceError
from core.trace.unpack import Source, sources

TEXT = b'{"traceEvents": []}' * 50_000


def unpack(*files: tuple[str, bytes], limit: int = 10**9, progress=None) -> list[tuple[Source, bytes]]:
    opened = [(name, io.BytesIO(content)) for name, content in files]
    return [(source, b"".join(source.pieces())) for source in sources(opened, limit, progress)]


def zipped(**members: bytes) -> bytes:
    folder = io.BytesIO()
    with zipfile.ZipFile(folder, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return folder.getvalue()


@pytest.mark.parametrize(
    "content",
    [TEXT, gzip.compress(TEXT), gzip.compress(TEXT[:999]) + gzip.compress(TEXT[999:])],
    ids=["plain", "gz", "gz of two members"],
)
def test_plain_and_gzip_give_the_text(content):
    ((source, text),) = unpack(("trace", content))
    assert (text, source.cut) == (TEXT, "")


def test_a_zip_gives_its_traces_plain_or_gzip_and_nothing_else():
    members = {"a/rank0.json": TEXT, "rank1.json.gz": gzip.compress(TEXT), "notes.txt": b"x", "__MACOSX/a.json": b"x"}
    found = unpack(("all.zip", zipped(**members)))
    assert [(source.name, text) for source, text in found] == [("rank0.json", TEXT), ("rank1.json.gz", TEXT)]


def test_padding_after_gzip_is_ignored():
    ((source, text),) = unpack(("trace", gzip.compress(TEXT) + b"\0" * 512))
    assert (text, source.cut) == (TEXT, "")


def test_a_cut_gzip_keeps_what_came_before():
    packed = gzip.compress(bytes(range(256)) * 4000, compresslevel=1)
    ((source, text),) = unpack(("trace", packed[: len(packed) // 2]))
    assert source.cut == "the gzip file is cut off"
    assert len(text) > 1000
    assert (bytes(range(256)) * 4000).startswith(text)


def test_damaged_gzip_is_said():
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 1  # the checksum
    ((source, _),) = unpack(("trace", bytes(packed)))
    assert source.cut == "the gzip data is damaged"


def test_a_damaged_member_of_a_zip_is_said():
    archive = bytearray(zipped(**{"a.json": TEXT}))
    archive[60] ^= 0xFF
    ((source, _),) = unpack(("all.zip", bytes(archive)))
    assert source.cut == "the zip is damaged inside this file"


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: zipped(**{"a.json": content})])
def test_a_bomb_is_refused_before_it_fills_the_memory(pack):
    bomb = pack(b" " * 300_000_000)
    assert len(bomb) < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(TraceError, match="too large"):
            sum(
                len(piece)
                for source in sources([("b", io.BytesIO(bomb))], 50_000_000, None)
                for piece in source.pieces()
            )
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_zip_that_lies_about_its_sizes_is_stopped_all_the_same():
    archive = bytearray(zipped(**{"a.json": b" " * 2_000_000}))
    size = (2_000_000).to_bytes(4, "little")
    assert archive.count(size) == 2  # in the member's head and in the list
    lying = bytes(archive).replace(size, (1000).to_bytes(4, "little"))
    ((source, text),) = unpack(("all.zip", lying), limit=100_000)
    assert len(text) <= 1000
    assert source.cut


def test_the_limit_counts_all_files_together():
    unpack(("a", TEXT), ("b", TEXT), limit=2 * len(TEXT))
    with pytest.raises(TraceError, match="b: too large"):
        unpack(("a", TEXT), ("b", TEXT), limit=2 * len(TEXT) - 1)


def with_password() -> bytes:
    archive = bytearray(zipped(**{"a.json": TEXT}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.index(mark) + at] |= 1  # the flag of encryption, in both heads
    return bytes(archive)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04 and no more", "damaged zip"),
        (zipped(**{"a.txt": b"x"}), "holds no .json"),
        (zipped(), "holds no .json"),
        (with_password(), "password"),
        (b"\x28\xb5\x2f\xfd123", "zstd"),
    ],
)
def test_what_cannot_be_opened_is_refused_in_words(content, words):
    with pytest.raises(TraceError, match=words):
        unpack(("file", content))


@pytest.mark.parametrize(
    "content",
    [TEXT * 10, gzip.compress(TEXT * 10), zipped(**{"a.json": TEXT, "b.json": TEXT})],
    ids=["plain", "gz", "zip"],
)
def test_progress_rises_to_the_end(content):
    told: list[float] = []
    unpack(("first", content), ("second", content), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) >= 2
