"""The printable page is one document that needs nothing else, and holds no markup of people."""

from __future__ import annotations

from html.parser import HTMLParser

from core.mock.scorecard import DISCLAIMER
from core.mock.scorecard_build import scorecard
from core.mock.scorecard_page import to_html
from tests.core.mock.made import at_phase, bank, pack, scored, whole

ROOM = whole(level=2)
CARD = scorecard(ROOM.state, ROOM.log, pack(), bank())
VOID = {"meta", "br"}


class Outline(HTMLParser):
    """Elements in order, whether each is closed, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f"{data}\n"


def test_every_element_is_closed_and_the_sections_are_there():
    page = Outline(to_html(CARD))
    assert page.open == []
    for word in (
        DISCLAIMER, "Items", "Overall", "Numbers", "Self-rating against score", "Next drills", "Timeline", "Board",
        "Private notes", "I forgot the price.",
        "Tests the story of recomputation with numbers", "Mentions an additional forward pass without working it out",
        "Numbers, #arithmetic", "after hints 1.75 (hints 0.25)", "private: nervous at first", "46.67%",
    ):  # fmt: skip
        assert word in page.text, word
    assert "quantitative" not in page.text
    assert "d-" not in page.text.split("Next drills")[1].split("Strengths")[0]


def test_it_loads_nothing():
    page = Outline(to_html(CARD))
    assert not {"script", "link", "img", "iframe", "object"} & set(page.seen)
    assert not {"src", "href", "onclick", "onload", "style"} & {name for name, _ in page.attributes}
    assert "url(" not in to_html(CARD)
    assert "@page" in to_html(CARD)


def test_what_people_wrote_is_text():
    room = at_phase(7)
    for kind in ("note", "evidence"):
        room.does("interviewer", kind, text="<script>alert('x')</script> & <b>")
    room.does("interviewer", "evidence", text="<img src=x onerror=y>", item="plan")
    room.does("candidate", "pad", text="</pre><script>").does("candidate", "claim", row="a", claim="<i>", number="<u>")
    scored(room)
    page = Outline(to_html(scorecard(room.state, room.log, pack(), bank())))
    assert page.open == []
    assert not {"script", "img", "b", "i", "u"} & set(page.seen)
    assert "<img src=x onerror=y>" in page.text
    assert "</pre><script>" in page.text


def test_the_candidates_page_has_no_private_note():
    page = to_html(scorecard(ROOM.state, ROOM.log, pack(), bank(), audience="candidate"))
    assert "nervous" not in page
    assert "Second rater" not in page
