"""Parts of a pass: what each is read as, and what a profile without a table of it puts there."""

import numpy as np
import pytest

from core.measured_estimate import measured_decode
from core.measured_profile import Profile, load_profile
from core.measured_step import ATTENTION, MATRICES, MESSAGES
from core.model_spec import load_models

H200 = load_profile("h200-sxm")
LLAMA = load_models()["meta-llama/Llama-3.1-70B"]


def decode(profile: Profile = H200, batch: int = 32, **how):
    step = measured_decode(profile, LLAMA, 4096, batch=batch, tensor_parallel=8, **how)
    return {part.label: part for part in step.parts}


def from_width(first: int) -> Profile:
    """The open data as if nothing narrower had been measured."""
    table = H200.file.matmul[0]
    at = table.n.index(first)
    cut = table.model_copy(update={"n": table.n[at:], "seconds": table.seconds[at:]})
    return Profile(H200.file.model_copy(update={"matmul": (cut,)}))


def test_a_matrix_is_the_sum_of_its_layers_products():
    part = decode()["MLP gate and up projections"]
    once = H200.matmul_s(32, 2 * 28672 // 8, 8192)
    assert float(part.seconds) == pytest.approx(80 * float(once.seconds))
    assert (part.kind, part.basis) == (MATRICES, "measured")


def test_a_narrower_matrix_than_any_measured_one_is_bounded_and_not_continued():
    part = decode(from_width(4096))["query, key and value projections"]
    assert part.basis == "bounded"
    assert part.seconds > decode()["query, key and value projections"].seconds


def test_narrower_and_more_rows_than_measured_is_continued_and_no_bound():
    rows = H200.file.matmul[0].m[-1]
    assert decode(from_width(4096), batch=2 * rows)["query, key and value projections"].basis == "continued"


@pytest.mark.parametrize(("field", "kind"), [("matmul", MATRICES), ("attention", ATTENTION), ("collectives", MESSAGES)])
def test_what_has_no_table_is_stated_in_its_place(field, kind):
    bare = Profile(H200.file.model_copy(update={field: ()}))
    parts = [part for part in decode(bare).values() if part.kind == kind]
    assert {part.basis for part in parts} == {"stated"}
    assert all("measured" in part.notes[0] for part in parts)
    assert all(np.all(part.seconds > 0) for part in parts)


def test_launches_are_waited_for_only_one_by_one():
    assert "waiting for launches" not in decode()
    slow = Profile(H200.file.model_copy(update={"launch_s": 1e-4}))
    part = decode(slow, eager=True)["waiting for launches"]
    assert part.seconds > 0
    assert part.basis == "measured"
    assert decode(eager=True)["waiting for launches"].basis == "stated", "the open data has no launch"
