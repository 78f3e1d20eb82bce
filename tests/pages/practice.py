"""Practice pages in tests: the real app with a stand-in for the browser's store, and short ways to press and read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.pages.stand_in import Browser

APP = Path(__file__).resolve().parents[2] / "app.py"


def _sent(node: Any) -> Iterator[str]:
    """The message of each node of the page, decoded: texts lie in it as they are."""
    if (proto := getattr(node, "proto", None)) is not None:
        yield proto.SerializeToString().decode("utf-8", "ignore")
    for child in getattr(node, "children", {}).values():
        yield from _sent(child)


class Visit:
    """One session on one page; ``browser`` keeps progress between visits."""

    def __init__(self, page: str, query: dict[str, str] | None = None, browser: Browser | None = None) -> None:
        self.browser = browser or Browser()
        self.own = Browser()
        self.at = AppTest.from_file(str(APP), default_timeout=30)
        self.at.session_state["progress.browser"] = self.browser.tab()
        self.at.session_state["own-cards.browser"] = self.own.tab()
        self.at.run()
        for name, value in (query or {}).items():
            self.at.query_params[name] = value
        self.at = self.at.switch_page(f"views/practice/{page}.py").run()

    def press(self, label: str) -> None:
        """Press the first button whose label begins so."""
        next(button for button in self.at.button if button.label.startswith(label)).click().run()
        assert not self.at.exception

    def labels(self) -> list[str]:
        """Labels of all buttons."""
        return [button.label for button in self.at.button]

    def says(self) -> str:
        """Everything that stands on the page as text."""
        kinds = (self.at.markdown, self.at.error, self.at.warning, self.at.info, self.at.success, self.at.caption)
        parts = [element.value for kind in kinds for element in kind]
        parts += [f"{metric.label}: {metric.value}" for metric in self.at.metric]
        parts += [element.value for element in (*self.at.subheader, *self.at.title, *self.at.header)]
        return "\n".join(map(str, parts))

    def payload(self) -> str:
        """All that was sent to the browser, as text: what a curious reader could find there."""
        return "\n".join(_sent(self.at._tree))

    def log(self) -> list[dict[str, Any]]:
        """The attempts that the browser keeps."""
        return json.loads(self.browser.text)["attempts"] if self.browser.text else []
