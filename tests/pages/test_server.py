"""TCP_NODELAY reaches the listening socket and, through it, connections made later."""

import contextlib
import os
import socket
import sys

import pytest

from views._ui import server


@pytest.fixture
def untuned():
    server.tune_server.cache_clear()
    yield
    server.tune_server.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_later_connections_inherit_it(untuned):
    # As Streamlit opens it: family and kind, no protocol.
    with contextlib.closing(socket.socket(socket.AF_INET)) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        assert not listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert server.tune_server() >= 1
        with socket.create_connection(listening.getsockname()), contextlib.closing(listening.accept()[0]) as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert listening.fileno() >= 0  # still ours


def test_it_leaves_other_files_and_sockets_alone(untuned):
    ours, theirs = socket.socketpair()
    with ours, theirs, open(os.devnull) as file:
        server.tune_server()
        ours.sendall(b"still here")
        assert theirs.recv(16) == b"still here"
        assert not file.closed


def test_elsewhere_than_on_linux_it_does_nothing(untuned, monkeypatch, tmp_path):
    monkeypatch.setattr(server, "_OPEN_FILES", tmp_path / "none")
    assert server.tune_server() == 0
