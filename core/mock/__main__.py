"""Tools for pack authors: ``python -m core.mock check | preview | schema``."""

from __future__ import annotations

import sys

from core.mock.command import main

sys.exit(main(sys.argv[1:]))
