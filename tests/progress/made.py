"""Attempts, cards and documents for tests, with every field filled and any of them replaced."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from core.progress.card_info import CardInfo
from core.progress.document import Attempt, Progress

START = datetime(2026, 3, 2, 8, tzinfo=UTC)  # a Monday morning


def day(number: float) -> datetime:
    """So many days after the start."""
    return START + timedelta(days=number)


def attempt(index: int = 0, at: datetime = START, **fields: Any) -> Attempt:
    """A right answer to a drill, scheduled as Good. The index makes the id and the seed."""
    values: dict[str, Any] = {
        "id": f"a{index:05d}",
        "at": at,
        "card_id": "d-kv-cache-growth",
        "kind": "drill",
        "topic": "kv-cache",
        "mode": "review",
        "content_hash": "c1",
        "answer_hash": "h1",
        "seed": index,
        "answer": "42.9 GB",
        "number": 42.9,
        "truth": 42.95,
        "rtol": 0.03,
        "unit": "GB",
        "confidence": 70,
        "correct": True,
        "within_2x": True,
        "milliseconds": 41_500,
        "rating": "good",
        "counts_for_schedule": True,
    }
    return Attempt(**values | fields)


def card(card_id: str = "d-kv-cache-growth", topic: str = "kv-cache", **fields: Any) -> CardInfo:
    values: dict[str, Any] = {
        "id": card_id,
        "kind": "drill",
        "topic": topic,
        "step": 5,
        "level": "mid",
        "content_hash": "c1",
        "answer_hash": "h1",
        "target_seconds": 90.0,
    }
    return CardInfo(**values | fields)


def progress(*attempts: Attempt, **fields: Any) -> Progress:
    return Progress(attempts=attempts, **fields)
