"""Kill a writing process at random moments and look at what is left: shared by the suite and the long benchmark."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from core.storage.rooms import Draft, RoomStore

ROOT = Path(__file__).resolve().parents[3]


def start_writer(url: str, room: str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.core.storage.writer", url, room, name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def kill_at_random(url: str, store: RoomStore, moments: int, seed: int) -> int:
    """Kill so many writers of one room and assert that nothing acknowledged is lost; returns how many events were."""
    stream = random.Random(seed)
    room = store.create_room(Draft("interviewer", "opened")).room
    acknowledged: list[str] = ["1 "]
    for moment in range(moments):
        writer = start_writer(url, room, f"w{moment}", 100_000)
        assert writer.stdout is not None
        acknowledged.append(writer.stdout.readline())  # it has begun
        time.sleep(stream.random() * 0.2)
        writer.kill()
        rest, _ = writer.communicate()
        acknowledged += rest.splitlines()
        log = store.events(room)
        assert [event.seq for event in log] == list(range(1, len(log) + 1))
        kept = {f"{event.seq} {event.client_id}" for event in log}
        lost = {line.strip() for line in acknowledged[1:]} - kept
        assert not lost
        assert store.revision(room) == len(log)
    assert store.append(room, "candidate", "note", {"text": "after"}, client_id="after") == len(log) + 1
    return len(acknowledged)
