"""The lobby: a room is opened with its links, joined by one, found again, restored from its scorecard."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core.mock.fold import fold
from core.mock.scorecard_build import scorecard
from core.mock.scorecard_file import to_json
from core.mock.state import RoomState
from core.storage.records import Limits
from core.storage.rooms import RoomStore
from tests.core.mock.made import bank, pack, plan, whole
from tests.pages.practice import APP
from tests.pages.stand_in import Browser
from views._ui import own_rooms, place, rooms
from views._ui.mock_links import read_link

TITLE = "Train and serve a 70B model"


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


class Lobby:
    """One session in the lobby; ``browser`` keeps the list of rooms between visits."""

    def __init__(self, browser: Browser | None = None) -> None:
        self.browser = browser or Browser()
        self.at = AppTest.from_file(str(APP), default_timeout=60)
        self.at.session_state["mock-rooms.browser"] = self.browser.tab()
        for other in ("progress", "own-cards"):
            self.at.session_state[f"{other}.browser"] = Browser().tab()
        self.at.run()
        self.at = self.at.switch_page("views/mock/lobby.py").run()
        assert not self.at.exception

    def press(self, label: str) -> None:
        next(button for button in self.at.button if button.label.startswith(label)).click().run()
        assert not self.at.exception, self.at.exception

    def create(self) -> list[dict[str, str]]:
        """Open a room; the queries of its four links."""
        self.at.selectbox(key="lobby.pack").set_value("mock-train-serve-45").run()
        self.press("Agree and open")
        return [query(code.value) for code in self.at.code[:4]]

    def says(self) -> str:
        kinds = (self.at.markdown, self.at.warning, self.at.subheader, self.at.expander)
        return "\n".join(
            str(getattr(element, "value", "") or getattr(element, "label", "")) for kind in kinds for element in kind
        )


def query(link: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}


def state_of(room: str) -> RoomState:
    store = RoomStore.open()
    state = fold(RoomState(plan()), store.events(room))
    store.engine.dispose()
    return state


def test_a_room_is_opened_with_four_links_and_the_interviewer_seated():
    lobby = Lobby()
    assert lobby.at.button(key="lobby.create").proto.type == "primary"
    lobby.at.text_input(key="lobby.handle").input("Grace")
    links = lobby.create()
    assert len({link["key"] for link in links}) == 4
    create = lobby.at.button(key="lobby.create")
    assert (create.label, create.proto.type) == ("Agree and open another room", "secondary")
    said = lobby.says()
    assert said.index("**Candidate**") < said.index("**Your console**") < said.index("**Interviewer**")
    state = state_of(links[0]["room"])
    assert state.seats["interviewer"].handle == "Grace"
    store = RoomStore.open()
    log = store.events(links[0]["room"])
    assert lobby.at.session_state["rooms.browser"] not in str(log)  # it would tell who sat in which rooms
    lobby.at.query_params.update(links[1])
    lobby.at.switch_page("views/mock/room.py").run()
    assert "Start the clock" in "".join(button.label for button in lobby.at.button)
    assert store.presence(links[0]["room"])[0].holder == state.seats["interviewer"].holder
    store.engine.dispose()
    assert state.level == pack().model.level
    assert state.opened.seed is None
    store = RoomStore.open()
    assert [store.role_of(link["room"], link["key"]) for link in links] == [
        "candidate",  # the one to send leads the eye
        "interviewer",
        "rater",
        "observer",
    ]
    store.engine.dispose()


def test_level_and_numbers_are_chosen():
    lobby = Lobby()
    lobby.at.selectbox(key="lobby.pack").set_value("mock-train-serve-45").run()
    lobby.at.segmented_control(key="lobby.level.mock-train-serve-45").set_value("mid")
    lobby.at.segmented_control(key="lobby.numbers").set_value("Others, by a seed").run()
    lobby.at.number_input(key="lobby.seed").set_value(7)
    lobby.press("Agree and open")
    state = state_of(query(lobby.at.code[0].value)["room"])
    assert (state.level, state.opened.seed) == ("mid", 7)


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_seed_out_of_range_is_refused_in_words(seed: int):
    lobby = Lobby()
    lobby.at.segmented_control(key="lobby.numbers").set_value("Others, by a seed").run()
    lobby.at.number_input(key="lobby.seed").set_value(seed).run()
    assert "is no seed: take a whole number from 0 to 2,147,483,647." in lobby.says()
    lobby.press("Agree and open")
    assert not lobby.at.code
    lobby.at.number_input(key="lobby.seed").set_value(2**31 - 1).run()
    assert "is no seed" not in lobby.says()


def test_a_pack_sets_its_own_level():
    lobby = Lobby()
    for pack_id, found in rooms.packs().items():
        lobby.at.selectbox(key="lobby.pack").set_value(pack_id).run()
        assert lobby.at.segmented_control(key=f"lobby.level.{pack_id}").value == found.model.level


def test_what_is_stored_where_and_until_when_is_said_before_the_room_is_opened(monkeypatch: pytest.MonkeyPatch):
    said = Lobby().says()
    assert "Stored: what is written" in said
    assert "ends after 24 hours" in said  # no address is set, so others may reach this server
    monkeypatch.setattr(place, "listens_locally", lambda: True)
    assert "stays on this computer until you delete it" in Lobby().says()


def test_the_browser_lists_its_rooms_and_forgets_or_deletes_them():
    first = Lobby()
    made = first.create()
    again = Lobby(first.browser)
    assert TITLE in again.says()
    assert made[0]["key"] in "".join(code.value for code in again.at.code)
    again.press("Forget its links")
    assert json.loads(first.browser.text)["rooms"] == []
    assert state_of(made[0]["room"]).opened is not None

    made = first.create()
    again = Lobby(first.browser)
    again.press("Delete the room for everybody")
    store = RoomStore.open()
    with pytest.raises(Exception, match="does not exist here"):
        store.revision(made[0]["room"])
    store.engine.dispose()


def test_a_link_that_was_made_anew_takes_its_place_in_the_browser_s_list():
    lobby = Lobby()
    made = lobby.create()
    old = {link["key"] for link in made}
    for name, value in made[1].items():  # the interviewer's
        lobby.at.query_params[name] = value
    lobby.at = lobby.at.switch_page("views/mock/room.py").run()
    lobby.at.session_state["console.tabs"] = "Room"
    lobby.at.run()
    lobby.press("New link: interviewer")
    new = query(lobby.at.code[0].value)["key"]
    assert new not in old
    lobby.press("New link: candidate")

    lobby.at = lobby.at.switch_page("views/mock/lobby.py").run()
    for again in (lobby, Lobby(lobby.browser)):  # in the same session and on a later visit
        links = [query(code.value) for code in again.at.code]
        assert links[1]["key"] == new
        assert len({link["key"] for link in links} - old) == 2
    again.press("Delete the room for everybody")
    store = RoomStore.open()
    with pytest.raises(Exception, match="does not exist here"):
        store.revision(made[0]["room"])
    store.engine.dispose()


def test_joining_takes_a_whole_link_or_says_what_is_missing():
    lobby = Lobby()
    links = lobby.create()
    lobby.at.text_input(key="lobby.link").input("https://example.org/room?room=aaaaaaaa")
    lobby.press("Join")
    assert "no link of a room" in lobby.says().replace("\\", "")
    lobby.at.text_input(key="lobby.link").input(
        f"https://example.org/room?room={links[0]['room']}&key={links[0]['key']}"
    )
    lobby.press("Join")
    assert "You have the link of the **candidate**" in "\n".join(element.value for element in lobby.at.markdown)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http://h/room?room=abcdefgh&key=k", {"room": "abcdefgh", "key": "k"}),
        (" room=abcdefgh&key=k ", {"room": "abcdefgh", "key": "k"}),
        ("?key=k&room=abcdefgh&gpus=64", {"room": "abcdefgh", "key": "k"}),
        ("abcdefgh", None),
        ("http://[bad", None),
        ("", None),
    ],
)
def test_a_link_is_read_however_it_was_pasted(text: str, found: dict[str, str] | None):
    assert read_link(text) == found


def test_a_room_comes_back_from_the_interviewer_s_json():
    played = whole()
    card = scorecard(played.state, played.log, pack(), bank())
    lobby = Lobby()
    lobby.at.file_uploader(key="lobby.file").upload("card.json", to_json(card).encode(), "application/json").run()
    lobby.press("Restore")
    assert len(lobby.at.code) >= 4
    state = state_of(query(lobby.at.code[0].value)["room"])
    assert state.pad == played.state.pad
    assert dict(state.ratings["interviewer"].scores) == dict(played.state.ratings["interviewer"].scores)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"no json", "no JSON"),
        (b'{"schema": "other"}', "no scorecard"),
        (b"\xff\xfe", "no JSON"),
    ],
)
def test_a_file_that_is_no_scorecard_is_refused_in_words(raw: bytes, words: str):
    lobby = Lobby()
    lobby.at.file_uploader(key="lobby.file").upload("card.json", raw, "application/json").run()
    lobby.press("Restore")
    assert words in lobby.says().replace("\\", "")


def test_a_changed_scorecard_and_a_candidate_s_copy_are_refused_in_words():
    played = whole()
    lobby = Lobby()
    changed = to_json(scorecard(played.state, played.log, pack(), bank())).replace("would hire", "would not hire")
    own = to_json(scorecard(played.state, played.log, pack(), bank(), audience="candidate"))
    for text, words in ((changed, "was changed after it was exported"), (own, "This is a candidate's copy")):
        lobby.at.file_uploader(key="lobby.file").upload("card.json", text.encode(), "application/json").run()
        lobby.press("Restore")
        assert words in lobby.says().replace("\\", "")


def test_too_many_rooms_from_one_address_are_refused_in_words(monkeypatch: pytest.MonkeyPatch):
    lobby = Lobby()
    limited = RoomStore(rooms.store().engine, limits=Limits(rooms_per_address=1))
    monkeypatch.setattr(rooms, "store", lambda: limited)
    monkeypatch.setattr(rooms, "address", lambda: "192.0.2.1")
    lobby.press("Agree and open")
    lobby.press("Agree and open")
    assert "rooms were opened from here" in lobby.says()


def test_a_database_that_cannot_be_opened_is_said_in_words(monkeypatch: pytest.MonkeyPatch):
    lobby = Lobby()
    monkeypatch.setenv("RIDGEPOINT_DATABASE", "sqlite:////proc/nowhere/rooms.db")
    rooms.store.clear()
    lobby.press("Agree and open")
    assert "cannot be" in lobby.says()


def test_the_list_of_rooms_joins_two_tabs_and_refuses_what_is_none():
    one = own_rooms.OwnRoom("aaaaaaaa", "A", "mid", 1.0, {"interviewer": "k"})
    two = own_rooms.OwnRoom("bbbbbbbb", "B", "mid", 2.0, {"interviewer": "k"})
    text = own_rooms.written((one, two, one))
    assert own_rooms.read(text) == (two, one)
    for wrong in ("[]", "{}", '{"schema": "mock-rooms/1", "rooms": [1]}', "nonsense"):
        with pytest.raises(ValueError, match=r".+"):
            own_rooms.read(wrong)
