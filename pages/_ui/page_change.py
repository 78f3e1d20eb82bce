"""A page that is being left may not draw itself again.

Between the click that leaves a page and the answer that shows the next one, a widget or a component of the old page
may still send an event. Streamlit 1.67 runs that page's fragment after the new page and tells the browser that the old
page is back: it empties the screen, and the fragment then writes into nothing ("Bad delta path index"). Streamlit
itself stops its timers (`run_every`) at such a click, for this reason, but not other events
(https://github.com/streamlit/streamlit/pull/9617). So the server drops what a fragment of another page asks for.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState

# By session: the page that the browser asked for, until that page's run has begun.
_asked_for: dict[str, str] = {}


@functools.cache
def guard() -> None:
    """Look at what every browser of this process asks for, from now on."""
    request_rerun = AppSession.request_rerun

    @functools.wraps(request_rerun)
    def watched(session: AppSession, client_state: ClientState | None) -> None:
        if client_state is None or not _comes_from_a_page_left(session, client_state):
            request_rerun(session, client_state)

    AppSession.request_rerun = watched  # type: ignore[method-assign]


def arrived() -> None:
    """The page that the browser asked for is this run's page now (or another, which the run chose)."""
    if run := get_script_run_ctx():
        _asked_for.pop(run.session_id, None)


def _comes_from_a_page_left(session: AppSession, client_state: ClientState) -> bool:
    page = client_state.page_script_hash  # empty before the browser has been told one
    shown = session._pages_manager.current_page_script_hash
    if client_state.fragment_id:
        return bool(page) and page != _asked_for.get(session.id, shown)
    if page and page != shown:
        _asked_for[session.id] = page
    else:
        _asked_for.pop(session.id, None)
    return False
