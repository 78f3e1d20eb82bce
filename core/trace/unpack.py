"""Uploaded files as a stream of bytes: plain, gzip or zip, a piece in memory at a time, never more than a limit."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from core.display import show_bytes
from core.trace.columns import TraceError

PIECE = 1 << 20  # bytes read, or unpacked, at a time
GZIP, ZIP, ZSTD = b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_EMPTY_ZIP = b"PK\x05\x06"
_MOST_FILES = 4096  # of one zip


class Meter:
    """Counts what was unpacked, against the limit, and what was read, for the progress."""

    def __init__(self, total: int, limit: int, progress: Callable[[float], None] | None) -> None:
        self._total, self._limit, self._progress = max(total, 1), limit, progress
        self._read, self._unpacked, self._told = 0.0, 0, -1.0

    def read(self, num_bytes: float) -> None:
        """So many bytes of the uploads are behind us."""
        self._read += num_bytes
        share = min(self._read / self._total, 1.0)
        if self._progress is not None and (share >= self._told + 0.01 or share == 1.0 > self._told):
            self._told = share
            self._progress(share)

    def unpacked(self, name: str, num_bytes: int) -> None:
        """So many bytes came out; too many end the reading."""
        self._unpacked += num_bytes
        if self._unpacked > self._limit:
            raise TraceError(
                f"{name}: too large. Unpacked, the upload has more than the {show_bytes(self._limit)} that may be read "
                "here. Record fewer steps, leave out with_stack and profile_memory, or upload fewer ranks."
            )


class Source:
    """One trace file inside the upload. `pieces` may be walked once; then `cut` says what is missing at its end."""

    def __init__(self, name: str, file: BinaryIO, meter: Meter, weight: float = 1.0) -> None:
        self.name, self.cut = name, ""
        self._file, self._meter, self._weight = file, meter, weight

    def pieces(self) -> Iterator[bytes]:
        """The file's content, unpacked if it is gzip. Damage ends the walk and is noted in `cut`."""
        raw = self._raw()
        first = next(raw, b"")
        if first.startswith(ZSTD):
            raise TraceError(f"{self.name} is packed with zstd, which is not read here. Unpack it, or use gzip.")
        unpacked = self._gunzip(first, raw) if first.startswith(GZIP) else self._plain(first, raw)
        for piece in unpacked:
            self._meter.unpacked(self.name, len(piece))
            yield piece

    def _raw(self) -> Iterator[bytes]:
        while True:
            try:
                piece = self._file.read(PIECE)
            except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
                self.cut = "the zip is damaged inside this file"
                return
            if not piece:
                return
            self._meter.read(len(piece) * self._weight)
            yield piece

    @staticmethod
    def _plain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        yield first
        yield from rest

    def _gunzip(self, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        packed, unpack = first, zlib.decompressobj(wbits=31)  # 31: a gzip header and checksum
        while True:
            try:
                piece = unpack.decompress(packed, PIECE)
            except zlib.error:
                self.cut = "the gzip data is damaged"
                return
            if piece:
                yield piece
            packed = unpack.unconsumed_tail
            if unpack.eof:
                packed = unpack.unused_data or next(rest, b"")
                if not packed.startswith(GZIP[: max(len(packed), 1)]):
                    return  # padding after the last member, or the end
                unpack = zlib.decompressobj(wbits=31)
            if not packed:
                packed = next(rest, b"")
            if not packed and not piece:
                self.cut = "the gzip file is cut off"
                return


def sources(
    files: list[tuple[str, BinaryIO]], limit: int, progress: Callable[[float], None] | None
) -> Iterator[Source]:
    """Every trace file of the uploads, those inside zips included, in order."""
    sizes = [file.seek(0, io.SEEK_END) for _, file in files]
    meter = Meter(sum(sizes), limit, progress)
    for name, file in files:
        file.seek(0)
        start = file.read(4)
        file.seek(0)
        if start in (ZIP, _EMPTY_ZIP):
            yield from _inside_zip(name, file, meter, limit)
        else:
            yield Source(name, file, meter)
    meter.read(sum(sizes))  # heads and lists of a zip count too; all of it is behind us now


def _inside_zip(name: str, file: BinaryIO, meter: Meter, limit: int) -> Iterator[Source]:
    try:
        archive = zipfile.ZipFile(file)
        entries = [entry for entry in archive.infolist() if _is_trace_file(entry)]
    except (zipfile.BadZipFile, ValueError, OSError, OverflowError, NotImplementedError, EOFError):
        raise TraceError(f"{name} is a damaged zip: its list of files cannot be read. Upload it again.") from None
    if not entries:
        raise TraceError(f"{name} holds no .json and no .json.gz file.")
    promised = sum(entry.file_size for entry in entries)
    if promised > limit or len(entries) > _MOST_FILES:
        raise TraceError(
            f"{name}: too large. Unpacked, its traces ({len(entries):,}) come to {show_bytes(promised)}; "
            f"at most {show_bytes(limit)} may be read here."
        )
    for entry in entries:
        try:
            member = archive.open(entry)
        except (RuntimeError, NotImplementedError, zipfile.BadZipFile, OSError, ValueError):
            # RuntimeError: a password; NotImplementedError: a packing that zipfile does not know.
            raise TraceError(
                f"{entry.filename} in {name} cannot be opened: it has a password, an unusual packing, or is damaged."
            ) from None
        with member:
            weight = entry.compress_size / max(entry.file_size, 1)
            yield Source(entry.filename.rpartition("/")[2], member, meter, weight)  # type: ignore[arg-type]


def _is_trace_file(entry: zipfile.ZipInfo) -> bool:
    path = entry.filename
    wanted = path.lower().endswith((".json", ".json.gz", ".gz"))
    return wanted and not entry.is_dir() and not path.startswith("__MACOSX/")
