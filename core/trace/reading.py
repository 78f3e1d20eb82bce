"""Files into columns: one walk through each trace, one row for each event that the time split needs.

A 200 MB trace has about a million events, most of them of the host. An event is dropped as soon as it was looked at, so
memory holds one piece of text and the columns.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np

from core.trace.columns import LAST_GPU_KIND, NONE, Kind, RankTrace, Trace, TraceError
from core.trace.kinds import kind_of
from core.trace.ranks import together
from core.trace.scan import Scan
from core.trace.sound import sound
from core.trace.unpack import Source, sources

MAX_BYTES = 1_000_000_000  # unpacked, all files of an upload together
MAX_EVENTS = 3_000_000  # kept of one rank, 65 bytes each and its name; a 200 MB trace has a tenth of that
_LARGEST = 1 << 53
# Kineto writes a collective's element type by c10's name (c10/core/ScalarType.h).
_ELEMENT_BYTES = {
    **dict.fromkeys(("Byte", "Char", "Bool", "Float8_e4m3fn", "Float8_e5m2"), 1),
    **dict.fromkeys(("Half", "BFloat16", "Short"), 2),
    **dict.fromkeys(("Float", "Int"), 4),
    **dict.fromkeys(("Double", "Long"), 8),
}


def read_trace(
    files: Iterable[tuple[str, bytes | BinaryIO]],
    *,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[float], None] | None = None,
) -> Trace:
    """PyTorch profiler traces, one for each rank, as columns.

    Args:
        files: name and content: Chrome JSON, plain or gzip, or a zip of such files. A file must be seekable.
        max_bytes: most that all of it may come to when unpacked. [bytes]
        progress: is told the share of the upload that was read, 0 to 1.

    Raises:
        TraceError: nothing useful can be read, in words. What can be read in part is returned, with notes.
    """
    opened = [
        (_plain(name) or "unnamed file", io.BytesIO(file) if isinstance(file, bytes) else file) for name, file in files
    ]
    if not opened:
        raise TraceError("No file was given.")
    notes: list[str] = []
    ranks = [read_rank(source, notes) for source in sources(opened, max_bytes, progress)]
    return together(ranks, notes)


def read_rank(source: Source, notes: list[str]) -> tuple[RankTrace, dict[str, Any]]:
    """One file as columns and the header's fields; what is missing from it is added to the notes."""
    scan, rows = Scan(source.pieces()), _Rows()
    for event in scan.events():
        rows.add(event)
        if rows.kept > MAX_EVENTS:
            raise TraceError(
                f"{source.name}: too large. It has more than {MAX_EVENTS:,} events of the GPU and of launches; record "
                "fewer steps."
            )
    fault = source.cut or scan.fault
    if not scan.is_trace:
        if source.cut:
            raise TraceError(f"{source.name}: {source.cut} before its list of events begins. Upload it again.")
        raise TraceError(
            f"{source.name} is not a PyTorch profiler trace: {fault or 'it has no traceEvents'}. Upload what "
            "prof.export_chrome_trace() or torch.profiler.tensorboard_trace_handler() wrote: JSON with a list named "
            "traceEvents."
        )
    if not rows.on_gpu:
        raise TraceError(_without_gpu(source.name, fault, rows))
    if fault:
        notes.append(
            f"{source.name}: {fault}. What stands before that is kept ({rows.seen:,} entries); the rest is missing."
        )
    if rows.lost_on_gpu > rows.on_gpu:
        raise TraceError(
            f"{source.name}: {rows.lost_on_gpu:,} of {rows.lost_on_gpu + rows.on_gpu:,} GPU events have no usable time "
            "or name, so what is left would say nothing of the GPU's time. Upload the file as the profiler wrote it."
        )
    if rows.broken:
        notes.append(f"{source.name}: events without a usable time or name: {rows.broken:,}, left out.")
    return sound(rows.columns(source.name, _gpu_name(scan.header)), rows.negative, notes), scan.header


class _Rows:
    """Columns that grow by one event."""

    def __init__(self) -> None:
        self.seen = self.broken = self.negative = self.on_gpu = self.lost_on_gpu = self.of_host = 0
        self._names: dict[str, int] = {}
        self._kind = array("B")
        self._time = array("d")  # start and duration in turn, in microseconds
        self._whole = array("q")  # device, stream, name, correlation, collective in turn
        self._message = array("d")

    def add(self, event: Any) -> None:
        """Take one value of the list of events; what is no complete event ("X") is none of ours."""
        self.seen += 1
        if type(event) is not dict or event.get("ph") != "X":
            self.broken += type(event) is not dict
            return
        category, name = event.get("cat"), event.get("name")
        if type(category) is not str or type(name) is not str:
            self.broken += category is not None
            self.lost_on_gpu += type(category) is str and _is_on_gpu(kind_of(category, ""))
            return
        kind = kind_of(category, name)
        if kind is None:
            self.of_host += 1
            return
        start, duration = _number(event.get("ts")), _number(event.get("dur", 0))
        if start is None or duration is None:
            self.broken += 1
            self.lost_on_gpu += _is_on_gpu(kind)
            return
        if duration < 0:
            self.negative += 1
            return
        args = event.get("args")
        if type(args) is not dict:
            args = {}
        self._kind.append(kind)
        self._time.extend((start, duration))
        device = stream = collective = NONE
        message = np.nan
        if kind <= LAST_GPU_KIND:
            self.on_gpu += 1
            device = _whole(args.get("device", event.get("pid")))
            stream = _whole(args.get("stream", event.get("tid")))
            if kind is Kind.COMMUNICATION:
                given = args.get("Collective name")
                collective = self._index(given) if type(given) is str and given else NONE
                elements, size = _whole(args.get("In msg nelems")), _ELEMENT_BYTES.get(str(args.get("dtype")))
                message = float(elements * size) if elements > 0 and size else np.nan
        self._whole.extend((device, stream, self._index(name), _whole(args.get("correlation")), collective))
        self._message.append(message)

    @property
    def kept(self) -> int:
        """Rows so far."""
        return len(self._kind)

    def _index(self, name: str) -> int:
        index = self._names.get(name)
        if index is None:
            index = self._names[name] = len(self._names)
        return index

    def columns(self, file: str, gpu: str) -> RankTrace:
        """All rows as arrays, sorted by start."""
        start, duration = np.frombuffer(self._time, dtype=np.float64).reshape(-1, 2).T
        order = np.argsort(start, kind="stable")
        kind = np.frombuffer(self._kind, dtype=np.uint8)[order]
        # Subtracted before it is scaled: absolute times in us since 1970 have no digits to lose. Counted from the first
        # GPU event, so that a stray time on the host costs none either.
        start = start[order]
        start = (start - start[np.argmax(kind <= LAST_GPU_KIND)]) * 1e-6
        whole = np.frombuffer(self._whole, dtype=np.int64).reshape(-1, 5)[order]
        device, stream, name, correlation, collective = (np.ascontiguousarray(column) for column in whole.T)
        return RankTrace(
            rank=NONE,
            file=file,
            gpu=gpu,
            names=tuple(_plain(name) for name in self._names),
            kind=kind,
            start_s=start,
            end_s=start + duration[order] * 1e-6,
            device=device,
            stream=stream,
            name=name,
            correlation=correlation,
            collective=collective,
            message_bytes=np.frombuffer(self._message, dtype=np.float64)[order],
        )


def _number(value: Any) -> float | None:
    """A finite time in us; older versions of the profiler wrote some as text."""
    if type(value) is str:
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if type(value) in (int, float) and abs(value) < 1e18 else None  # false for NaN


def _whole(value: Any) -> int:
    """A whole number, or NONE."""
    if type(value) is str and value.isdecimal() and len(value) < 16:
        value = int(value)
    return value if type(value) is int and 0 <= value < _LARGEST else NONE


def _plain(name: str) -> str:
    """A name that any encoding can carry: JSON may hold halves of a surrogate pair."""
    return name.encode("utf-8", "replace").decode()


def _gpu_name(header: dict[str, Any]) -> str:
    devices = header.get("deviceProperties")
    first = devices[0] if isinstance(devices, Sequence) and devices else None
    name = first.get("name") if isinstance(first, dict) else None
    return _plain(name) if isinstance(name, str) else ""


def _is_on_gpu(kind: Kind | None) -> bool:
    return kind is not None and kind <= LAST_GPU_KIND


def _without_gpu(name: str, fault: str, rows: _Rows) -> str:
    if fault:
        return f"{name}: {fault}, and before that stands no GPU event. Upload the whole file."
    if not rows.seen:
        return f"{name} is a trace without a single event."
    if rows.negative or rows.broken:
        return f"{name} has no GPU event with a usable time."
    what = "events of the host" if rows.of_host else "events of other kinds"
    return (
        f"{name} has {what} but no GPU event, so there is no GPU time to split. Record on a machine with a GPU, with "
        "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]; under a container, check that CUPTI may be used."
    )
