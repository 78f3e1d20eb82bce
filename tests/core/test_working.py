"""The calculator that holds derivations to their values, a stranger to the formulas; and how numbers are written."""

import ast
import operator
import re

import pytest

from core.working import Term, Working, number, product, scalar
from core.zero_working import zero_working

ALLOWED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def calculate(line):
    """Plain arithmetic and nothing else: numbers, brackets and four signs."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", line).replace("×", "*")

    def visit(node):
        match node:
            case ast.Expression(body=body):
                return visit(body)
            case ast.Constant(value=int() | float() as value):
                return value
            case ast.BinOp(left=left, op=op, right=right) if type(op) in ALLOWED:
                return ALLOWED[type(op)](visit(left), visit(right))
        raise AssertionError(f"{ast.dump(node)} is no plain arithmetic in {line!r}")

    return visit(ast.parse(text.strip(), mode="eval"))


def holds(working, value):
    assert working.value == value
    assert calculate(working.substitution) == pytest.approx(value, rel=1e-12)
    for term in working.terms:
        assert calculate(term.expression) == pytest.approx(term.value, rel=1e-12)
    assert sum(term.value for term in working.terms) == pytest.approx(value, rel=1e-12)
    assert working.unit
    assert working.source
    assert working.formula
    assert working.assumptions
    result = working.lines[-1].removeprefix("= ").removesuffix(f" {working.unit}")
    assert calculate(result) == pytest.approx(value, rel=1e-14)  # 41,943,040.00000001 reads 41,943,040


def test_numbers_lose_no_digit():
    assert [number(x) for x in (70553706496, 2.0, 4.127, 1e-6, 3 / 7, 2509393121548.5415)] == [
        "70,553,706,496",
        "2",
        "4.127",
        "1e-06",
        "0.42857142857142855",
        "2,509,393,121,548.5415",
    ]
    assert product(2, "(3 + 4)", 1000) == "2 × (3 + 4) × 1,000"


def test_the_last_bits_of_a_double_are_no_digits():
    assert number(16731611136.000002) == "16,731,611,136"
    assert [number(x) for x in (0.1 + 0.2, 10 * 1e-6, 9.999999999999999e-06, 803 * 1.1e-6)] == [
        "0.3",
        "1e-05",
        "1e-05",
        "0.0008833",
    ]
    assert number(2 / 3) == "0.6666666666666666"  # nothing else is rounded


def test_a_sweep_has_no_single_derivation():
    with pytest.raises(ValueError, match="data_parallel has 2 values; a derivation shows one"):
        zero_working(7e9, [8, 64], stage=1)
    assert scalar("stage", [[3]]) == 3


def test_terms_add_up_to_the_line():
    working = Working("x", "a + b", (Term("a", "2 × 3", 6, "bytes"), Term("b", "8 / 2", 4, "bytes")), 10, "bytes")
    assert working.lines == ("a + b", "= 2 × 3 + 8 / 2", "= 10 bytes")


def test_the_calculator_of_this_test_refuses_anything_but_arithmetic():
    with pytest.raises(AssertionError, match="no plain arithmetic"):
        calculate("__import__('os')")
