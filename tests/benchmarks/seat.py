"""One seat of a mock interview without a browser: it polls, presses, and says when something has reached its screen."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Callable
from typing import Any

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.benchmarks.session import Session

Seen = Callable[[Any], bool]  # of an element that has arrived


class Seat(Session):
    """A :class:`Session` that reads all the time, as a browser does, and polls once a second."""

    def __init__(self, address: str, cookie: str, every_s: float = 1.0) -> None:
        super().__init__(address, cookie)
        self._every_s = every_s
        self._buttons: dict[str, tuple[str, str]] = {}  # key -> widget and fragment
        self._waits: list[tuple[Seen, asyncio.Future[float]]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.polls = 0

    async def __aenter__(self) -> Seat:
        await super().__aenter__()
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._poll())]
        return self

    async def __aexit__(self, *rest: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await super().__aexit__(*rest)

    def until(self, seen: Seen) -> asyncio.Future[float]:
        """When, on this machine's clock, the first element that is wanted arrives from now on."""
        waits = asyncio.get_running_loop().create_future()
        self._waits.append((seen, waits))
        return waits

    async def press(self, key: str) -> None:
        """Press the button of this key; what follows is read as it comes."""
        widget, fragment = self._buttons[key]
        message = self._message(fragment)
        message.rerun_script.widget_states.widgets.add(id=widget, trigger_value=True)
        await self._socket.send(message.SerializeToString())

    async def _poll(self) -> None:
        await asyncio.sleep(self._every_s * random.random())
        while True:
            component = self.find("room.pulse")
            message = self._message(self._fragments[component])
            beat = json.dumps([{"event": "beat", "value": "visible"}])
            trigger = _make_trigger_id(component, "events")
            message.rerun_script.widget_states.widgets.add(id=trigger, json_trigger_value=beat)
            await self._socket.send(message.SerializeToString())
            self.polls += 1
            await asyncio.sleep(self._every_s)

    def _message(self, fragment: str) -> BackMsg:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string = self._query
        rerun.page_script_hash = self._page_hash
        rerun.fragment_id = fragment
        rerun.cached_message_hashes.extend(self._held)
        return message

    async def _read(self) -> None:
        async for raw in self._socket:
            message = ForwardMsg.FromString(raw)
            if message.WhichOneof("type") == "delta":
                self._note(message)

    def _note(self, message: ForwardMsg) -> None:
        super()._note(message)
        element = message.delta.new_element
        if element.WhichOneof("type") == "button":
            key = element.button.id.rsplit("-", 1)[1] if "stretch.-" not in element.button.id else "console.stretch.-60"
            self._buttons[key] = (element.button.id, message.delta.fragment_id)
        for wait in [wait for wait in self._waits if wait[0](element)]:
            self._waits.remove(wait)
            with contextlib.suppress(asyncio.InvalidStateError):
                wait[1].set_result(time.perf_counter())
