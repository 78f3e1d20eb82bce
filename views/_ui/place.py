"""Where this server stands: on the reader's own machine, or where others reach it. It decides what a visitor may ask of

the machine. By default only a server that listens on the loopback address runs benchmarks; see docs/design.md.
"""

from __future__ import annotations

import ipaddress
import os

import streamlit as st

ALLOW = "RIDGEPOINT_ALLOW_GPU_RUNS"  # "1" or "0", in the environment or in Streamlit's secrets
_YES, _NO = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def listens_locally() -> bool:
    """Whether only this machine can reach the server. Unset means every address, and a socket file means a proxy."""
    address = str(st.get_option("server.address") or "").strip().lower()
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def runs_allowed() -> bool:
    """Whether visitors may start benchmarks on this machine: as configured, else where it listens locally."""
    said = _configured()
    return listens_locally() if said is None else said


def is_trusted() -> bool:
    """Whether visitors may use much of this machine: large uploads, long computations."""
    return runs_allowed() or listens_locally()


def _configured() -> bool | None:
    """The operator's word; None if there is none. The environment stands above the secrets."""
    words = [os.environ.get(ALLOW, "")]
    if st.secrets.load_if_toml_exists():
        words.append(str(st.secrets.get(ALLOW, "")))
    for word in words:
        if word.strip().lower() in _YES | _NO:
            return word.strip().lower() in _YES
    return None
