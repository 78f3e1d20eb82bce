"""One scenario for a session: a refusal keeps the last good one, and an address is read when somebody else wrote it."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import Scenario, changed, field_values, with_model
from core.scenario_link import default_scenario, to_address
from views._ui import state


class Query(dict):
    """``st.query_params`` as far as it is used."""

    def from_dict(self, values):
        self.clear()
        self.update(values)

    def to_dict(self):
        return dict(self)


@pytest.fixture
def session(monkeypatch):
    """A session of its own, without a server."""
    fake = SimpleNamespace(session_state={}, query_params=Query(), page="partition")
    monkeypatch.setattr(state, "st", fake)
    monkeypatch.setattr(state, "_page", lambda: fake.page)
    return fake


START = default_scenario()


def visit():
    """What a page run does with the address."""
    state.carry_address()
    state.open_address()
    shown = state.current()
    state.write_address()
    return shown


def fields_refused():
    return [problem.field for problem in (*state.link_refusals(), *state.refusals().values())]


def test_a_first_visit_starts_with_the_start_scenario_and_an_empty_address(session):
    assert visit() == START
    assert session.query_params == {}


def test_a_link_opens_its_scenario(session):
    session.query_params.update({"dp": "8", "tp": "8", "utm_source": "mail"})
    assert visit() == changed(START, data_parallel=8, tensor_parallel=8)
    assert session.query_params == {"dp": "8", "tp": "8", "utm_source": "mail"}


def test_an_address_that_cannot_be_read_keeps_the_last_good_scenario(session):
    session.query_params.update({"dp": "8"})
    visit()
    session.query_params.update({"tp": "7"})
    assert visit() == changed(START, data_parallel=8)
    assert fields_refused() == ["tensor_parallel"]
    assert visit() == changed(START, data_parallel=8)
    assert fields_refused() == ["tensor_parallel"]  # still said on the next run


# Each write is a step of the browser's history: an address put right by the app would catch whoever goes Back.
@pytest.mark.parametrize("query", [{"tp": "7"}, {"dp": "64"}, {"dp": "008"}, {"model": "1.broken"}])
def test_an_address_is_left_as_it_came_until_something_is_changed(session, query):
    session.query_params.update(query)
    for _ in range(2):
        visit()
        assert session.query_params == query
    state.change(data_parallel=16)
    visit()
    assert session.query_params == {"dp": "16"}


@pytest.mark.parametrize("text", ["1.broken", "llama-9000", "1." + "A" * 500])
def test_a_broken_first_link_shows_the_start_scenario_and_says_why(session, text):
    session.query_params["model"] = text
    assert visit() == START
    assert fields_refused() == ["model"]


def test_the_same_page_with_another_address_takes_it(session):
    session.query_params["dp"] = "8"
    visit()
    session.query_params["dp"] = "16"  # Back, or typed over
    assert visit().training.data_parallel == 16
    session.query_params.clear()
    assert visit() == START


def test_a_change_by_hand_is_newer_than_the_address_that_came_along_with_it(session):
    visit()
    for data_parallel in (8, 16):
        state.change(data_parallel=data_parallel)
        session.query_params.clear()  # the browser has heard of none of them yet
        assert visit().training.data_parallel == data_parallel
        assert session.query_params == {"dp": str(data_parallel)}
    session.query_params["dp"] = "8"  # Back
    assert visit().training.data_parallel == 8


def test_moving_to_another_page_carries_the_address_along(session):
    session.query_params["dp"] = "8"
    visit()
    session.page = "home"
    session.query_params.clear()  # st.navigation drops the query on a page switch
    state.carry_address()
    assert session.query_params == {"dp": "8"}  # before the page is named: one step of the browser's history
    assert visit().training.data_parallel == 8


def test_a_link_to_another_page_is_taken(session):
    session.page = "home"
    visit()
    session.page = "partition"
    session.query_params["dp"] = "16"
    assert visit().training.data_parallel == 16


def test_what_the_app_wrote_itself_is_not_read_again(session):
    visit()
    state.change(data_parallel=16)
    written = state.current()
    state.write_address()
    assert visit() is written


def test_every_preset_is_written_so_that_it_can_be_read(session):
    for preset in load_presets().values():
        state.replace(preset.scenario())
        state.write_address()
        session.session_state.clear()
        assert visit() == preset.scenario()


def test_a_scenario_too_large_for_an_address_is_kept_and_said(session):
    long_name = START.model.model_copy(update={"id": "custom", "notes": tuple(f"{n**40:x}" for n in range(2, 80))})
    large, _ = with_model(START, long_name)
    state.replace(large)
    assert visit() == large
    assert "an address holds at most" in state.address_problem()
    assert visit() == large
    state.replace(START)
    visit()
    assert state.address_problem() is None


def test_a_refused_value_keeps_the_scenario_and_waits_beside_its_field(session):
    assert not state.change(tensor_parallel=7)
    assert state.current() == START
    assert {field: problem.value for field, problem in state.refusals().items()} == {"tensor_parallel": 7}


def test_other_fields_can_still_be_changed(session):
    state.change(tensor_parallel=7)
    assert state.change(data_parallel=8)
    assert state.current() == changed(START, data_parallel=8)
    assert fields_refused() == ["tensor_parallel"]
    assert state.change(tensor_parallel=8)
    assert fields_refused() == []
    assert state.current() == changed(START, data_parallel=8, tensor_parallel=8)


def test_two_refused_fields_both_wait(session):
    state.change(tensor_parallel=7)
    state.change(data_parallel=0)
    assert sorted(fields_refused()) == ["data_parallel", "tensor_parallel"]
    assert state.change(tensor_parallel=8)
    assert fields_refused() == ["data_parallel"]


def test_a_value_that_fits_only_with_another_is_taken_with_it(session):
    assert not state.change(offload="optimizer+parameters", zero_stage=1)
    state.replace(START)
    assert not state.change(sequence_parallel=True)
    assert state.change(tensor_parallel=8)
    assert state.current().training.sequence_parallel
    assert fields_refused() == []


# A sequence that the ranks cannot cut: the sentence belongs beside the length, which is what was changed.
def test_a_rule_of_two_fields_is_said_beside_the_one_that_was_changed(session):
    assert state.change(context_parallel=2)
    assert not state.change(seq_len=4097)
    assert fields_refused() == ["seq_len"]
    assert state.refusals()["seq_len"].sentence == (
        "Sequence length is 4,097: with it, Context parallel is 2, but it must divide the sequence length 4,097."
        " For Context parallel: choose one of 1, 17, 241."
    )
    assert state.change(context_parallel=17)
    assert (state.current().training.seq_len, state.current().training.context_parallel) == (4097, 17)


def test_a_broken_link_does_not_haunt_later_changes(session):
    session.query_params["model"] = "1.broken"
    visit()
    assert state.change(data_parallel=8)
    assert fields_refused() == []


# Sixteen expert ranks wait for two context ranks, which wait for a length that can be cut in two.
def test_a_waiting_value_lets_another_in(session):
    deepseek, _ = with_model(changed(START, data_parallel=8, seq_len=4097), load_models()["deepseek-ai/DeepSeek-V3"])
    state.replace(deepseek)
    for field, value in {"expert_parallel": 16, "context_parallel": 2, "tensor_parallel": 7}.items():
        assert not state.change(**{field: value})
    assert state.change(seq_len=4096)
    assert fields_refused() == ["tensor_parallel"]
    assert state.current().training.expert_parallel == 16


DEGREES = ["tensor_parallel", "pipeline_parallel", "virtual_stages", "context_parallel", "expert_parallel"]
CHANGES = st.tuples(st.sampled_from(DEGREES), st.integers(-1, 64)) | st.sampled_from(
    [("sequence_parallel", True), ("sequence_parallel", False), ("seq_len", 4096), ("seq_len", 4097)]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(CHANGES, max_size=8))
def test_whatever_is_asked_for_is_shown_or_waits_with_a_sentence(changes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "st", SimpleNamespace(session_state={}, query_params=Query(), page="partition"))
        for field, value in changes:
            taken = state.change(**{field: value})
            assert taken == (field not in state.refusals())
        shown = field_values(state.current())
        waiting = {field: problem.value for field, problem in state.refusals().items()}
        assert {field: value for field, value in dict(changes).items() if shown[field] != value} == waiting
        assert all(problem.sentence.endswith(".") for problem in state.refusals().values())


def test_refusals_do_not_pile_up(session):
    for degree in (7, 9, 11):
        state.change(tensor_parallel=degree)
    assert [problem.value for problem in state.refusals().values()] == [11]


def test_notes_are_given_out_once(session):
    scenario, said = with_model(changed(START, tensor_parallel=16), load_models()["openai-community/gpt2-xl"])
    state.replace(scenario, *said)
    assert state.take_notes() == said
    assert state.take_notes() == []
    assert isinstance(state.current(), Scenario)
    assert to_address(state.current())["model"] == "openai-community/gpt2-xl"
