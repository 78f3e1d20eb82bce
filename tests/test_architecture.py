"""The repository keeps the rules of tests/architecture.py, and each rule catches a planted fault."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import architecture

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ["streamlit", "plotly", "pandas", "torch", "sqlalchemy", "yaml"]


@pytest.mark.parametrize("rule", architecture.RULES, ids=lambda rule: rule.__name__)
def test_the_repository_keeps_the_rule(rule):
    findings = rule(ROOT)
    assert not findings, "\n" + "\n".join(map(str, findings))


def test_importing_every_flat_module_of_core_loads_nothing_heavy():
    modules = [f"core.{path.stem}" for path in sorted((ROOT / "core").glob("*.py")) if path.stem != "__init__"]
    code = f"import sys, {', '.join(modules)}; print(*sorted(set({HEAVY}) & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


PLANTED = [
    # rule, file, source, line of the fault, words that its sentence must hold
    ("foreign_libraries", "core/zero.py", "import numpy\nimport streamlit as st", 2, "imports streamlit"),
    ("foreign_libraries", "core/zero.py", "def f():\n    from pandas import Series", 2, "imports pandas"),
    ("foreign_libraries", "core/zero.py", "import importlib\nimportlib.import_module('torch')", 2, "imports torch"),
    ("foreign_libraries", "core/hf_config/llama.py", "import yaml", 1, "imports yaml"),
    ("foreign_libraries", "core/charts/zero.py", "import pandas", 1, "core/charts may import numpy, plotly"),
    ("foreign_libraries", "core/storage/engine.py", "import sqlalchemy\nimport plotly", 2, "imports plotly"),
    ("foreign_libraries", "core/microbench/matmul.py", "import torch", 1, "inside functions torch"),
    ("foreign_libraries", "core/microbench/matmul.py", "try:\n    import torch\nexcept ImportError: ...", 2, "torch"),
    ("foreign_libraries", "views/steps/zero.py", "import plotly.express", 1, "imports plotly.express"),
    ("foreign_libraries", "app.py", "import pandas", 1, "app.py may import streamlit"),
    ("wrong_direction", "core/zero.py", "from views._ui import controls", 1, "core never imports views"),
    ("wrong_direction", "core/units.py", "from core.zero import zero_memory", 1, "core.zero lies on floor 2"),
    ("wrong_direction", "core/scenario.py", "from core import kv_cache", 1, "imports core.kv_cache"),
    ("wrong_direction", "core/zero.py", "from .training import estimate", 1, "core.training lies on floor 4"),
    ("wrong_direction", "core/hf_config/llama.py", "from core import params", 1, "core.hf_config on floor 1"),
    ("wrong_direction", "core/zero.py", "from core.charts import theme", 1, "a library of its own"),
    ("wrong_direction", "core/cards/draw.py", "import core.storage.rooms", 1, "a library of its own"),
    ("wrong_direction", "core/cards/draw.py", "from core.mock import pack", 1, "core.mock stands apart"),
    ("wrong_direction", "core/mock/fold.py", "from core.storage import rooms", 1, "core.storage stands apart"),
    ("foreign_libraries", "core/mock/fold.py", "import sqlalchemy", 1, "core/mock may import numpy, pydantic"),
    ("wrong_direction", "views/_ui/controls.py", "from views.steps import zero", 1, "only its own section"),
    ("wrong_direction", "views/steps/zero.py", "import views.labs.lab", 1, "only its own section"),
    ("wrong_direction", "views/steps/zero.py", "import app", 1, "nothing imports app"),
    ("computing_charts", "core/charts/zero.py", "from core.zero import ZeroMemory, zero_memory", 1, "zero_memory"),
    ("computing_charts", "core/charts/zero.py", "from core import zero", 1, "core.zero"),
    ("computing_charts", "core/charts/zero.py", "import core.training", 1, "core.training"),
    ("computing_charts", "core/charts/zero.py", "from core.scenario import TrainingScenario", 1, "core.scenario"),
    ("misplaced_pages", "pages/steps/zero.py", "", 1, "lies in pages/"),
    ("page_arithmetic", "views/steps/zero.py", "a = 1\nb = a / 2", 2, "a / 2"),
    ("page_arithmetic", "views/steps/zero.py", "total = weights + gradients", 1, "weights + gradients"),
    ("page_arithmetic", "views/steps/zero.py", "runs = 0\nruns += 1", 2, "runs += 1"),
    ("page_arithmetic", "views/steps/zero.py", "st.write(f'{x * 100} %')", 1, "x * 100"),
    ("page_arithmetic", "views/steps/zero.py", "st.write(sum(parts))", 1, "sum(parts)"),
    ("page_arithmetic", "views/steps/zero.py", "from math import log2", 1, "imports math"),
    ("page_arithmetic", "views/steps/zero.py", "y = -x", 1, "-x"),
    ("cards_that_name_pages", "core/cards/card.py", "HOME = 'views/steps/zero.py'", 1, "names a page"),
    (
        "cards_that_name_pages",
        "content/questions/zero.md",
        "---\ntopic: zero\npage: partition\n---",
        3,
        "page: partition",
    ),
    ("cards_that_name_pages", "content/mocks/zero.yaml", "id: mock-zero\npage: partition", 2, "page: partition"),
]


def plant(root: Path, file: str, source: str) -> None:
    (root / file).parent.mkdir(parents=True)
    (root / file).write_text(source)


@pytest.mark.parametrize(("rule", "file", "source", "line", "words"), PLANTED)
def test_a_planted_fault_is_named_with_its_file_and_line(tmp_path, rule, file, source, line, words):
    plant(tmp_path / "repo", file, source)
    findings = getattr(architecture, rule)(tmp_path / "repo")
    assert [(finding.path, finding.line) for finding in findings] == [(file, line)]
    assert words in str(findings[0])


ALLOWED = [
    ("core/zero.py", "from __future__ import annotations\nimport math\nimport numpy\nfrom core.units import GB"),
    ("core/training.py", "from core import zero\nfrom core.scenario import TrainingScenario"),
    ("core/charts/zero.py", "import plotly\nfrom core.charts import theme\nfrom core.zero import STAGES, ZeroMemory"),
    ("core/charts/zero.py", "from core.units import GB\nfrom core.display import show_bytes\nheight = 12 / GB"),
    ("core/mock/truth.py", "from core.cards.draw import draw\nimport pydantic"),
    ("core/microbench/matmul.py", "def time():\n    import torch"),
    ("views/_ui/controls.py", "import numpy\nimport streamlit\nx = 2 * 3"),
    ("views/steps/zero.py", "import streamlit\nfrom core import zero\nfrom views._ui import controls"),
    ("views/steps/zero.py", "text = 'a' + name + f'{x:.1f}'\nrows = [1] + more\nlimit: int | None = -1\n'%d' % x"),
    ("views/__init__.py", ""),
    ("content/topics.yaml", "zero: {page: views/steps/partition.py}"),
]


@pytest.mark.parametrize(("file", "source"), ALLOWED)
def test_what_the_rules_allow_is_left_alone(tmp_path, file, source):
    plant(tmp_path / "repo", file, source)
    assert [str(finding) for rule in architecture.RULES for finding in rule(tmp_path / "repo")] == []
