"""A Streamlit session without a browser: connect, run a page, move one of its controls, wait for the rerun to end.

It does what the browser does with a message: keeps the address, the page and every value set so far, sends them with
each rerun, and says which large messages it still holds, so that the server sends their hashes only.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any
from urllib.parse import urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

CONTROLS = {"slider", "bidi_component"}
RUNS_KEPT = 2  # a browser drops a large message that the last two runs did not use


class Session:
    """One visitor. `address` is the page's, query included: http://127.0.0.1:8501/partition?gpus=64."""

    def __init__(self, address: str, cookie: str = "") -> None:
        parts = urlsplit(address)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._query = parts.query
        self._page_name = parts.path.strip("/")
        self._cookie = cookie
        self._page_hash = ""
        self._controls: dict[str, Any] = {}  # widget id -> its protobuf
        self._fragments: dict[str, str] = {}  # widget id -> the fragment that holds it
        self._held: dict[str, int] = {}  # hash of a large message -> the run that used it last
        self._run = 0
        self._states: dict[str, Any] = {}
        self.errors: list[str] = []
        self.run_bytes = 0

    async def __aenter__(self) -> Session:
        stream = self._origin.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = await websockets.connect(
            stream,
            subprotocols=["streamlit"],
            origin=self._origin,
            additional_headers={"Cookie": self._cookie} if self._cookie else {},
            max_size=None,
            compression=None,
            open_timeout=60,
        )
        await self._rerun("")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    def data(self, key: str) -> Any:
        """What Python gave to a component at its last drawing."""
        return json.loads(self.component(key).json)

    def component(self, key: str) -> Any:
        """A component as it was drawn last."""
        return self._controls[self.find(key)]

    def find(self, key: str) -> str:
        """The id of the control with that `key`, which Streamlit writes at the id's end."""
        ids = [widget_id for widget_id in self._controls if widget_id.endswith(f"-{key}")]
        if len(ids) != 1:
            raise LookupError(f"{len(ids)} controls have the key {key!r}; the page has {sorted(self._controls)}")
        return ids[0]

    async def slide(self, key: str, value: float) -> float:
        """Release an st.slider or st.select_slider (then the value is the option's index); seconds until done."""
        return await self._set(self.find(key), "slider", value)

    async def commit(self, key: str, name: str, value: object) -> float:
        """What `setStateValue(name, value)` in a component sends; seconds until done."""
        return await self._set(self.find(key), "component", {name: value})

    async def _set(self, widget_id: str, kind: str, value: Any) -> float:
        self._states[widget_id] = (kind, value)
        return await self._rerun(self._fragments[widget_id])

    async def _rerun(self, fragment: str) -> float:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string = self._query
        rerun.page_script_hash = self._page_hash
        rerun.page_name = "" if self._page_hash else self._page_name
        rerun.fragment_id = fragment
        rerun.cached_message_hashes.extend(self._held)
        for widget_id, (kind, value) in self._states.items():
            state = rerun.widget_states.widgets.add(id=widget_id)
            if kind == "slider":
                state.double_array_value.data.append(value)
            else:
                state.json_value = json.dumps(value)
        start = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        await self._until_finished()
        return time.perf_counter() - start

    async def _until_finished(self) -> None:
        self.run_bytes = 0
        self._run += 1
        while True:
            raw = await asyncio.wait_for(self._socket.recv(), timeout=60)
            self.run_bytes += len(raw)
            message = ForwardMsg.FromString(raw)
            match message.WhichOneof("type"):
                case "delta":
                    self._note(message)
                case "navigation":
                    self._page_hash = message.navigation.page_script_hash
                case "ref_hash":
                    self._held[message.ref_hash] = self._run
                case "page_info_changed":
                    self._query = message.page_info_changed.query_string
                case "script_finished" if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    break
        self._held = {each: run for each, run in self._held.items() if run > self._run - RUNS_KEPT}

    def _note(self, message: ForwardMsg) -> None:
        if message.metadata.cacheable and message.hash:
            self._held[message.hash] = self._run
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        elif kind in CONTROLS:
            control = getattr(element, kind)
            self._controls[control.id] = control
            self._fragments[control.id] = message.delta.fragment_id
