"""What is asked for while a run is being sent waits, in its order; with a browser: tests/e2e/test_slow_answers.py."""

import asyncio
from types import SimpleNamespace

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

from views._ui import races


def test_requests_wait_for_the_end_of_a_run_and_none_overtakes_another(monkeypatch):
    ran: list[str] = []

    def request_rerun(session, client_state):  # a fragment is refused by a thread that is done, the whole page never
        if client_state.fragment_id:
            AppSession._create_scriptrunner(session, client_state)
        else:
            ran.append("page")

    monkeypatch.setattr(AppSession, "request_rerun", request_rerun)
    monkeypatch.setattr(AppSession, "_create_scriptrunner", lambda session, data: ran.append(data.fragment_id))
    races._watch_requests()
    session = SimpleNamespace(
        id="one", _scriptrunner="done", _pages_manager=SimpleNamespace(current_page_script_hash="")
    )

    async def ask() -> None:
        for fragment in ("first", "", "last"):
            AppSession.request_rerun(session, ClientState(fragment_id=fragment))
        await asyncio.sleep(0.05)
        assert ran == []
        session._scriptrunner = None
        await asyncio.sleep(0.05)

    asyncio.run(ask())
    assert ran == ["first", "page", "last"]
    assert "one" not in races._waiting
