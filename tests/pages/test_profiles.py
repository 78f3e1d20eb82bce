"""Datasheet against silicon: measured systems over each other, and estimates on them on the step pages."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core import batch, batch_token
from core.display import show_seconds
from core.measured_profile import load_profile, profile_ids
from core.scenario_link import default_scenario
from tests.pages.conftest import OpenPage
from views._ui import known_run, profile_view

PAGE = "views/gpu/profiles.py"
BATCH, BOTTLENECK = "views/steps/batch.py", "views/steps/bottleneck.py"
NO_QUESTIONS = {"profile": "h100-sxm"}


def says(at: AppTest) -> str:
    kinds = (at.markdown, at.error, at.warning, at.info, at.caption, at.header, at.subheader)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "").replace("\u2060", "")


def sent(at: AppTest) -> str:
    return "\n".join(str(proto) for node in at._tree if (proto := getattr(node, "proto", None)) is not None)


def press(at: AppTest, label: str) -> AppTest:
    return next(button for button in at.button if button.label == label).click().run()


def answered(at: AppTest) -> AppTest:
    """The same page without its questions."""
    while any(button.label == "Skip all from now on" for button in at.button):
        at = press(at, "Skip all from now on")
    return at


def open_tab(at: AppTest, name: str) -> AppTest:
    at.session_state["profiles.tab"] = name
    return at.run()


def test_the_scenarios_own_accelerator_is_shown_first(open_page: OpenPage):
    at = open_page(PAGE)
    assert not at.exception
    assert at.selectbox(key="profiles.one").value == "h100-sxm"
    assert set(profile_ids()) <= set(profile_view.options())
    # The best product of the open data, over the datasheet's 989 TFLOP/s.
    assert "H100 SXM, open data: the best bf16 product reaches 947 TFLOP/s (95.7% of the datasheet)" in says(at)


@pytest.mark.parametrize("tab", profile_view.TABS)
@pytest.mark.parametrize("profile_id", profile_ids())
def test_every_tab_of_every_system_opens(open_page: OpenPage, profile_id, tab):
    at = open_page(PAGE)
    at = open_tab(at.selectbox(key="profiles.one").set_value(profile_id).run(), tab)
    assert not at.exception
    assert load_profile(profile_id).file.source.split(",")[0] in says(at) or tab == "Collectives"


@pytest.mark.parametrize("tab", profile_view.TABS)
def test_every_recorded_run_can_be_laid_over(open_page: OpenPage, tab):
    at = open_page(PAGE)
    for profile_id in profile_view.options():
        if profile_id.startswith("run-"):
            at = open_tab(at.selectbox(key="profiles.two").set_value(profile_id).run(), tab)
            assert not at.exception


def test_two_systems_are_compared_in_words(open_page: OpenPage):
    at = open_page(PAGE)
    at = at.selectbox(key="profiles.two").set_value("h200-sxm").run()
    assert "H200 SXM, open data takes" in says(at)
    at = open_tab(at, "Attention")
    assert "times as long as H100 SXM, open data" in says(at)
    at = open_tab(at, "Where tables end")
    assert says(at).count("Source: ") == 2


def test_a_size_past_the_tables_end_is_said(open_page: OpenPage):
    at = open_tab(open_page(PAGE), "Attention")
    at = at.select_slider(key="profiles.batch").set_value(256).run()
    assert "continued" in says(at)


def test_using_one_moves_the_scenario_and_the_address(open_page: OpenPage):
    at = open_page(PAGE)
    at = at.selectbox(key="profiles.one").set_value("b200-sxm").run()
    at = press(at, "Use as my accelerator")
    assert not at.exception
    assert at.query_params["profile"] == "b200-sxm"
    assert at.query_params["gpu"] == "b200-sxm"
    assert "The step pages estimate on it." in says(at)
    at = press(at, "Back to stated efficiencies")
    assert "profile" not in at.query_params
    assert "Use as my accelerator" in [button.label for button in at.button]


def test_batch_estimates_come_from_the_profile_and_floors_stay(open_page: OpenPage):
    at = answered(open_page(BATCH, NO_QUESTIONS))
    assert not at.exception
    words = says(at)
    assert "estimates from measured kernels of H100 SXM, open data" in words
    assert "of this step's estimate" in words.lower()
    assert "kernels and messages as measured on H100 SXM, open data" in words
    scenario, profile = default_scenario(), load_profile("h100-sxm")
    measured, stated = batch.headline_of(scenario, profile), batch.headline_of(scenario)
    assert measured.step_s != pytest.approx(stated.step_s, rel=0.01)
    assert (measured.floor_s, measured.max_batch) == (stated.floor_s, stated.max_batch)
    assert f"{measured.tokens_per_s:,.0f}" in sent(at)
    plain = answered(open_page(BATCH))
    assert f"{stated.tokens_per_s:,.0f}" in sent(plain)
    assert f"{measured.tokens_per_s:,.0f}" not in sent(plain)


def test_the_working_adds_up_the_profiles_kernels(open_page: OpenPage):
    at = answered(open_page(BATCH, NO_QUESTIONS))
    at.session_state["batch.step_working"] = True
    at = at.run()
    assert "kernels as they were measured, one after the other" in sent(at)
    assert "NVIDIA AIConfigurator" in sent(at)


def test_step_1_and_home_judge_by_the_profile(open_page: OpenPage):
    at = answered(open_page(BOTTLENECK, NO_QUESTIONS))
    assert not at.exception
    assert says(at).count("Estimates from measured kernels of H100 SXM, open data.") == 2  # training and serving
    home = answered(open_page("views/start/home.py", NO_QUESTIONS))
    assert not home.exception
    assert "estimates from measured kernels of H100 SXM, open data" in says(home)
    plain = answered(open_page("views/start/home.py"))
    assert says(home) != says(plain)


def test_step_1_speaks_of_the_profile_in_force_and_says_its_ridge(open_page: OpenPage):
    at = answered(open_page(BOTTLENECK, {"profile": "run-h200-full", "gpu": "h200-sxm"}))
    assert not at.exception
    words = says(at)
    assert "Times are estimates from measured kernels of H200 SXM, own run, at stated efficiencies beyond" in words
    assert "Times are estimates at stated efficiencies" not in words
    assert "its bf16 ridge at 206 FLOP/byte; by what H200 SXM, own run reaches" in words
    assert "it lies at 159." in words
    stated = says(answered(open_page(BOTTLENECK, {"gpu": "h200-sxm"})))
    assert "Times are estimates at stated efficiencies; waiting" in stated
    assert "it lies at" not in stated


def test_step_3_times_come_from_the_profile_and_bytes_stay(open_page: OpenPage):
    wanted = NO_QUESTIONS | {"tp": "8", "dp": "8"}
    at = answered(open_page("views/steps/communication.py", wanted))
    assert not at.exception
    assert "estimates from measured kernels of H100 SXM, open data" in says(at)
    assert "Collectives of tensor parallelism inside a node are measured ones." in says(at)
    at.session_state["communication.axes_working"] = True
    assert "as measured" in sent(at.run())
    plain = answered(open_page("views/steps/communication.py", {"tp": "8", "dp": "8"}))
    assert "Estimates: matrices at" in says(plain)
    assert "Collectives of" not in says(plain)


@pytest.mark.parametrize("tab", ["Speculation", "Prefix hits"])
def test_levers_of_step_5_take_the_profile(open_page: OpenPage, tab):
    def shown(query: dict[str, str]) -> str:
        at = answered(open_page(BATCH, query))
        at.session_state["batch.lever"] = tab
        at = at.run()
        assert not at.exception
        return sent(at)

    measured, stated = shown(NO_QUESTIONS), shown({})
    scenario, profile = default_scenario(), load_profile("h100-sxm")
    if tab == "Speculation":
        assert "speed-up as measured" in measured
        assert "speed-up as measured" not in stated
    else:
        for words, chosen in ((measured, profile), (stated, None)):
            assert show_seconds(float(batch_token.prefix_hits(scenario, chosen).prefill_s[0])) in words


def test_the_known_run_starts_from_the_profiles_estimate(open_page: OpenPage, monkeypatch):
    asked = []
    judge = known_run.verdicts

    def watched(scenario, profile=None):
        asked.append(profile)
        return judge(scenario, profile)

    monkeypatch.setattr(known_run, "verdicts", watched)
    at = answered(open_page(BOTTLENECK, NO_QUESTIONS))
    assert not at.exception
    assert set(asked) == {load_profile("h100-sxm")}


def test_recorded_runs_on_one_device_are_one_profile_too(open_page: OpenPage):
    found = profile_view.options()
    assert profile_view.label("run-all-nvidia-h200", found["run-all-nvidia-h200"]) == "H200 SXM, own run: all sets"
    assert [name for name in found if name.startswith("run-all-")] == ["run-all-nvidia-h200"], (
        "one run needs no joining"
    )
    query = {"profile": "run-all-nvidia-h200", "gpu": "h200-sxm", "tp": "2", "dp": "4"}
    at = answered(open_page("views/steps/communication.py", query))
    assert not at.exception
    assert "Estimates from measured kernels of H200 SXM, own run: matrices at" in says(at)
    assert "Collectives of tensor parallelism inside a node are measured ones." in says(at)


def test_step_4_has_measured_times_beside_its_floors(open_page: OpenPage):
    at = answered(open_page("views/steps/attention.py", NO_QUESTIONS))
    assert not at.exception
    assert "estimates from measured kernels of H100 SXM, open data" in says(at)
    assert f"Measured: {load_profile('h100-sxm').citation}." in says(at)
    assert "10.0 us a launch" in says(at), "open data has no launches"
    own = answered(open_page("views/steps/attention.py", {"profile": "run-h200-full", "gpu": "h200-sxm"}))
    assert "measured with this app's own benchmark on NVIDIA H200" in says(own)
    assert "10.0 us a launch" not in says(own)
    plain = answered(open_page("views/steps/attention.py"))
    assert "Measured: " not in says(plain)


def test_a_page_to_which_nothing_measured_applies_says_so(open_page: OpenPage):
    at = open_page("views/steps/attention.py", NO_QUESTIONS | {"model": "deepseek-ai/DeepSeek-V3"})
    assert not at.exception
    assert "the times on this page stay at stated efficiencies" in says(at)


def test_another_accelerator_sets_the_profile_aside(open_page: OpenPage):
    at = answered(open_page(BATCH, {"profile": "h100-sxm", "gpu": "a100-sxm-80gb"}))
    assert "Measured kernels of H100 SXM, open data are set aside: the scenario is on A100" in says(at)
    assert "Estimates: 0.88 of the bandwidth" in says(at)


@pytest.mark.parametrize("name", ["nothing", "run-nothing", "own", "../../etc/passwd", "x" * 3000])
def test_a_profile_that_is_not_here_is_said(open_page: OpenPage, name):
    at = answered(open_page(BATCH, {"profile": name}))
    assert not at.exception
    assert "is not here; estimates are stated ones" in says(at)


def test_a_link_keeps_the_profile_over_pages(open_page: OpenPage):
    at = open_page(BATCH, NO_QUESTIONS)
    at = at.switch_page(BOTTLENECK).run()
    assert "estimates from measured kernels of H100 SXM, open data" in says(at)


def test_profiles_are_put_together_once_a_run(open_page: OpenPage, monkeypatch):
    calls, real = [], profile_view.options
    monkeypatch.setattr(profile_view, "options", lambda: calls.append(1) or real())
    at = open_page(PAGE)
    assert not at.exception
    assert len(calls) == 1
