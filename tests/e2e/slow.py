"""A page whose server's answers come late, as over a bad line or from a busy machine, in unchanged order."""

from __future__ import annotations

from playwright.sync_api import Page

# Every listener of a WebSocket's messages is called later by window.answerDelayMs.
_DELAYED = """
window.answerDelayMs = %d;
const later = listener => event => setTimeout(() => listener(event), window.answerDelayMs);
const Native = window.WebSocket;
window.WebSocket = class extends Native {
    set onmessage(listener) { super.onmessage = listener && later(listener); }
    get onmessage() { return super.onmessage; }
    addEventListener(kind, listener, ...rest) {
        super.addEventListener(kind, kind === "message" ? later(listener) : listener, ...rest);
    }
};
"""


def slow_from_the_start(page: Page, delay_ms: int) -> None:
    """To be called before the page that is to be slow is loaded."""
    page.add_init_script(_DELAYED % delay_ms)


def slow_from_now_on(page: Page, delay_ms: int) -> None:
    """For a page that was loaded with `slow_from_the_start`."""
    page.evaluate("ms => { window.answerDelayMs = ms; }", delay_ms)
