"""Two ranks that save into a temporary folder, and a crash in the middle of a write."""

import json
import tempfile
from pathlib import Path

RANKS = (0, 1)
PARTS = ("weights", "optimizer", "schedule", "random", "position")


class Killed(Exception):
    """The process is gone."""


class Unfinished(list):
    """A list that lives long enough to be written in part."""

    def __iter__(self):
        yield from super().__iter__()
        raise Killed


def training_of(rank, weights=list):
    return {part: weights([rank, rank]) if part == "weights" else rank for part in PARTS}


def saved(code, folder):
    """Both ranks save at step 100."""
    for rank in RANKS:
        code.save(folder, rank, training_of(rank), 100)


def killed_at_the_next(code, folder):
    """Rank 0 begins to save at step 200 and is killed."""
    try:
        code.save(folder, 0, training_of(0, Unfinished), 200)
    except Killed:
        return
    raise AssertionError("the write should not have come to an end")


def resumed(folder, rank):
    """What a rank reads back: its own file if there is one, else the file for all; None if it is damaged."""
    files = sorted(folder.rglob("*.json"))
    own = [path for path in files if f"rank-{rank}" in path.name]
    try:
        return json.loads((own or files)[-1].read_text())
    except json.JSONDecodeError:
        return None


def demonstrate(code):
    """Whose weights rank 0 finds, what it can go on from, and what a crash leaves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        saved(code, folder)
        found = resumed(folder, 0)
        killed_at_the_next(code, folder)
        after = resumed(folder, 0)
    left = "nothing that can be read" if after is None else "the checkpoint before it"
    return "\n".join(
        [
            f"rank 0 reads back the weights of rank {found['weights'][0]}",
            f"saved: {', '.join(found)}",
            f"killed during the next write: {left} is left",
        ]
    )
