"""``python -m core.microbench --out result.json``; ``--help`` lists the options."""

from __future__ import annotations

import sys

from core.microbench.run import main

if __name__ == "__main__":
    sys.exit(main())
