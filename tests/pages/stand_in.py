"""A browser for tests of pages that have none: it keeps a text as `assets/store.js` does.

    browser = Browser("a text stored on an earlier visit")
    at.session_state["progress.browser"] = browser.tab()
    ...
    assert "my answer" in browser.text

Each session needs a tab of its own; two tabs of one browser see each other's writes. `browser.error` makes writes
fail with one of `store.ERRORS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Event = tuple[str, dict[str, Any]]
Tab = Callable[[Message], list[Event]]


class Browser:
    """What is stored, by name, and the tabs that look at it."""

    def __init__(self, text: str | None = None, *, rev: str = "earlier") -> None:
        self.records: dict[str, dict[str, Any]] = {}
        self.error = ""
        self.now = 1_780_000_000_000  # ms
        if text is not None:
            self.records["current"] = self._record(rev, text)

    @property
    def text(self) -> str | None:
        record = self.records.get("current")
        return record["text"] if record else None

    def tab(self) -> Tab:
        """A function from a message to the events that answer it."""
        done: dict[str, int] = {}  # by session
        last: dict[str, Event] = {}

        def answer(message: Message) -> list[Event]:
            session = message["session"]
            if "commands" not in message:
                known = message["have"] if message["ready"] else []
                state = self._look(session, 0)
                return [] if state["rev"] in known else [("text", state)]
            fresh = [command for command in message["commands"] if command["id"] > done.get(session, 0)]
            if fresh:
                last[session] = self._obey(session, fresh)
                done[session] = fresh[-1]["id"]
            return [last[session]] if session in last else []

        return answer

    def _obey(self, session: str, commands: list[dict[str, Any]]) -> Event:
        error, stopped, hand_over = "", None, False
        for command in commands:
            outcome = self.error or self._carry_out(command)
            hand_over |= outcome in ("conflict", "restored")
            error = error if outcome in ("", "conflict", "restored") else outcome
            if outcome == "conflict" or self.error:
                stopped = command["id"]
                break
        state = self._look(session, commands[-1]["id"], error, stopped)
        return ("text", state) if hand_over else ("status", {k: v for k, v in state.items() if k != "text"})

    def _carry_out(self, command: dict[str, Any]) -> str:
        stored, backup = self.records.get("current"), self.records.get("backup")
        self.now += 1
        if command["op"] == "restore":
            if backup is None:
                return "no backup"
            if stored:
                self.records["backup"] = stored
            self.records["current"] = self._record(command["rev"], backup["text"])
            return "restored"
        if stored and stored["rev"] != command["rev"] and stored["rev"] not in command["bases"]:
            return "conflict"
        if stored and command["keep"]:
            self.records[f"unreadable/{stored['rev']}"] = stored
        if stored and command["backup"]:
            self.records["backup"] = stored
        self.records["current"] = self._record(command["rev"], command["text"])
        return ""

    def _record(self, rev: str, text: str) -> dict[str, Any]:
        return {"rev": rev, "text": text, "savedAt": self.now, "bytes": len(text.encode())}

    def _look(self, session: str, done: int, error: str = "", stopped: int | None = None) -> dict[str, Any]:
        state = {"session": session, "done": done, "stopped": stopped, "error": error, "backend": "indexeddb"}
        backup_at = self.records["backup"]["savedAt"] if "backup" in self.records else None
        nothing = {"rev": None, "text": None}
        return {**state, **nothing, "backupAt": backup_at, **self.records.get("current", {})}
