"""A process of its own that appends to a room and prints each seq once it is acknowledged. Killed at random by tests.

python -m tests.core.storage.writer URL ROOM NAME COUNT
"""

from __future__ import annotations

import sys

from core.storage.rooms import RoomStore


def main(url: str, room: str, name: str, count: str) -> None:
    store = RoomStore.open(url)
    for number in range(int(count)):
        seq = store.append(room, "candidate", "note", {"text": f"{name} {number}"}, client_id=f"{name}:{number}")
        print(f"{seq} {name}:{number}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
