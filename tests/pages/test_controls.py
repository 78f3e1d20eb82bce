"""The scenario's controls: none is ever set, and one that has come to differ from the scenario makes room for another.

A value that is set goes along with the answer, and undoes a press that the browser has sent meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import OpenPage
from tests.pages.mock_visit import mirrored

PAGES = ("partition", "communication", "batch", "attention", "bottleneck")
KINDS = ("number_input", "selectbox", "toggle", "slider", "button_group")
RANKS, KEY = "tensor_parallel", "partition.tensor_parallel"


def page_file(name: str) -> str:
    return f"views/steps/{name}.py"


def opened(open_page: OpenPage, name: str = "partition") -> AppTest:
    """A step's page whose results stand open, in a session with another scenario than the first."""
    at = open_page("views/start/settings.py", {"dp": "16"})
    at.toggle(key="settings.pick.predictions").set_value(False).run()
    return at.switch_page(page_file(name)).run()


def was_set(at: AppTest) -> Iterator[str]:
    for kind in KINDS:
        for control in at.get(kind):
            if getattr(control.proto, "set_value", False):
                yield control.key


def ranks(at: AppTest):
    return mirrored(at, "number_input", KEY)


@pytest.mark.parametrize("name", PAGES)
def test_no_control_of_a_step_is_set(open_page: OpenPage, name):
    at = opened(open_page, name)
    assert [*was_set(at)] == []
    at.run()
    assert [*was_set(at)] == []


def test_no_setting_is_set(open_page: OpenPage):
    at = open_page("views/start/settings.py")
    assert [*was_set(at)] == []
    at.button_group(key="settings.pick.unit").set_value("GiB").run()
    at.toggle(key="settings.pick.keys").set_value(False).run()
    assert [*was_set(at)] == []


def test_a_press_keeps_its_control_taken_or_refused(open_page: OpenPage):
    at = opened(open_page)
    for value in (2.0, 3.0, 4.0):  # 3 is refused and waits in its box
        at.number_input(key=KEY).set_value(value).run()
        assert at.number_input(key=KEY).value == value
        assert [*was_set(at)] == []
    assert at.query_params["tp"] == "4"


def test_a_preset_brings_another_control_and_what_the_old_one_still_sends_is_no_move(open_page: OpenPage):
    at = opened(open_page)
    at.number_input(key=KEY).set_value(2.0).run()
    sent = at._tree.get_widget_states()
    at.button(key="bar.preset.gpt3-175b-serving").click().run()
    assert ranks(at).key != KEY
    shown, address = ranks(at).value, at.query_params
    at._run(sent)
    assert (ranks(at).value, at.query_params) == (shown, address)


def test_a_link_brings_another_control(open_page: OpenPage):
    at = opened(open_page)
    at.number_input(key=KEY).set_value(2.0).run()
    at.query_params["tp"] = "8"
    at.run()
    assert (ranks(at).key != KEY, ranks(at).value) == (True, 8)


def test_a_control_that_comes_back_goes_on_unless_the_scenario_changed_meanwhile(open_page: OpenPage):
    at = opened(open_page)
    at.number_input(key=KEY).set_value(2.0).run()
    at.switch_page(page_file("communication")).run().switch_page(page_file("partition")).run()
    assert at.number_input(key=KEY).value == 2
    at.switch_page(page_file("communication")).run()
    at.number_input(key="communication.tensor_parallel").set_value(4.0).run()
    at.switch_page(page_file("partition")).run()
    assert (ranks(at).key != KEY, ranks(at).value) == (True, 4)
    ranks(at).set_value(8.0).run()
    assert (ranks(at).value, at.query_params["tp"]) == (8, "8")


def test_a_press_on_a_page_whose_address_is_late_is_not_undone_by_it(open_page: OpenPage):
    at = opened(open_page)
    at.number_input(key=KEY).set_value(2.0).run()
    at.number_input(key=KEY).set_value(4.0)
    del at.query_params["tp"]  # the browser has not heard of it yet
    at.run()
    assert (at.number_input(key=KEY).value, at.query_params["tp"]) == (4, "4")
