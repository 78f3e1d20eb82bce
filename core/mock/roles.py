"""The four seats of a room. A link opens one of them; what each may write and see follows from it."""

from __future__ import annotations

from typing import Literal, TypeGuard

Role = Literal["interviewer", "rater", "candidate", "observer"]
Rater = Literal["interviewer", "rater"]

ROLES: tuple[Role, ...] = ("interviewer", "rater", "candidate", "observer")
RATERS: tuple[Rater, ...] = ("interviewer", "rater")
SERVER = "server"  # as whom a page pauses the clock of an interviewer who is away


def is_rater(role: str) -> TypeGuard[Rater]:
    """Whether this seat sees what is private: script, truth and rubric."""
    return role in RATERS
