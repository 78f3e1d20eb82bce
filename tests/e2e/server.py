"""Start the app as a user would, and the browser to look at it: shared by browser tests, screenshots and benchmarks."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app.py"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
# No sandbox: tests run as root in containers. The rest keeps Chromium from calling its maker's hosts.
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True, slots=True)
class Server:
    """A running Streamlit server and where its output goes."""

    url: str
    process: subprocess.Popen[bytes]
    log_path: Path

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running_server(script: Path = APP, *flags: str, timeout_s: float = 60, port: int | None = None) -> Iterator[Server]:
    """A new process that serves `script` on a free port, with the repository's configuration, as `make run` does."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true", "--server.fileWatcherType", "none"]
    with tempfile.TemporaryDirectory() as folder:
        log_path = Path(folder) / "server.log"
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                [*command, *flags], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        server = Server(f"http://127.0.0.1:{port}", process, log_path)
        try:
            _wait_until_healthy(server, timeout_s)
            yield server
        finally:
            _stop(process)


def _wait_until_healthy(server: Server, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise RuntimeError(f"the server stopped while starting:\n{server.log()}")
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=1) as answer:
            answer.read()
            return
        time.sleep(0.05)
    raise TimeoutError(f"the server was not healthy after {timeout_s} s:\n{server.log()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def chromium_path() -> str:
    """$CHROMIUM, else the first browser of the Chromium family on the path."""
    names = [os.environ["CHROMIUM"]] if os.environ.get("CHROMIUM") else CHROMIUM_NAMES
    for name in names:
        if path := shutil.which(name):
            return path
    raise RuntimeError(f"no browser found: looked for {', '.join(names)}; install chromium or set CHROMIUM to its path")


def launch_chromium(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)


def wait_idle(page: Page, *, settle_ms: float = 100, timeout_ms: float = 30_000) -> None:
    """Wait until Streamlit has nothing to do: its root element carries the state of connection and script.

    `settle_ms` first gives a change just made in the page the time to be sent.
    """
    page.wait_for_timeout(settle_ms)
    root = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
    page.wait_for_selector(root, state="attached", timeout=timeout_ms)
