"""The Python side of the browser store, against a stand-in for the browser; the browser's side is in tests/e2e."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from tests.pages.stand_in import Browser, Event, Tab
from views._ui.store import _question
from views._ui.store_copy import Copy, Health


def union(mine: str, theirs: str) -> str:
    return "\n".join(dict.fromkeys([*theirs.splitlines(), *mine.splitlines()]))


def readable(text: str) -> None:
    if "{broken" in text:
        raise ValueError("its lines are broken")


class Session:
    """One session at one tab, with nothing of Streamlit: what `mount` and `Store` do, message by message."""

    def __init__(self, browser: Browser, merge: Callable[[str, str], str] | None = union) -> None:
        self.copy, self.tab = Copy("k", merge, readable), browser.tab()

    def ask(self) -> bool:
        self.copy.asked += not self.copy.ready
        return self._hear(self.tab(_question(self.copy)))

    def deliver(self, *, answer_lost: bool = False) -> bool:
        message = {"session": self.copy.session, "commands": [dict(command) for command in self.copy.commands]}
        events = self.tab(message)
        return not answer_lost and self._hear(events)

    def _hear(self, events: list[Event]) -> bool:
        return sum(self.copy.hear(*event) for event in events) > 0

    def settle(self) -> None:
        """Ask and deliver until nothing is under way, as page runs do."""
        self.ask()
        for _ in range(5):
            if self.copy.commands:
                self.deliver()
        assert not self.copy.commands

    def add(self, line: str) -> None:
        self.copy.save(f"{self.copy.text}\n{line}" if self.copy.text else line)


def opened(browser: Browser, merge: Callable[[str, str], str] | None = union) -> Session:
    session = Session(browser, merge)
    session.ask()
    return session


def test_a_first_visit_finds_nothing_and_stores_nothing():
    browser = Browser()
    session = Session(browser)
    assert not session.copy.ready
    assert session.ask()  # pages must be drawn again: now it is known that there is nothing
    assert session.copy.ready
    assert session.copy.text is None
    assert not browser.records


def test_what_is_stored_comes_up_once():
    session = opened(Browser("one"))
    assert session.copy.text == "one"
    assert session.tab(_question(session.copy)) == []


def test_a_save_is_confirmed_and_draws_nothing_again():
    browser = Browser("one")
    session = opened(browser)
    session.add("two")
    assert session.copy.text == "one\ntwo"
    assert browser.text == "one"
    assert not session.deliver()
    assert browser.text == "one\ntwo"
    assert not session.copy.commands
    assert session.copy.health.num_bytes == len("one\ntwo")
    assert session.tab(_question(session.copy)) == []


def test_saving_the_same_text_orders_nothing():
    session = opened(Browser("one"))
    session.copy.save("one")
    assert not session.copy.commands


def test_of_two_saves_before_an_answer_only_the_newer_travels():
    browser = Browser("one")
    session = opened(browser)
    session.add("two")
    session.deliver(answer_lost=True)
    session.add("three")
    assert [command["text"] for command in session.copy.commands] == ["one\ntwo\nthree"]
    assert not session.deliver()
    assert browser.text == "one\ntwo\nthree"


def test_commands_that_arrive_twice_are_obeyed_once():
    browser = Browser("one")
    session, other = opened(browser), opened(browser)
    session.add("two")
    session.deliver(answer_lost=True)
    other.ask()
    other.add("three")
    other.deliver()
    session.deliver()
    assert browser.text == "one\ntwo\nthree"


def test_two_tabs_that_write_lose_nothing():
    browser = Browser("one")
    first, second = opened(browser), opened(browser)
    first.add("from the first")
    second.add("from the second")
    first.deliver()
    assert second.deliver()  # refused, and handed the newer text: pages are drawn again
    assert browser.text == "one\nfrom the first"
    assert second.copy.text == "one\nfrom the first\nfrom the second"
    second.deliver()
    assert browser.text == second.copy.text
    assert first.ask()
    assert first.copy.text == browser.text


def test_without_a_merge_the_page_decides():
    browser = Browser("one")
    first, second = opened(browser, None), opened(browser, None)
    first.add("a")
    second.add("b")
    first.deliver()
    second.deliver()
    assert second.copy.text == "one\nb"
    assert second.copy.conflict == "one\na"
    assert browser.text == "one\na"
    second.copy.save("one\na\nb")
    second.deliver()
    assert second.copy.conflict is None
    assert browser.text == "one\na\nb"


def test_a_save_before_the_browser_has_answered_is_merged_with_what_is_there():
    browser = Browser("one")
    session = Session(browser)
    session.add("early")
    session.settle()
    assert browser.text == session.copy.text == "one\nearly"


def test_a_new_session_after_a_restart_reads_again():
    browser = Browser("one")
    before = opened(browser)
    before.add("two")
    before.deliver(answer_lost=True)  # the server dies here
    after = Session(browser)
    after.tab = before.tab  # the tab is the same
    after.ask()
    assert after.copy.text == "one\ntwo"
    late = ("text", {"session": before.copy.session, "rev": "x", "text": "late", "backend": "indexeddb"})
    assert not after.copy.hear(*late)  # meant for the session that is gone
    assert after.copy.text == "one\ntwo"


def test_an_unreadable_text_is_handed_over_and_never_overwritten_without_a_copy():
    browser = Browser("{broken", rev="r")
    session = opened(browser)
    assert session.copy.text is None
    assert session.copy.unreadable == "{broken"
    assert session.copy.why_unreadable == "its lines are broken"
    session.add("new")
    session.deliver()
    session.add("more")
    session.deliver()
    assert browser.text == "new\nmore"
    kept = {name: record["text"] for name, record in browser.records.items() if name.startswith("unreadable/")}
    assert kept == {"unreadable/r": "{broken"}


def test_another_tab_that_stored_something_unreadable_costs_neither_text():
    browser = Browser("one")
    session = opened(browser)
    browser.records["current"] = {**browser.records["current"], "rev": "r", "text": "{broken"}
    session.add("two")
    session.settle()
    assert browser.text == "one\ntwo"
    assert browser.records["unreadable/r"]["text"] == "{broken"


@pytest.mark.parametrize("code", ["quota", "failed", "refused"])
def test_a_refused_write_is_said_in_words_and_made_good_by_the_next_one(code):
    browser = Browser("one")
    session = opened(browser)
    browser.error = code
    session.add("two")
    assert session.deliver()  # the page must say so
    assert session.copy.health.error
    assert session.copy.text == "one\ntwo"
    assert browser.text == "one"
    assert not session.copy.commands  # it is not tried again by itself
    browser.error = ""
    session.copy.save("one\ntwo")
    assert session.deliver()
    assert not session.copy.health.error
    assert browser.text == "one\ntwo"


def test_what_could_not_be_stored_is_merged_when_another_tab_writes():
    browser = Browser("one")
    session, other = opened(browser), opened(browser)
    browser.error = "quota"
    session.add("two")
    session.deliver()
    browser.error = ""
    other.add("three")
    other.deliver()
    session.settle()
    assert browser.text == session.copy.text == "one\nthree\ntwo"


def test_a_reset_has_a_way_back_and_the_way_back_too():
    browser = Browser("one")
    session = opened(browser)
    session.copy.backup_due = True
    session.copy.save("")
    session.add("after the reset")
    session.deliver()
    assert browser.text == "after the reset"
    for text, other in pairwise(["one", "after the reset", "one"]):
        session.copy.command("restore", rev=text + other)
        assert session.deliver()
        assert session.copy.text == browser.text == text
        assert browser.records["backup"]["text"] == other


def test_a_reset_that_failed_still_makes_its_backup_later():
    browser = Browser("one")
    session = opened(browser)
    browser.error = "quota"
    session.copy.backup_due = True
    session.copy.save("reset")
    session.deliver()
    browser.error = ""
    session.add("next")
    session.deliver()
    assert browser.text == "reset\nnext"
    assert browser.records["backup"]["text"] == "one"


def test_to_restore_without_a_backup_says_so_and_changes_nothing():
    browser = Browser("one")
    session = opened(browser)
    session.copy.command("restore", rev="r")
    assert session.deliver()
    assert session.copy.health.error
    assert session.copy.text == browser.text == "one"


STEP = some.sampled_from(["add", "deliver", "lost", "ask", "fail", "reload"])
STEPS = some.lists(some.tuples(some.integers(0, 1), STEP))


@settings(deadline=None, max_examples=300)
@given(STEPS)
def test_whatever_is_lost_on_the_way_no_line_of_a_living_session_is_lost(steps):
    """Two tabs add lines; answers get lost, writes fail, tabs are reloaded after they have settled."""
    browser = Browser("start")
    sessions = [opened(browser), opened(browser)]
    lines = ["start"]
    for turn, (who, step) in enumerate(steps):
        session = sessions[who]
        if step == "add":
            lines.append(f"{who}.{turn}")
            session.add(lines[-1])
        elif step == "reload":
            session.settle()
            sessions[who] = opened(browser)
        elif step == "ask":
            session.ask()
        else:
            browser.error = "quota" if step == "fail" else ""
            if session.copy.commands:
                session.deliver(answer_lost=step == "lost")
            browser.error = ""
            if session.copy.failed:
                session.copy.save(session.copy.text)
    for session in [*sessions, sessions[0]]:
        session.settle()
    assert sorted(browser.text.splitlines()) == sorted(lines)
    assert sessions[0].copy.text == browser.text


@pytest.mark.parametrize(
    "value", [None, 5, "text", [], {}, {"session": "another"}, {"session": "another", "text": "foreign", "rev": "r"}]
)
def test_events_that_are_not_ours_change_nothing(value):
    session = opened(Browser("one"))
    assert not session.copy.hear("text", value)
    assert session.copy.text == "one"


@pytest.mark.parametrize(
    ("seconds", "num_bytes", "sentence"),
    [
        (0, 1, "Saved 0 s ago in this browser, 1 kB."),
        (59, 41_000, "Saved 59 s ago in this browser, 41 kB."),
        (60, 41_001, "Saved 1 min ago in this browser, 42 kB."),
        (3_600, 999_499, "Saved 1 h ago in this browser, 1000 kB."),
        (172_800, 5_000_000, "Saved 2 days ago in this browser, 5.0 MB."),
        (-5, 1_000, "Saved 0 s ago in this browser, 1 kB."),  # the browser's clock is ahead
    ],
)
def test_health_in_words(seconds, num_bytes, sentence):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert Health("indexeddb", now - timedelta(seconds=seconds), num_bytes).sentence(now) == sentence


def test_health_of_nothing_in_words():
    assert Health("indexeddb").sentence() == "Nothing is kept in this browser yet."
    assert Health("none", error="It refuses.").sentence() == "It refuses."


# A page, in AppTest.


def page() -> None:
    import streamlit as st

    from views._ui import store

    if st.checkbox("another page"):
        store.deliver()
        st.stop()
    kept = store.mount()

    @st.fragment
    def part() -> None:
        kept.in_fragment()
        st.button("in fragment", on_click=lambda: kept.save(f"{kept.text} fragment"))

    st.text(f"ready {kept.ready}, text {kept.text!r}, saving {kept.saving}")
    st.button("callback", on_click=lambda: kept.save(f"{kept.text} callback"))
    if st.button("body"):
        kept.save(f"{kept.text} body")
    part()
    store.deliver()
    store.deliver()  # once more does no harm


def run(tab: Tab | None = None) -> AppTest:
    at = AppTest.from_function(page)
    if tab:
        at.session_state["progress.browser"] = tab
    at.run()
    assert not at.exception
    return at


def test_a_page_without_a_browser_is_not_ready_and_stands():
    assert run().text[0].value == "ready False, text None, saving False"


def test_a_save_before_the_browser_answers_waits():
    at = run()
    at.button[1].click().run()
    at.checkbox[0].check().run()  # a page without a store: it is handed over all the same
    assert not at.exception
    at.checkbox[0].uncheck().run()
    assert not at.exception
    assert at.text[0].value == "ready False, text 'None body', saving True"


def test_a_page_test_may_give_the_browser():
    browser = Browser("stored")
    at = run(browser.tab())
    assert at.text[0].value == "ready True, text 'stored', saving False"
    for button in at.button[:3]:
        button.click()
    at.run()
    assert not at.exception
    assert browser.text == "stored callback fragment body"
    assert at.run().text[0].value == f"ready True, text {browser.text!r}, saving False"
