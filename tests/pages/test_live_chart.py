"""What a rerun sends to the live chart: nothing new after a commit, a new token when Python moves the slider."""

import json
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from views._ui import live_chart as live_chart_module


def one_chart() -> None:
    import streamlit as st

    from core.charts.live import LiveFigure, LiveSlider
    from views._ui.live_chart import live_chart

    positions = st.session_state.get("positions", ["1", "2", "4", "8"])
    live = LiveFigure(
        {"data": [{"type": "bar", "x": [1]}], "layout": {}},
        slider=LiveSlider("GPUs", positions, index=st.session_state.get("asked", 2)),
        alt=positions,
    )
    if st.session_state.get("shown", True):
        st.session_state["index"] = live_chart(live, key="topic.chart")


def start() -> AppTest:
    return AppTest.from_function(one_chart, default_timeout=30).run()


def payload(at: AppTest) -> dict:
    message, move = json.loads(at.get("bidi_component")[0].proto.json)
    return {**json.loads(message), "move": move}


def commit(at: AppTest, index: int) -> AppTest:
    at.session_state["topic.chart.committed"] = index  # what the browser's commit leaves behind
    return at.run()


def test_it_starts_where_the_figure_says():
    at = start()
    assert at.session_state["index"] == 2
    assert payload(at)["move"]["index"] == 2


def test_a_commit_sends_the_browser_nothing_new():
    at = start()
    before = at.get("bidi_component")[0].proto.json
    commit(at, 3)
    assert at.session_state["index"] == 3
    assert at.get("bidi_component")[0].proto.json == before


def test_a_commit_stays_through_other_reruns_and_other_pages():
    at = commit(start(), 3)
    at.run()
    assert at.session_state["index"] == 3
    at.session_state["shown"] = False
    at.run()
    at.session_state["shown"] = True
    assert at.run().session_state["index"] == 3


def test_another_index_from_python_moves_the_slider():
    at = commit(start(), 3)
    token = payload(at)["move"]["token"]
    at.session_state["asked"] = 0
    at.run()
    assert at.session_state["index"] == 0
    assert payload(at)["move"]["index"] == 0
    assert payload(at)["move"]["token"] != token


def test_an_index_that_follows_the_commit_is_no_move():
    at = commit(start(), 3)
    token = payload(at)["move"]["token"]
    at.session_state["asked"] = 3
    assert payload(at.run())["move"]["token"] == token


def test_the_hand_wins_over_an_index_that_lags_behind():
    at = commit(start(), 3)
    at.session_state["asked"] = 3
    assert commit(at, 1).session_state["index"] == 1


def test_a_move_is_clipped_to_the_slider():
    at = start()
    at.session_state["topic.chart.move"] = 99  # what move_live_slider leaves behind
    assert at.run().session_state["index"] == 3


def test_other_positions_keep_what_the_slider_reads():
    at = commit(start(), 1)  # reads "2"
    at.session_state["positions"] = ["2", "4", "8"]
    assert at.run().session_state["index"] == 0
    at.session_state["positions"] = ["16"]
    at.session_state["asked"] = 0
    assert at.run().session_state["index"] == 0


def test_a_commit_from_a_longer_slider_does_not_overrun():
    at = commit(start(), 99)
    assert at.session_state["index"] == 2


@pytest.mark.parametrize("index", [4, -1, True, None, "2", 1e30])
def test_a_position_that_the_slider_does_not_have_is_no_commit(monkeypatch, index):
    here = live_chart_module._Position(2, 2, ("1", "2", "4", "8"))
    session = {"topic.chart.position": here, "topic.chart": {"commit": {"index": index}}}
    monkeypatch.setattr(live_chart_module, "st", SimpleNamespace(session_state=session))
    taken: list[int] = []
    live_chart_module._take_commit("topic.chart", taken.append)
    assert taken == []
    session["topic.chart"] = {"commit": {"index": 3}}
    live_chart_module._take_commit("topic.chart", taken.append)
    assert taken == [3]


def test_a_move_waits_in_the_session_until_the_chart_is_drawn(monkeypatch):
    session: dict[str, int] = {}
    monkeypatch.setattr(live_chart_module, "st", SimpleNamespace(session_state=session))
    live_chart_module.move_live_slider("topic.chart", 99)
    assert session == {"topic.chart.move": 99}  # what the test of a clipped move sets by hand
