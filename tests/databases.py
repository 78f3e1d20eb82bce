"""A real PostgreSQL server that the tests start and stop, for rooms beside a SQLite file.

Its programs come from Debian's package `postgresql` (`make test` installs it), or from the folder that POSTGRES names.
The server refuses to run as root, so it then runs as another user. Without the programs a test fails in words.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

NO_POSTGRESQL = (
    "These tests need the programs of a PostgreSQL server (initdb, postgres). Debian: apt-get install postgresql. "
    "Or set POSTGRES to the folder that holds them."
)
START_S = 60


class NoPostgresql(AssertionError):
    """The tests cannot be run; it is no reason to skip them."""


def programs() -> Path:
    """The folder with initdb and postgres; Debian keeps it off the path."""
    on_path = shutil.which("initdb")
    places = [Path(os.environ["POSTGRES"])] if os.environ.get("POSTGRES") else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    places += [Path(on_path).resolve().parent] if on_path else []
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    raise NoPostgresql(NO_POSTGRESQL)


def server_user() -> str | None:
    """As whom the server runs: another user where we are root, else ourselves."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a new, empty server on a socket in a folder of its own; both are gone afterwards."""
    bin_folder, user = programs(), server_user()
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # short: the path of a socket has at most 107 characters
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        init = [str(bin_folder / "initdb"), "-D", str(data), "-U", "rooms", "-A", "trust", "-E", "UTF8", "--no-sync"]
        _run([*init, "--locale=C"], user)
        # fsync off: the tests kill writers and never the machine.
        settings = ["listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "max_connections=60"]
        command = [str(bin_folder / "postgres"), "-D", str(data), *(part for row in settings for part in ("-c", row))]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log)
        try:
            url = f"postgresql://rooms@/postgres?host={folder}"
            _wait(url, server, folder / "log")
            yield url
        finally:
            server.send_signal(2)  # SIGINT: close connections and stop
            server.wait(timeout=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def empty(url: str) -> None:
    """Drop everything in a PostgreSQL database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")


def _run(command: list[str], user: str | None) -> None:
    done = subprocess.run(command, user=user, cwd="/tmp", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoPostgresql(f"{command[0]} failed: {done.stdout}{done.stderr}")


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(START_S * 20):
        if server.poll() is not None:
            break
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(url):
            return
        time.sleep(0.05)
    raise NoPostgresql(f"the PostgreSQL server did not start: {log.read_text(errors='replace')[-2000:]}")
