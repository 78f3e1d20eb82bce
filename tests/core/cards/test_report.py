"""An error report says what is needed to see the same card again."""

from __future__ import annotations

from dataclasses import replace

from core.cards.report import report
from tests.core.cards.made import drill, mcq


def test_it_names_card_file_edition_and_seed():
    text = report(drill(), 41)
    assert "Card: d-hardware-read" in text
    assert "File: content/drills/hardware/read.md" in text
    assert f"Edition: {drill().content_hash}, seed 41" in text
    assert "File: content/quizzes/hardware.md" in report(mcq(), 0)


def test_an_own_card_lies_elsewhere():
    assert "File: drills/hardware/read.md" in report(replace(drill(), own=True), 1)
