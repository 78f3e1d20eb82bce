"""One script with torch as its only need, for machines without this repository: built from the same sources.

The script carries each module as it stands here and imports it from there, so what it measures, and the checksum of
the code in its result, are the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from core.microbench.shapes import LayerShape
from core.microbench.system import MODULES, PACKAGE, source_of

NAME = "microbench.py"
QUOTES = "'''"

HEAD = '''#!/usr/bin/env python3
"""Measure this machine's accelerator with PyTorch (2.5 or newer), its only need beside Python 3.11.

    python {name} --out result.json                 a quick set, under a minute on a GPU
    python {name} --out result.json --set full
    torchrun --standalone --nproc-per-node 2 {name} --out links.json --set collectives

It writes result.json (and replaces it as it goes), prints a line of JSON for each step, and sends nothing anywhere.
Generated from Ridgepoint's core/microbench{commit}; every module follows as text.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import sys

COMMIT = {commit_literal}
SHAPES = json.loads({shapes_literal})
SOURCES: dict[str, str] = {{}}
'''

TAIL = '''

class Sources(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds the modules above by their names."""

    def find_spec(self, name, path=None, target=None):
        known = name in SOURCES or any(other.startswith(f"{name}.") for other in SOURCES)
        return importlib.util.spec_from_loader(name, self, is_package=self.is_package(name)) if known else None

    def is_package(self, name):
        return any(other.startswith(f"{name}.") for other in SOURCES)

    def get_source(self, name):
        return SOURCES.get(name, "")


if __name__ == "__main__":
    sys.meta_path.insert(0, Sources())
    from core.microbench.run import main
    from core.microbench.shapes import LayerShape

    sys.exit(main(more_shapes=tuple(LayerShape(**shape) for shape in SHAPES), commit=COMMIT))
'''


def build(shapes: Sequence[LayerShape] = (), commit: str | None = None) -> str:
    """The script's text.

    Args:
        shapes: of models that the script shall know by id, beyond the built-in ones.
        commit: of this code, which results then name.
    """
    head = HEAD.format(
        name=NAME,
        commit=f" at {commit[:12]}" if commit else "",
        commit_literal=repr(commit),
        shapes_literal=repr(json.dumps([shape.as_dict() for shape in shapes])),
    )
    return head + "".join(_embedded(module) for module in MODULES) + TAIL


def _embedded(module: str) -> str:
    source = source_of(module)
    if QUOTES in source or source.endswith("'"):
        raise ValueError(f"{module} holds {QUOTES}, which ends its text in a standalone script; write it otherwise")
    return f'\n# {"-" * 20} {module} {"-" * 20}\nSOURCES["{PACKAGE}.{module}"] = r{QUOTES}\n{source}{QUOTES}[1:]\n'
