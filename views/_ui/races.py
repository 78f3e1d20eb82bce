"""Three races in Streamlit 1.67 that lose what a reader did or should see, and how this process avoids them.

A page that is being left. Between the click that leaves a page and the answer that shows the next one, a widget or a
component of the old page may still send an event. Streamlit runs that page's fragment after the new page and tells the
browser that the old page is back: it empties the screen, and the fragment then writes into nothing ("Bad delta path
index"). Streamlit itself stops its timers (`run_every`) at such a click, for this reason, but not other events
(https://github.com/streamlit/streamlit/pull/9617). So the server drops what a fragment of another page asks for.

The end of a run. A run's thread hands each message to the server's event loop, which sends it. If the thread is done
and the loop is behind (a busy machine), a fragment's event makes Streamlit start a new thread, and the loop then
throws away what is left of the run before: the last elements of the page stay as they were
(https://github.com/streamlit/streamlit/issues/9921). So a fragment waits until the run before has been sent, and what
is asked for meanwhile waits behind it.

An answer. Streamlit empties the queue of unsent messages when a run begins, but for those about the run itself. Thrown
away with them are answers that the browser asks for once: a file that is chosen while the page is about to be drawn
again is never uploaded, without a word. So answers stay in the queue.
"""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from typing import TYPE_CHECKING

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import get_script_run_ctx

from views._ui.private_api import written_for

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

# By session: the page that the browser asked for, until that page's run has begun.
_asked_for: dict[str, str] = {}
# By session: requests that wait for the end of a run, the oldest first; the first of them is being tried.
_waiting: dict[str, deque[ClientState | None]] = {}
_ANSWERS = {"file_urls_response", "backend_operation_response", "heartbeat_ack"}
_LOOK_AGAIN_S = 0.002


@functools.cache
def guard() -> None:
    """Avoid them in this process, from now on.

    Raises:
        RuntimeError: this Streamlit is another one.
    """
    written_for(AppSession.request_rerun, "self", "client_state")
    written_for(AppSession._create_scriptrunner, "self", "initial_rerun_data")
    written_for(ForwardMsgQueue.clear, "self", "retain_lifecycle_msgs", "fragment_ids_this_run")
    _watch_requests()
    _keep_answers()


def arrived() -> None:
    """The page that the browser asked for is this run's page now (or another, which the run chose)."""
    if run := get_script_run_ctx():
        _asked_for.pop(run.session_id, None)


class _NotYet(Exception):
    """The run before has ended, and the event loop has yet to send the rest of it."""


def _watch_requests() -> None:
    request_rerun, create = AppSession.request_rerun, AppSession._create_scriptrunner

    @functools.wraps(create)
    def created(session: AppSession, initial_rerun_data: RerunData) -> None:
        if session._scriptrunner is not None:  # it has just refused a fragment
            raise _NotYet
        create(session, initial_rerun_data)

    @functools.wraps(request_rerun)
    def requested(session: AppSession, client_state: ClientState | None) -> None:
        if client_state is not None and _comes_from_a_page_left(session, client_state):
            return
        # Each request carries the values of all controls: an older one run after a newer one would put them back.
        waiting = _waiting.setdefault(session.id, deque())
        waiting.append(client_state)
        if len(waiting) == 1:
            in_order(session, waiting)

    def in_order(session: AppSession, waiting: deque[ClientState | None]) -> None:
        while waiting:
            try:
                request_rerun(session, waiting[0])
            except _NotYet:
                asyncio.get_running_loop().call_later(_LOOK_AGAIN_S, in_order, session, waiting)
                return
            except BaseException:
                waiting.popleft()
                raise
            waiting.popleft()
        _waiting.pop(session.id, None)

    AppSession._create_scriptrunner = created  # type: ignore[method-assign]
    AppSession.request_rerun = requested  # type: ignore[method-assign]


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


def _keep_answers() -> None:
    clear = ForwardMsgQueue.clear

    @functools.wraps(clear)
    def kept(queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, *args: object, **kwargs: object) -> None:
        # Without `retain_lifecycle_msgs` the messages have been sent, or nobody is there to hear them.
        answers = [message for message in queue._queue if message.WhichOneof("type") in _ANSWERS]
        clear(queue, retain_lifecycle_msgs, *args, **kwargs)  # type: ignore[arg-type]
        if retain_lifecycle_msgs:
            queue._queue = [*answers, *(message for message in queue._queue if message not in answers)]

    ForwardMsgQueue.clear = kept  # type: ignore[method-assign]
