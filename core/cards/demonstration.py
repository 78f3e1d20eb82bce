"""Run what shows a bug: the demonstration of a card on the program at fault, and on the mended one.

Only programs that ship with the app are run, in this process and with its rights: they are part of it, as its modules
are. A card that somebody else wrote has no demonstration.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

from core.cards.bug import DEMONSTRATION, FAULTY, FIXED, BugCard


@dataclass(frozen=True, slots=True)
class Runs:
    """What the demonstration printed, so to say, for each of the two programs."""

    faulty: str
    fixed: str


def demonstrated(card: BugCard) -> Runs:
    """Both runs of a card; the second time they are remembered.

    Raises:
        ValueError: the card does not ship with the app.
    """
    if card.own:
        raise ValueError(f"{card.id} does not ship with the app, so its programs are not run")
    return _runs(card.faulty, card.fixed, card.demonstration)


def module_of(program: str, name: str) -> ModuleType:
    """A program as a module."""
    module = ModuleType(name.removesuffix(".py"))
    exec(compile(program, name, "exec"), module.__dict__)
    return module


@lru_cache(maxsize=64)
def _runs(faulty: str, fixed: str, demonstration: str) -> Runs:
    show = module_of(demonstration, DEMONSTRATION).demonstrate
    return Runs(show(module_of(faulty, FAULTY)), show(module_of(fixed, FIXED)))
