"""Bad numbers are refused with the field, the value, the rule."""

import numpy as np
import pytest

from core.checks import divides, not_negative, numbers, one_of, positive, share, whole


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (numbers, "ten", "x='ten' is not a number"),
        (numbers, None, "x=nan must be a finite number"),
        (numbers, [1, float("inf")], "x=inf must be a finite number"),
        (positive, [[1, 2], [3, 0]], "x=0 must be greater than 0"),
        (not_negative, -1e-9, "x=-1e-09 must be 0 or greater"),
        (share, [0, 1, 1.01], "x=1.01 must be a share from 0 to 1"),
        (whole, 1.5, "x=1.5 must be a whole number, 1 or more"),
        (whole, -3, "x=-3 must be a whole number, 1 or more"),
    ],
)
def test_the_sentence_names_the_first_offender(check, value, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        check("x", value)


def test_good_numbers_pass_unchanged_in_value_and_shape():
    assert np.array_equal(whole("x", [[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    assert positive("x", 7e9) == 7e9
    assert np.array_equal(share("x", [0, 0.3, 1]), [0, 0.3, 1])
    assert whole("x", 0, low=0) == 0


def test_a_divisor_that_leaves_a_remainder_is_told_which_serve():
    divides("tensor_parallel", [1, 2, 4], "num_attention_heads", 12)
    with pytest.raises(ValueError, match=r"tensor_parallel=5 does not divide num_attention_heads=12; choose one of"):
        divides("tensor_parallel", [1, 5], "num_attention_heads", 12)


def test_a_choice_is_one_of_the_named_ones():
    assert one_of("x", "a", ["a", "b"]) == "a"
    with pytest.raises(ValueError, match="x='c' is not known"):
        one_of("x", "c", ["a", "b"])
