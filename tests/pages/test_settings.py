"""Settings: two wishes and a reset; the cookie itself is tried in a browser."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import OpenPage

SETTINGS, HOME = "views/start/settings.py", "views/start/home.py"


def cookie(at: AppTest) -> str | None:
    kept = [json.loads(node.proto.json) for node in at.get("bidi_component")]
    return next((data[1] for data in kept if data[0] == "ridgepoint_settings"), None)


def reset_button(at: AppTest):
    return at.button(key="settings.reset")


def test_it_opens_with_the_defaults_and_writes_no_cookie(open_page: OpenPage):
    at = open_page(SETTINGS)
    assert not at.exception
    assert at.button_group(key="settings.pick.unit").value == "GB"
    assert at.toggle(key="settings.pick.predictions").value is True
    assert cookie(at) is None


def test_a_choice_holds_and_goes_into_the_cookie(open_page: OpenPage):
    at = open_page(SETTINGS)
    at.button_group(key="settings.pick.unit").set_value("GiB").run()
    at.toggle(key="settings.pick.predictions").set_value(False).run()
    assert not at.exception
    assert "GiB" in cookie(at)
    assert "off" in cookie(at)
    at.switch_page(HOME).run().switch_page(SETTINGS).run()
    assert at.button_group(key="settings.pick.unit").value == "GiB"
    assert at.toggle(key="settings.pick.predictions").value is False


def test_predictions_off_leaves_no_question_on_home(open_page: OpenPage):
    at = open_page(SETTINGS)
    at.toggle(key="settings.pick.predictions").set_value(False).run()
    at.switch_page(HOME).run()
    assert "Commit" not in [button.label for button in at.button]
    assert at.get("bidi_component")


def test_a_reset_asks_again(open_page: OpenPage):
    at = open_page(SETTINGS)
    assert reset_button(at).disabled
    at.switch_page(HOME).run()
    next(button for button in at.button if button.label == "Commit").click().run()
    at.switch_page(SETTINGS).run()
    assert not reset_button(at).disabled
    reset_button(at).click().run()
    assert reset_button(at).disabled
    at.switch_page(HOME).run()
    assert "Commit" in [button.label for button in at.button]
