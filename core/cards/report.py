"""The text of an error report, with what is needed to see the same card with the same numbers."""

from __future__ import annotations

from core.cards.card import AnyCard


def report(card: AnyCard, seed: int) -> str:
    """Markdown to copy into an issue."""
    return "\n".join(
        [
            f"Card: {card.id}",
            f"Title: {card.title}",
            f"File: {'' if card.own else 'content/'}{card.path}",
            f"Edition: {card.content_hash}, seed {seed}",
            "",
            "What is wrong:",
            "",
            "What it should say, and the source:",
            "",
        ]
    )
