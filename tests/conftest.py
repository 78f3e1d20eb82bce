"""For all tests: generated examples have no time limit, since a busy machine says nothing about the code."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
