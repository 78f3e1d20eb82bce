"""What is wrapped of Streamlit's inner code (races.py, room_polls.py) comes with no promise: look before it is used."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import streamlit as st


def written_for(function: Callable[..., Any], *parameters: str) -> None:
    """Refuse a function of Streamlit that takes other parameters than its wrapper here was written for.

    Raises:
        RuntimeError: it does: another version, under which events could be lost without a word.
    """
    found = tuple(inspect.signature(function).parameters)
    if found != parameters:
        raise RuntimeError(
            f"Streamlit {st.__version__} is not the version that this app was written for: {function.__qualname__} "
            f"takes {', '.join(found)}, not {', '.join(parameters)}. Install what requirements.txt names."
        )
