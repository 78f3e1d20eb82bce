"""The solo mock: both seats by one person, scores sealed before the strong answer, the same scorecard at the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.cards.draw import draw
from core.mock.fold import fold
from core.mock.state import RoomState
from core.storage.rooms import RoomStore
from tests.core.mock.made import CARD, DRILL, ITEMS, PACK, at_phase, bank, plan
from tests.pages.mock_visit import leaked, mirrored, stored
from tests.pages.practice import APP, _sent
from views._ui import rooms, solo
from views._ui.solo_script import FIRST_NUMBERS


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


class SoloVisit:
    """One tab on the page; with an address it comes back to a session."""

    def __init__(self, query: dict[str, str] | None = None, *, browser: str = "one-browser") -> None:
        self.at = AppTest.from_file(str(APP), default_timeout=60)
        self.at.session_state["rooms.browser"] = browser
        self.at.session_state["rooms.browser_to_keep"] = False
        self.at.session_state["solo.pack"] = PACK
        self.at.run()
        for name, value in (query or {}).items():
            self.at.query_params[name] = value
        self.at.switch_page("views/mock/solo.py").run()
        assert not self.at.exception, self.at.exception

    @property
    def query(self) -> dict[str, str]:
        values = {name: self.at.query_params[name] for name in ("room", "key", "own")}
        return {name: value[0] if isinstance(value, list) else value for name, value in values.items()}

    @property
    def state(self) -> RoomState:
        return fold(RoomState(plan()), RoomStore.open().events(self.query["room"]))

    def labels(self) -> list[str]:
        return [button.label for button in self.at.button]

    def press(self, label: str) -> None:
        next(button for button in self.at.button if button.label.startswith(label)).click().run()
        assert not self.at.exception, self.at.exception

    def says(self) -> str:
        kinds = (self.at.markdown, self.at.warning, self.at.info, self.at.subheader, self.at.header, self.at.title)
        return "\n".join(str(element.value) for kind in kinds for element in kind)

    def sent(self) -> str:
        return "\n".join(_sent(self.at._tree))

    def at_phase(self, phase: int) -> SoloVisit:
        self.press("Begin")
        self.press("Start the clock")
        for _ in range(phase):
            self.press("Next:")
        return self

    def rated(self) -> SoloVisit:
        self.at.radio(key="mock.self.overall").set_value("lean no")
        self.press("Commit my rating")
        return self


def test_a_session_begins_with_both_seats_taken_and_comes_back_from_its_address():
    page = SoloVisit()
    page.press("Begin")
    assert page.state.opened is not None
    assert page.state.opened.solo
    assert page.state.ready == {"interviewer", "candidate"}
    page.press("Start the clock")
    again = SoloVisit(page.query, browser="one-browser")
    assert "Next: Clarify" in again.labels()
    assert "Thanks for taking the time" in again.says()


def test_the_phases_play_the_script_and_nothing_of_the_rubric_is_sent():
    page = SoloVisit().at_phase(2)
    assert "What would you measure first?" in page.says()
    rubric = bank().cards[CARD].model.rubric
    variant = draw(bank().cards[CARD], 0)
    secrets = [variant.fill(text) for item in rubric for text in item.levels.values()]
    secrets += [variant.fill(bank().cards[CARD].sections["Strong answer"])[:60]]
    assert [secret for secret in secrets if secret in page.sent()] == []
    assert [where for where in leaked(page.sent(), page.state) if " truth " in where] == []


def test_follow_ups_come_one_at_a_time_and_lead_on():
    page = SoloVisit().at_phase(2)
    page.press("Ask me a follow-up")
    assert "What does each figure count" in page.says()
    page.press("I went another way")
    assert "Suppose every GPU waits a third" in page.says()
    page.press("I have answered")
    assert "what would prove it" in page.says()
    page.press("I have answered")
    assert "no more follow-up questions" in page.says()
    assert [visit.heard for visit in page.state.visits] == ["wrong", "strong", "strong"]


def test_follow_ups_go_on_after_a_reload_where_they_were():
    page = SoloVisit().at_phase(2)
    page.press("Ask me a follow-up")
    page.press("I went another way")
    assert "Suppose every GPU waits a third" in SoloVisit(page.query).says()
    page.press("I have answered")
    page.press("I have answered")
    assert "no more follow-up questions" in SoloVisit(page.query).says()


def test_a_follow_up_after_a_twist_says_that_it_was_asked_with_the_first_numbers():
    page = SoloVisit().at_phase(2)
    page.press("Ask me a follow-up")
    assert FIRST_NUMBERS not in page.says()
    page.press("Next:")
    page.press("Next:")
    page.press("Change a fact")
    room = page.query["room"]
    RoomStore.open().append(room, "interviewer", "phase_started", {"phase": 2}, client_id="back")
    page.at.run()
    assert FIRST_NUMBERS in page.says()


def test_a_reply_a_hint_and_a_twist_are_released():
    page = SoloVisit().at_phase(1)
    page.press("Which recomputation is on?")
    assert "Full, in every layer." in page.says()
    page.press("Next:")
    menu = next(element for element in page.at.get("menu_button"))
    assert "Numbers" in str(menu.proto)
    for _ in range(2):
        page.press("Next:")
    page.press("Change a fact")
    assert [twist.twist for twist in page.state.twists] == ["long-context"]
    assert "The facts change (1)" in page.says()
    assert page.state.sliders == {"seq_len": 32_768.0}
    assert mirrored(page.at, "select_slider", "mock.calc.seq_len").value == 32_768


def test_the_clock_can_be_stopped():
    page = SoloVisit().at_phase(1)
    page.press("Pause")
    assert page.state.time.paused_at is not None
    page.press("Resume")
    assert page.state.time.paused_at is None


def test_the_probe_is_locked_without_a_verdict():
    page = SoloVisit().at_phase(5)
    page.at.text_input(key="mock.probe.0.typed").set_value("2350 tok/s")
    page.at.button_group(key="mock.probe.0.confidence").set_value(70)
    page.press("Lock the answer")
    assert page.state.answers[DRILL].text == "2350 tok/s"
    assert f"{draw(bank().cards[DRILL], 0).answer:,.0f}" not in page.sent()


def test_scoring_is_sealed_before_the_own_rating_and_the_strong_answer_before_the_commit():
    page = SoloVisit().at_phase(7)
    strong = draw(bank().cards[CARD], 0).fill(bank().cards[CARD].sections["Strong answer"])[:60]
    levels = [text for item in bank().cards[CARD].model.rubric for text in item.levels.values() if "{{" not in text]
    assert [text for text in levels if text in page.sent()] == []
    page.rated()
    assert [text for text in levels if text not in page.sent()] == []
    assert strong not in page.sent()
    page.press("Commit my scores")
    assert "has no score" in page.says()
    for item in ITEMS:
        page.at.text_input(key="solo.evidence").set_value(f"I said this on {item}")
        page.at.selectbox(key="solo.evidence.item").set_value(item)
        page.press("Keep this line")
        mirrored(page.at, "radio", f"console.score.{item}").set_value(2).run()
    page.at.button_group(key="console.judgement").set_value("lean no")
    page.at.text_input(key="console.reason").set_value("No price on any fix.")
    page.press("Keep the judgement")
    page.press("Commit my scores")
    assert page.state.ratings["interviewer"].committed is not None
    said = page.says()
    assert "Scorecard: Train and serve" in said
    assert "I said this on plan" in said
    assert strong in page.sent()
    assert len(page.at.get("download_button")) == 6
    page.press("Finish the session")
    assert page.state.time.finished_at is not None
    assert "Scorecard: Train and serve" in page.says()


def test_fresh_numbers_are_drawn_for_every_card():
    seed = solo.drawn_seed(rooms.packs()[PACK])
    for card in (CARD, DRILL):
        assert draw(bank().cards[card], seed).seed == seed


@pytest.mark.parametrize("query", [{"room": "abc"}, {"room": "abcdefgh", "key": "x", "own": "y"}])
def test_an_address_that_opens_nothing_is_answered_in_words(query: dict[str, str]):
    page = SoloVisit(query)
    assert "does not open a room" in page.says()
    assert "Begin" in page.labels()


def test_a_room_for_two_is_not_opened_here():
    room = stored(at_phase(2))
    tokens = room.new.tokens
    page = SoloVisit({"room": room.new.room, "key": tokens["interviewer"], "own": tokens["candidate"]})
    assert "room for two" in page.says().lower()


def test_leaving_brings_back_the_form():
    page = SoloVisit().at_phase(1)
    page.press("Leave")
    assert "Begin" in page.labels()
