"""The small language of a card's numbers: arithmetic, comparisons, a conditional and a few functions, nothing else.

An expression is read once into a syntax tree of which every node stands on an allow-list, so a card can compute and do
nothing more. Values are floats throughout: a power that grows without bound then overflows at once and fills no memory.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType

FUNCTIONS: dict[str, Callable[..., float]] = {
    "ceil": lambda value: float(math.ceil(value)),
    "floor": lambda value: float(math.floor(value)),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log2": math.log2,
    "min": min,
    "max": max,
}
MAX_LENGTH = 400

_ALLOWED = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.Name, ast.Load),
    *(ast.Constant, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.UAdd),
    *(ast.And, ast.Or, ast.Not, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
)
# What the parser need not even see: texts, brackets, attributes, assignments, and a number that runs into a word.
_FOREIGN = re.compile(
    r"[^A-Za-z0-9_ \t\n.,()+\-*/%<>=!]|(?<![0-9])\.(?![0-9])"
    r"|(?<![\w.])[0-9.]*[0-9][0-9_.]*(?:[eE][+-]?[0-9]+)?(?![eE][+-]?[0-9])[A-Za-z_]"
)
_FLOAT = "float"  # no parameter reaches it: it stands in the tree only, never in a text
_GLOBALS = {"__builtins__": {}, _FLOAT: float}


class ExpressionError(ValueError):
    """An expression that is not of the language, names what is not there, or has no finite value."""


def names_in(text: str) -> frozenset[str]:
    """The parameters that an expression reads.

    Raises:
        ExpressionError: it is not of the language.
    """
    return _compiled(text)[1]


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """The value of an expression; a comparison gives 1 or 0.

    Raises:
        ExpressionError: it is not of the language, reads a name without a value, or has no finite value.
    """
    code, names = _compiled(text)
    if not names <= values.keys():
        missing = ", ".join(sorted(names - values.keys()))
        raise ExpressionError(f"{text!r} reads {missing}, known are {', '.join(sorted(values))}")
    try:
        result = eval(code, _GLOBALS, {**FUNCTIONS, **{name: float(values[name]) for name in names}})
        number = float(result)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ExpressionError(f"{text!r} has no value: {error}") from None
    if not math.isfinite(number):
        raise ExpressionError(f"{text!r} is not finite")
    return number


@lru_cache(maxsize=8192)
def _compiled(text: str) -> tuple[CodeType, frozenset[str]]:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression has at most {MAX_LENGTH} characters, this one has {len(text)}")
    if foreign := _FOREIGN.search(text):
        raise ExpressionError(
            f"{text!r} holds {foreign[0]!r}: an expression has numbers, names and + - * / // % ** only"
        )
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"{text!r} is not an expression: {error}") from None
    functions = set()
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"{text!r} holds {type(node).__name__}, which is not allowed in an expression")
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS) or node.keywords:
                raise ExpressionError(f"{text!r} may call {', '.join(FUNCTIONS)}, nothing else, and by position")
            functions.add(id(node.func))
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool) or not isinstance(node.value, int | float):
                raise ExpressionError(f"{text!r} holds {node.value!r}; constants are numbers")
            node.value = _as_float(node.value, text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions}
    if clash := sorted(names & {*FUNCTIONS, _FLOAT}):
        raise ExpressionError(f"{text!r} uses {', '.join(clash)} as a number; it is a function")
    _make_truth_a_float(tree)
    try:
        return compile(ast.fix_missing_locations(tree), "<expression>", "eval"), frozenset(names)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"{text!r} is not an expression: {error}") from None


def _as_float(value: float, text: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ExpressionError(f"{text!r} holds a number that is too large")
    return number


def _make_truth_a_float(tree: ast.Expression) -> None:
    """Wrap each comparison and each ``not``: true and false are whole numbers, and whole numbers have no largest."""
    for parent in ast.walk(tree):  # has taken a node's children before it gives the node, so wrappers are not walked
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                value[:] = [_wrapped(item) for item in value]
            else:
                setattr(parent, field, _wrapped(value))


def _wrapped(node: object) -> object:
    if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return ast.Call(ast.Name(_FLOAT, ast.Load()), [node], [])
    return node
