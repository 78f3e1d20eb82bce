"""Expressions compute and do nothing else."""

from __future__ import annotations

import contextlib
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cards.expressions import MAX_LENGTH, ExpressionError, evaluate, names_in

VALUES = {"a": 2.0, "b": 3.0, "big": 1e300}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3", 7),
        ("a**b", 8),
        ("7 // a", 3),
        ("7 % b", 1),
        ("-a", -2),
        ("1e3*a", 2000),
        ("a < b", 1),
        ("a < b < 1", 0),
        ("not a", 0),
        ("a == 2 and b == 3", 1),
        ("a if a > b else b", 3),
        ("ceil(a/b) + floor(b/a)", 2),
        ("sqrt(a + a) + log2(8) + exp(0)", 6),
        ("min(a, b) + max(a, b, 10)", 12),
        ("  a  ", 2),
    ],
)
def test_arithmetic(text, value):
    assert evaluate(text, VALUES) == value


def test_names_are_those_that_it_reads():
    assert names_in("max(a, b)*c if d else 2") == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    "text",
    [
        *("a.real", "a[0]", "(lambda: 1)()", "__import__('os')", "open(a)", "max(a, key=b)", "min(*a)", "[a]", "{a}"),
        *("'a'", "f'{a}'", "x := 1", "a; b", "a, b", "a @ b", "a & b", "a << b", "~a", "a is b", "a in b", "await a"),
        *(
            "1j",
            "True",
            "None",
            "...",
            "yield",
            "",
            " ",
            "a +",
            "a b",
            "1(2)",
            "a(2)",
            "0x1F",
            "1if a else b",
            "2e",
            "float",
        ),
        *("max", "max + 1", "a\x00", "ａ", "µ", "a!", "1e999", "9" * 400, "import os", "print", "eval(a)", "exec"),
    ],
)
def test_what_is_not_of_the_language_is_refused_in_words(text):
    with pytest.raises(ExpressionError) as refused:
        evaluate(text, VALUES)
    assert len(str(refused.value)) > 10


@pytest.mark.parametrize(
    "text", ["a/0", "a % 0", "sqrt(-a)", "log2(0)", "big*big", "exp(1000)", "(-a)**0.5", "min()", "big**big"]
)
def test_what_has_no_finite_value_is_refused(text):
    with pytest.raises(ExpressionError):
        evaluate(text, VALUES)


def test_a_missing_name_is_named_with_those_that_are_known():
    with pytest.raises(ExpressionError, match=r"reads c, known are a, b, big"):
        evaluate("a*c", VALUES)


def test_length_is_bounded():
    assert evaluate("+".join("1" * 200), {}) == 200
    with pytest.raises(ExpressionError, match=f"at most {MAX_LENGTH}"):
        evaluate("+".join("1" * 201), {})


TOWER = "**".join(["((1<2)+(1<2)+(1<2))"] * 18)


@pytest.mark.parametrize(
    "text", [TOWER, "**".join("9" * 100), "ceil(big)**ceil(big)", "-" * 399 + "a", "(" * 199 + "a" + ")" * 199]
)
def test_no_expression_takes_long(text):
    begun = time.process_time()
    with contextlib.suppress(ExpressionError):
        evaluate(text, VALUES)
    assert time.process_time() - begun < 0.5


TOKENS = st.sampled_from(
    [
        *"ab()+-*/%<>=,.:[]'\"!_ \n",
        "**",
        "//",
        "<=",
        "==",
        "and ",
        "or ",
        "not ",
        " if ",
        " else ",
        "1",
        "2.5",
        "1e9",
        "max",
        "min",
        "ceil",
        "sqrt",
        "lambda",
        "__import__",
        ".real",
        "import",
        "for",
        "in",
        "print",
        "open",
        "{{",
        "0x",
        "1_0",
        "\\",
    ]
)


@given(st.lists(TOKENS, max_size=30).map("".join))
def test_any_text_gives_a_finite_float_or_is_refused(text):
    try:
        value = evaluate(text, VALUES)
    except ExpressionError:
        return
    assert type(value) is float
    assert math.isfinite(value)


@given(st.text(max_size=60))
def test_any_characters_give_a_finite_float_or_are_refused(text):
    with contextlib.suppress(ExpressionError):
        assert math.isfinite(evaluate(text, VALUES))


class Watched(dict):  # type: ignore[type-arg]
    """Values that note which names were read."""

    def __init__(self, values):
        super().__init__(values)
        self.asked = set()

    def __getitem__(self, name):
        self.asked.add(name)
        return super().__getitem__(name)


@given(st.lists(TOKENS, max_size=20).map("".join))
def test_nothing_is_read_but_what_it_names(text):
    values = Watched({**VALUES, "secret": 1.0})
    with contextlib.suppress(ExpressionError):
        evaluate(text, values)
    assert values.asked <= {"a", "b"}
