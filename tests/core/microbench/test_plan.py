"""What the sets hold, on which cards, and that they fit their time."""

from __future__ import annotations

from collections import Counter

import pytest

from core.microbench import plan
from core.microbench.shapes import CPU_MODEL, GPU_MODELS, LayerShape, find_shape
from tests.core.microbench.fakes import fake_bench

FOUR = [find_shape(model) for model in GPU_MODELS]
ON_CPU = [find_shape(CPU_MODEL)]


@pytest.mark.parametrize("name", ["quick", "full"])
def test_each_item_is_there_once(name):
    for bench, shapes in ((fake_bench(), FOUR), (fake_bench("fp32", kind="cpu"), ON_CPU)):
        names = Counter(item.name for item in plan.items(bench, name, shapes))
        assert max(names.values()) == 1


def test_the_full_set_measures_kernels_apart_from_the_steps_that_they_predict():
    items = plan.items(fake_bench(), "full", FOUR)
    kinds = Counter(item.kind for item in items)
    assert set(kinds) == {
        "copy",
        "launch",
        "reference",
        "matmul",
        "attention",
        "attention_decode",
        "vector",
        "step",
        "host_link",
    }
    assert kinds["step"] == 3 * len(FOUR)


def test_every_matrix_of_every_model_is_measured_and_its_gradients_too():
    names = {item.name for item in plan.items(fake_bench(), "full", FOUR)}
    for shape in FOUR:
        for n, k in shape.matrices.values():
            assert f"product bf16 {n} x {k}" in names
            assert f"product bf16 {n} x {k}, weight gradient" in names
            assert f"product bf16 {n} x {k}, input gradient" in names


def test_every_dtype_has_its_turn_and_what_the_card_lacks_is_said():
    items = [item for item in plan.items(fake_bench(capability=(8, 0)), "quick", FOUR[:1]) if item.kind == "matmul"]
    assert {item.name.split()[1] for item in items} == {"fp32", "tf32", "bf16", "fp16", "fp8", "int8"}
    assert {item.name.split()[1] for item in items if item.lacks} == {"fp8"}


def test_the_product_that_plain_calls_make_is_among_ours():
    """8192 x 8192 is also a matrix of the 70B: it must not be there twice."""
    m, n, k = plan.REFERENCE_GPU[1]
    for shapes in (FOUR, FOUR[:1]):
        [item] = [item for item in plan.items(fake_bench(), "full", shapes) if item.name == f"product bf16 {n} x {k}"]
        assert item.num_points == (14 if shapes is FOUR else 1)
    assert m in plan.product.GPU_M


@pytest.mark.parametrize(("name", "shapes", "seconds"), [("quick", FOUR[:1], 60), ("full", FOUR, 480)])
def test_the_first_guess_of_a_sets_time_is_within_what_is_promised(name, shapes, seconds):
    items = plan.items(fake_bench(), name, shapes)
    assert sum(item.num_points * item.point_s for item in items) < seconds


def test_two_models_with_the_same_heads_share_their_attention():
    shapes = [FOUR[0], LayerShape("test/other", 2048, 32, 8, 128, 8192)]
    items = plan.items(fake_bench(), "full", shapes)
    assert sum(item.kind == "attention_decode" for item in items) == 4


def test_every_set_has_a_time_bound():
    assert set(plan.MAX_SECONDS) == set(plan.SETS)
