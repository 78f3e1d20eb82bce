"""One kind of matrix: stored, used, and an array over degrees."""

import numpy as np

from core.matrix import Matrix


def test_a_product_is_two_flop_a_weight():
    one = Matrix("one", 3, 5)
    assert (one.params, one.flops) == (15, 30)


def test_an_expert_is_stored_with_all_others_and_used_with_few():
    experts = Matrix("experts", 3, 5, stored=64, used=2)
    assert (experts.params, experts.flops) == (64 * 15, 2 * 30)


def test_a_width_can_be_an_array():
    split = Matrix("split", 8, 16 / np.array([1, 2, 4]))
    assert list(split.params) == [128, 64, 32]
