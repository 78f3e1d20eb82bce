"""Three races in Streamlit 1.67 that lose what a reader did or should see, and how this process avoids them.

A page that is being left. Between the click that leaves a page and the answer that shows the next one, a widget or a
component of the old page may still send an event. Streamlit runs that page's fragment after the new page and tells the
browser that the old page is back: it empties the screen, and the fragment then writes into nothing ("Bad delta path
index"). Streamlit itself stops its timers (`run_every`) at such a click, for this reason, but not other events
(https://github.com/streamlit/streamlit/pull/9617). So the server drops what a fragment of another page asks for.

The end of a run. A run's thread hands each message to the server's event loop, which sends it. If the thread is done
and the loop is behind (a busy machine), a fragment's event makes Streamlit start a new thread, and the loop then
throws away what is left of the run before: the last elements of the page stay as they were
(https://github.com/streamlit/streamlit/issues/9921). So a fragment waits until the run before has been sent.

An answer. Streamlit empties the queue of unsent messages when a run begins, but for those about the run itself. Thrown
away with them are answers that the browser asks for once: a file that is chosen while the page is about to be drawn
again is never uploaded, without a word. So answers stay in the queue.
"""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING

from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import get_script_run_ctx

from views._ui.private_api import written_for

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

# By session: the page that the browser asked for, until that page's run has begun.
_asked_for: dict[str, str] = {}
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
    _drop_requests_of_a_page_left()
    _send_a_run_to_its_end()
    _keep_answers()


def arrived() -> None:
    """The page that the browser asked for is this run's page now (or another, which the run chose)."""
    if run := get_script_run_ctx():
        _asked_for.pop(run.session_id, None)


def _drop_requests_of_a_page_left() -> None:
    request_rerun = AppSession.request_rerun

    @functools.wraps(request_rerun)
    def watched(session: AppSession, client_state: ClientState | None) -> None:
        if client_state is None or not _comes_from_a_page_left(session, client_state):
            request_rerun(session, client_state)

    AppSession.request_rerun = watched  # type: ignore[method-assign]


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


def _send_a_run_to_its_end() -> None:
    create = AppSession._create_scriptrunner

    @functools.wraps(create)
    def created(session: AppSession, initial_rerun_data: RerunData) -> None:
        if session._scriptrunner is None:
            create(session, initial_rerun_data)
        else:  # it has just refused this fragment, being done; the loop has yet to hear of that
            asyncio.get_running_loop().call_later(_LOOK_AGAIN_S, again, session, initial_rerun_data)

    def again(session: AppSession, data: RerunData) -> None:
        runner = session._scriptrunner
        if session._state is not AppSessionState.SHUTDOWN_REQUESTED and not (runner and runner.request_rerun(data)):
            created(session, data)

    AppSession._create_scriptrunner = created  # type: ignore[method-assign]


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
