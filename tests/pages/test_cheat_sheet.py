"""The cheat sheet shows every table of the core, escaped, in the reader's unit, and loads no drawing library."""

from __future__ import annotations

from core.cheat_sheet import tables
from tests.pages.conftest import OpenPage
from views._ui.sheet import _section

PAGE = "views/start/cheat_sheet.py"


def sheet(at) -> str:
    return "".join(node.proto.body for node in at.get("html"))


def test_every_number_is_on_the_page(open_page: OpenPage):
    at = open_page(PAGE)
    assert not at.exception
    body = sheet(at)
    for table in tables("GB"):
        assert _section(table) in body


def test_memory_follows_the_unit(open_page: OpenPage):
    at = open_page("views/start/settings.py")
    at.button_group(key="settings.pick.unit").set_value("GiB").run()
    body = sheet(at.switch_page(PAGE).run())
    assert "131 GiB" in body
    assert "1.34 GB<" not in body
