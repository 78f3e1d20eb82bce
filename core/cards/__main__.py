"""Tools for card authors: ``python -m core.cards check | preview | new | schema``."""

from __future__ import annotations

import sys

from core.cards.command import main

sys.exit(main(sys.argv[1:]))
