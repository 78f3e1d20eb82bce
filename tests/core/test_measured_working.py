"""The derivation of a measured step: its kernels add up to it, and say how they were read."""

import pytest

from core.measured_estimate import measured_decode
from core.measured_profile import Profile, load_profile
from core.measured_working import basis_in_words, measured_working
from core.model_spec import load_models

H200 = load_profile("h200-sxm")
LLAMA = load_models()["meta-llama/Llama-3.1-70B"]


def test_the_terms_add_up_to_the_estimate():
    step = measured_decode(H200, LLAMA, 4096, batch=32, tensor_parallel=8)
    working = measured_working(step)
    assert sum(term.value for term in working.terms) == pytest.approx(working.value)
    assert working.value == pytest.approx(float(step.step_s))
    assert any(term.label.startswith("all-reduces (between measured cells)") for term in working.terms)
    assert working.source == H200.citation


def test_the_shares_are_said_and_those_of_nothing_are_not():
    inside = basis_in_words(measured_decode(H200, LLAMA, 4096, batch=32, tensor_parallel=8))
    assert "rests on measured cells" in inside
    assert "continued" not in inside
    beyond = basis_in_words(measured_decode(H200, LLAMA, 1_000_000, batch=4096, tensor_parallel=8))
    assert "on tables continued beyond their measured cells" in beyond
    assert "upper bound" not in beyond


def test_matrices_narrower_than_the_tables_first_are_an_upper_bound_and_not_past_its_end():
    ends = H200.file.matmul[0]
    first = ends.n.index(4096)  # as a run of one's own has it: whole layers' widths alone
    cut = ends.model_copy(update={"n": ends.n[first:], "seconds": ends.seconds[first:]})
    profile = Profile(H200.file.model_copy(update={"matmul": (cut,)}))
    step = measured_decode(profile, LLAMA, 4096, batch=32, tensor_parallel=8)
    label = "query, key and value projections (charged as the next larger measured size, an upper bound)"
    assert label in [term.label for term in measured_working(step).terms]  # (64 + 2 * 8) * 128 / 8 = 1,280 wide
    assert "columns n: 1,280 lies below the table's first size, 4,096; charged as that: an upper bound." in step.notes
    said = basis_in_words(step)
    assert "on the next larger measured size: an upper bound" in said
    assert "beyond" not in said
    whole = measured_decode(H200, LLAMA, 4096, batch=32, tensor_parallel=8)
    assert step.step_s > whole.step_s


def test_what_was_not_measured_says_so():
    working = measured_working(
        measured_decode(H200, load_models()["deepseek-ai/DeepSeek-V3"], 4096, batch=8, tensor_parallel=8)
    )
    assert any("(not measured: stated)" in term.label for term in working.terms)
    assert any("not measured" in note for note in working.assumptions)
