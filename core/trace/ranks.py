"""Several files as one job: each rank once, of one world, on the same steps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from core.trace.columns import RankTrace, Trace, TraceError
from core.trace.steps import only_steps, step_ranges

_IN_FILE_NAME = re.compile(r"rank[_-]?(\d{1,6})(?!\d)", re.IGNORECASE)
_SHOWN = 8


def together(ranks: list[tuple[RankTrace, dict[str, Any]]], notes: list[str]) -> Trace:
    """Ranks in order, all on the steps that they share.

    Args:
        ranks: columns of each file, and the other fields of its trace: ``distributedInfo`` tells rank and world size.
        notes: what is known to be missing so far; more is added.

    Raises:
        TraceError: two files are of one rank, of different jobs, or share no step.
    """
    numbered = _numbered(ranks, notes)
    _of_one_world([header for _, header in ranks], numbered, notes)
    return Trace(tuple(_on_shared_steps(numbered, notes)), tuple(notes))


def _numbered(ranks: list[tuple[RankTrace, dict[str, Any]]], notes: list[str]) -> list[RankTrace]:
    taken: dict[int, str] = {}
    unknown = []
    numbered = []
    for trace, header in ranks:
        rank = _whole(header, "rank")
        named = _IN_FILE_NAME.search(trace.file)
        rank = int(named[1]) if rank is None and named else rank
        if rank is None:
            unknown.append(trace)
            continue
        if rank in taken:
            raise TraceError(
                f"{taken[rank]} and {trace.file} are both of rank {rank}. Upload one file for each rank of a recording."
            )
        taken[rank] = trace.file
        numbered.append(replace(trace, rank=rank))
    free = (rank for rank in range(len(ranks)) if rank not in taken)
    numbered += [replace(trace, rank=next(free)) for trace in unknown]
    if unknown and len(ranks) > 1:
        notes.append(
            f"{_list(trace.file for trace in unknown)} do not say which rank they are; ranks follow the order."
        )
    return sorted(numbered, key=lambda trace: trace.rank)


def _of_one_world(headers: list[dict[str, Any]], ranks: list[RankTrace], notes: list[str]) -> None:
    sizes = {size for header in headers if (size := _whole(header, "world_size"))}
    if len(sizes) > 1:
        raise TraceError(
            f"The files come from different jobs: of {_list(sorted(sizes), ' and ')} ranks. Upload one job at a time."
        )
    (world,) = sizes or {len(ranks)}
    if len(ranks) < world:
        notes.append(f"{len(ranks)} of the job's {world} ranks were given; a straggler among the others stays unseen.")


def _on_shared_steps(ranks: list[RankTrace], notes: list[str]) -> list[RankTrace]:
    steps = {trace.rank: {int(number) for number in step_ranges(trace)[0]} for trace in ranks}
    with_steps = [numbers for numbers in steps.values() if numbers]
    if len(ranks) < 2 or not with_steps:
        return ranks
    if len(with_steps) < len(ranks):
        notes.append(
            f"Rank {_list(r for r, n in steps.items() if not n)} has no ProfilerStep#; it is split as a whole."
        )
    shared = set.intersection(*with_steps)
    if not shared:
        each = "; ".join(f"rank {rank}: {_list(sorted(numbers))}" for rank, numbers in list(steps.items())[:_SHOWN])
        raise TraceError(f"The ranks were recorded in different steps ({each}). Use the same schedule on every rank.")
    if all(numbers == shared for numbers in with_steps):
        return ranks
    kept = [
        only_steps(trace, shared) if steps[trace.rank] != shared and steps[trace.rank] else trace for trace in ranks
    ]
    notes.append(f"The ranks do not have the same steps; only those that all have are kept: {_list(sorted(shared))}.")
    for trace in kept:
        if not np.any(trace.on_gpu):
            raise TraceError(
                f"{trace.file} has no GPU event in the steps that the ranks share ({_list(sorted(shared))})."
            )
    return kept


def _whole(header: dict[str, Any], field: str) -> int | None:
    about = header.get("distributedInfo")
    value = about.get(field) if isinstance(about, dict) else None
    return value if type(value) is int and 0 <= value < 1 << 31 else None


def _list(items: Iterable[object], comma: str = ", ") -> str:
    words = [str(item) for item in items]
    more = f"{comma}and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return comma.join(words[:_SHOWN]) + more
