"""The functions that cards may name: ``topic.function`` of ``core.whiteboard``, plain numbers in base units."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

import numpy as np

from core import whiteboard


class FunctionError(ValueError):
    """A name or an argument that the whiteboard does not have, or a call that it refused."""


@lru_cache(maxsize=1024)
def find(name: str) -> Callable[..., float]:
    """The function under a name like ``kv_cache.max_batch``.

    Raises:
        FunctionError: there is none; those of its topic are named.
    """
    module, _, function = name.partition(".")
    topics = sorted(item.name for item in iter_modules(whiteboard.__path__))
    if module not in topics:
        raise FunctionError(f"{name!r}: no topic {module!r}; there are {', '.join(topics)}")
    known = _functions(f"core.whiteboard.{module}")
    if function not in known:
        raise FunctionError(f"{name!r}: {module} has {', '.join(known)}")
    return known[function]


def call(name: str, arguments: Mapping[str, object]) -> float:
    """Call one of them.

    Raises:
        FunctionError: unknown name or argument, refused numbers, or a result that is not finite.
    """
    function = find(name)
    check_arguments(name, arguments)
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            value = float(function(**arguments))
    except (ValueError, ArithmeticError, MemoryError) as error:
        raise FunctionError(f"{name} refuses its numbers: {error}") from None
    except (TypeError, AttributeError) as error:  # an accelerator where a number belongs, or the other way round
        raise FunctionError(f"{name} cannot take these arguments: {error}") from None
    if not math.isfinite(value):
        raise FunctionError(f"{name} gives {value}, which is no finite number")
    return value


def check_arguments(name: str, arguments: Mapping[str, object]) -> None:
    """Whether a function takes arguments of these names.

    Raises:
        FunctionError: it does not; those that it takes are named.
    """
    signature = _signature(name)
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise FunctionError(f"{name}: {error}; it takes {', '.join(signature.parameters)}") from None


def _functions(module: str) -> dict[str, Callable[..., float]]:
    """The public functions that a module defines itself: what it imports is another topic's, or no topic's."""
    names = vars(import_module(module))
    return {
        name: value
        for name, value in names.items()
        if inspect.isfunction(value) and value.__module__ == module and not name.startswith("_")
    }


@lru_cache(maxsize=1024)
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(find(name))
