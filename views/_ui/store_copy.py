"""What a session knows of the text in the browser, and how the two agree on it: the protocol of `store`.

Every write makes a revision and names those it may replace. If the browser holds another one, another tab has
written meanwhile: the browser keeps it and hands it over, ``merge`` joins the two, and the result is written. Any
message may be lost or come twice: commands are numbered and obeyed once, and what nobody confirmed is sent again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Merge = Callable[[str, str], str]
Check = Callable[[str], object]

ERRORS = {
    "quota": "This browser has no room left: your last change is not saved, the copy before it still is. "
    "Download your progress, free some space, then try again.",
    "refused": "This browser lets pages keep nothing (a private window, or a setting that blocks site data). "
    "Your progress lasts until you reload or close this tab: download it before.",
    "failed": "This browser could not reach its own storage: your last change is not saved. "
    "Download your progress, then try again or restart the browser.",
    "no backup": "There is no earlier copy to go back to in this browser.",
}


@dataclass(frozen=True, slots=True)
class Health:
    """How the copy in the browser is doing, as of the browser's last word."""

    backend: str = ""  # "indexeddb", "localstorage", "none"; empty until the browser has answered
    saved_at: datetime | None = None  # UTC, by the browser's clock
    num_bytes: int = 0  # of the stored text, in UTF-8
    backup_at: datetime | None = None  # when the backup's text had been saved; None: there is no backup
    error: str = ""  # a sentence for the reader

    def sentence(self, now: datetime | None = None) -> str:
        """The line for a page's foot: `Saved 3 s ago in this browser, 41 kB.`"""
        if self.error:
            return self.error
        if self.saved_at is None:
            return "Nothing is kept in this browser yet."
        seconds = max(0, int(((now or datetime.now(UTC)) - self.saved_at).total_seconds()))
        steps = [(86_400, "days"), (3_600, "h"), (60, "min"), (0, "s")]
        step, unit = next((step, unit) for step, unit in steps if seconds >= (2 * step if unit == "days" else step))
        age = f"{seconds // step if step else seconds} {unit}"
        size = f"{self.num_bytes / 1e6:.1f} MB" if self.num_bytes >= 999_500 else f"{-(-self.num_bytes // 1000)} kB"
        return f"Saved {age} ago in this browser, {size}."


@dataclass(slots=True)
class Copy:
    """What the session knows of the text, and the commands that the browser has not confirmed."""

    key: str
    merge: Merge | None = None
    check: Check | None = None
    session: str = field(default_factory=lambda: secrets.token_hex(8))
    ready: bool = False
    text: str | None = None
    own: list[str | None] = field(default_factory=lambda: [None])  # revisions that may be stored if nobody else wrote
    commands: list[dict[str, Any]] = field(default_factory=list)
    last_id: int = 0  # of the newest command
    sent_id: int = 0  # of the newest command that this page has sent; `mount` sends again what is not confirmed
    sent: int = 0  # messages
    asked: int = 0  # questions so far; a new number is a new question
    failed: bool = False  # `text` is not stored, and no command is under way that stores it
    backup_due: bool = False  # the next write first copies what is stored to the backup
    conflict: str | None = None
    unreadable: str | None = None
    why_unreadable: str = ""
    keep: bool = False  # the stored text is unreadable: the next write keeps a copy of it
    health: Health = Health()
    mounted_in: object = None  # the run that connected it last
    fragments: set[str | None] = field(default_factory=set)  # whose callbacks need not draw; None: the whole page

    # What pages order.

    def command(self, op: str, **more: Any) -> None:
        self.last_id += 1
        self.commands.append({"id": self.last_id, "op": op, **more})

    def save(self, text: str, *, drop_aside: bool = False) -> bool:
        """Order a write, unless the text is what the browser has or is about to have."""
        if text == self.text and not (self.failed or self.keep or drop_aside or self.conflict is not None):
            return False
        last = self.commands[-1] if self.commands else None
        if last and last["op"] == "write" and not (last["keep"] or last["backup"] or last["dropAside"]):
            self.commands.pop()  # it may be carried out or not: both are among the revisions that this one replaces
        revision = secrets.token_hex(8)
        flags = {"keep": self.keep, "backup": self.backup_due, "dropAside": drop_aside}
        self.command("write", rev=revision, bases=list(self.own), text=text, **flags)
        self.own.append(revision)
        self.text, self.conflict, self.failed, self.keep, self.backup_due = text, None, False, False, False
        return True

    # What the browser says. True: pages must be drawn again.

    def hear(self, event: str, value: object) -> bool:
        if not isinstance(value, dict) or value.get("session") != self.session:
            return False  # not from our own script, or meant for a session that is gone
        before = self._face()
        self.health = _health(value)
        refused = self._settle(int(value.get("done") or 0), value.get("stopped"))
        if event == "text" and value.get("backend") not in ("", "none"):
            self._hear_text(value, refused or self.failed)
        elif event == "text":
            self.ready, self.failed = True, self.failed or refused  # nothing could be read: what is known stands
        elif refused:
            self.failed = True
        else:
            self._confirm(value.get("rev"))
        return self._face() != before

    def _settle(self, done: int, stopped: int | None) -> bool:
        """Forget the commands up to `done`. True: a write was among those not carried out, from `stopped` on."""
        dropped = [command for command in self.commands if command["id"] <= done]
        self.commands = [command for command in self.commands if command["id"] > done]
        refused = [command for command in dropped if stopped and command["id"] >= stopped and command["op"] == "write"]
        self.keep |= any(command["keep"] for command in refused)
        self.backup_due |= any(command["backup"] for command in refused)
        return bool(refused)

    def _face(self) -> tuple[object, ...]:
        return self.ready, self.text, self.conflict, self.unreadable, self.health.error

    def _writes_wait(self) -> bool:
        return any(command["op"] == "write" for command in self.commands)

    def _confirm(self, revision: str | None) -> None:
        if revision in self.own:
            self.own = self.own[self.own.index(revision) :]

    def _hear_text(self, value: dict[str, Any], unsaved: bool) -> None:
        revision, theirs, aside = value.get("rev"), value.get("text"), value.get("aside")
        known = revision in self.own and (self.ready or revision is None)
        mine = self.text if unsaved or self._writes_wait() else None
        self.ready = True
        if known:
            self._confirm(revision)
        else:
            self._take(mine, theirs, revision, damaged=bool(value.get("damaged")))
        if isinstance(aside, str):
            self._join(aside)

    def _take(self, mine: str | None, theirs: str | None, revision: str | None, *, damaged: bool) -> None:
        """The stored text is news. Writes under way are based on an older one, and the browser will refuse them."""
        if self._writes_wait():
            self._settle(self.last_id, 1)
        self.own, self.text, self.conflict, self.failed, self.keep = [revision], theirs, None, False, False
        self.unreadable, self.why_unreadable = None, ""
        joined = mine
        try:
            if damaged:
                raise ValueError("it is not in the form in which this app keeps it")
            if theirs is not None:
                if self.check:
                    self.check(theirs)
                if mine is not None and self.merge:
                    joined = self.merge(mine, theirs)
        except ValueError as error:
            self.unreadable, self.why_unreadable = theirs, str(error)
            self.text, self.keep = None, True
        else:
            if mine is not None and theirs is not None and not self.merge:
                self.text, self.conflict, self.failed = mine, theirs, True
                return
        if joined is not None:
            self.save(joined)

    def _join(self, aside: str) -> None:
        """A text that was kept in the other place while this one did not answer."""
        try:
            if self.check:
                self.check(aside)
            joined = aside if self.text is None else self.merge(self.text, aside) if self.merge else None
        except ValueError:
            return  # it stays where it is
        if joined is not None:
            self.save(joined, drop_aside=True)


def _health(value: dict[str, Any]) -> Health:
    code = value.get("error") or ""
    return Health(
        backend=str(value.get("backend") or ""),
        saved_at=_time(value.get("savedAt")),
        num_bytes=int(value.get("bytes") or 0),
        backup_at=_time(value.get("backupAt")),
        error=ERRORS.get(code, ERRORS["failed"]) if code else "",
    )


def _time(milliseconds: object) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if isinstance(milliseconds, int | float) else None
