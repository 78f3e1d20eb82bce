"""Page tests without a browser: the real app.py in process, by Streamlit's AppTest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[2] / "app.py"
OpenPage = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def clear_caches() -> Iterator[None]:
    """Caches are shared by all sessions of a process, so each test starts and leaves with none."""
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def open_page() -> OpenPage:
    """`open_page("views/steps/partition.py", {"gpus": "64"})`: app.py with that page run; no path: the default page."""

    def run(page: str | None = None, query: dict[str, str] | None = None) -> AppTest:
        at = AppTest.from_file(str(APP), default_timeout=30)
        for name, value in (query or {}).items():
            at.query_params[name] = value
        at.run()
        return at.switch_page(page).run() if page else at

    return run
