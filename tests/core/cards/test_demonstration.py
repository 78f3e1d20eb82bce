"""Demonstrations: both programs are run, once, and never those of somebody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.cards.demonstration import demonstrated, module_of
from tests.core.cards.test_bug import FAULTY, read


def test_both_programs_are_run():
    runs = demonstrated(read())
    assert float(runs.faulty) == pytest.approx(3 * 2 * 3.14159, rel=1e-4)
    assert float(runs.fixed) == pytest.approx(3**2 * 3.14159, rel=1e-4)


def test_a_second_look_runs_nothing():
    card = read(faulty=FAULTY + "\nPI = math.pi\n")
    assert demonstrated(card) is demonstrated(card)


def test_programs_of_somebody_else_are_not_run():
    with pytest.raises(ValueError, match="does not ship with the app"):
        demonstrated(replace(read(), own=True))


def test_a_program_is_a_module_of_its_own():
    first, second = module_of("x = 1\n", "faulty.py"), module_of("x = 2\n", "fixed.py")
    assert (first.x, second.x) == (1, 2)
    assert first.__name__ == "faulty"
