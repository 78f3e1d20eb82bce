"""The rules that hold the house together, read from the source: who may import what, and where nothing is computed.

Each rule takes the repository's root and returns what breaks it, as file, line and sentence. test_architecture.py runs
them on this repository, and on planted faults.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NUMERIC = {"numpy", "pydantic"}
# The most specific folder wins. `core` is the flat modules and each folder not named here.
LIBRARIES = {
    "core": NUMERIC,
    "core/charts": NUMERIC | {"plotly"},
    "core/cards": NUMERIC | {"yaml"},
    "core/progress": NUMERIC | {"fsrs"},
    "core/anki": NUMERIC | {"genanki"},
    "core/mock": NUMERIC,
    "core/storage": NUMERIC | {"sqlalchemy"},
    "core/microbench": NUMERIC,
    "core/sim": NUMERIC | {"ml_dtypes"},
    "core/trace": NUMERIC,
    "views": {"streamlit", "pandas"},
    "views/_ui": NUMERIC | {"streamlit", "pandas"},
    "app.py": {"streamlit"},
}
INSIDE_FUNCTIONS = {"core/microbench": {"torch"}}
OWN_PACKAGES = {"core", "views", "tests", "app"}
# Folders of core that stand apart: nothing else of core imports them, but for those of BETWEEN_OUTER.
OUTER = {"charts", "cards", "progress", "anki", "mock", "storage", "microbench", "sim"}
BETWEEN_OUTER = {("mock", "cards")}  # a mock interview plays cards

# A flat module imports its own floor or a lower one. Every module not named is a formula: floor 2.
FLOORS = [
    {"units", "dtypes", "checks", "display", "working"},
    {
        "hardware",
        "model_spec",
        "model_catalog",
        "hf_config",
        "catalog",
        "presets",
        "constraints",
        "scenario",
        "scenario_link",
    },
    set(),
    {"step_time"},
    {"training", "training_sweep", "training_working", "inference"},
    {
        "planner",
        "measured_training",
        "bottleneck_verdict",
        "bottleneck_text",
        "bottleneck_working",
        "communication",
        "communication_text",
        "communication_working",
        "verdict",
        "verdict_text",
    },
]
FORMULA_FLOOR = 2

FREE_FOR_CHARTS = {"charts", "units", "display"}  # prefixes, and numbers as text for a label
ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
ARITHMETIC_CALLS = {"sum", "round", "pow", "abs", "divmod"}
ARITHMETIC_MODULES = {"math", "statistics", "fractions", "decimal", "operator", "numpy"}


class Finding(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Import(NamedTuple):
    module: str  # as written in full: core.zero
    names: tuple[str, ...]  # what `from module import ...` takes; empty for `import module`
    line: int
    in_function: bool

    @property
    def targets(self) -> list[str]:
        """Every module this may load: `from core import zero` loads core.zero."""
        return [f"{self.module}.{name}" for name in self.names] or [self.module]


def sources(root: Path, *folders: str) -> Iterator[tuple[str, ast.Module]]:
    """Each Python file under the folders (or the file itself), as its path from the root and its syntax tree."""
    for folder in folders:
        top = root / folder
        for path in sorted(top.rglob("*.py")) if top.is_dir() else [top] if top.is_file() else []:
            yield path.relative_to(root).as_posix(), ast.parse(path.read_text(), str(path))


def imports(path: str, tree: ast.Module) -> list[Import]:
    """All imports of one file, those inside functions and those by `import_module("...")` included."""
    found: list[Import] = []

    def visit(node: ast.AST, in_function: bool) -> None:
        match node:
            case ast.Import():
                found.extend(Import(alias.name, (), node.lineno, in_function) for alias in node.names)
            case ast.ImportFrom():
                package = path.removesuffix(".py").split("/")[: -node.level] if node.level else []
                module = ".".join([*package, *([node.module] if node.module else [])])
                found.append(Import(module, tuple(alias.name for alias in node.names), node.lineno, in_function))
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                found.append(Import(module, (), node.lineno, in_function))
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(tree, False)
    return found


def foreign_libraries(root: Path) -> list[Finding]:
    """One folder, one extra library."""
    findings = []
    for path, tree in sources(root, "core", "views", "app.py"):
        folder = max((name for name in LIBRARIES if path == name or path.startswith(f"{name}/")), key=len)
        lazy = INSIDE_FUNCTIONS.get(folder, set())
        for item in imports(path, tree):
            library = item.module.split(".")[0]
            if library in sys.stdlib_module_names | OWN_PACKAGES | LIBRARIES[folder]:
                continue
            if library in lazy and item.in_function:
                continue
            rule = f"{folder} may import {', '.join(sorted(LIBRARIES[folder]))}"
            if lazy:
                rule += f", and inside functions {', '.join(sorted(lazy))}"
            findings.append(Finding(path, item.line, f"imports {item.module}; {rule}"))
    return findings


def floor(module: str) -> int:
    """The floor of a module of core by its first name: units 0, zero 2, training 4."""
    return next((level for level, names in enumerate(FLOORS) if module in names), FORMULA_FLOOR)


def wrong_direction(root: Path) -> list[Finding]:
    """Imports point one way: specs <- formulas <- reports <- charts, cards <- views/_ui <- views/<section> <- app."""
    return [
        Finding(path, item.line, f"imports {target}; {reason}")
        for path, tree in sources(root, "core", "views", "app.py")
        for item in imports(path, tree)
        for target in item.targets
        if (reason := _why_wrong(path, target)) is not None
    ]


def _why_wrong(path: str, target: str) -> str | None:
    package, *rest = target.split(".")
    home, *inner = path.removesuffix(".py").split("/")
    if package in {"app", "tests"}:
        return f"nothing imports {package}"
    if package == "views":
        if home == "core":
            return "core never imports views"
        if home == "views" and rest and rest[0] != "_ui" and rest[0] != inner[0]:
            return "a page takes from views only its own section and views._ui"
    if package == "core" and home == "core" and rest and inner:
        here, there = inner[0], rest[0]
        if there in OUTER and there != here and (here, there) not in BETWEEN_OUTER:
            return f"core.{there} stands apart (a library of its own, or a use), so core.{here} does not import it"
        if here not in OUTER and floor(there) > floor(here):
            return f"core.{there} lies on floor {floor(there)}, above core.{here} on floor {floor(here)}"
    return None


def computing_charts(root: Path) -> list[Finding]:
    """A chart takes a result: of a formula module it may name types and constants, no function, and no Scenario."""
    findings = []
    for path, tree in sources(root, "core/charts"):
        for item in imports(path, tree):
            package, *rest = item.module.split(".")
            if package != "core" or rest[:1] in [[name] for name in FREE_FOR_CHARTS]:
                continue
            if rest[:1] == ["scenario"]:
                findings.append(Finding(path, item.line, f"imports {item.module}; a chart receives a result"))
                continue
            bad = [name for name in item.names if name[0].islower() and name not in FREE_FOR_CHARTS]
            if bad or not item.names:
                taken = ", ".join(f"{item.module}.{name}" for name in bad) or item.module
                findings.append(
                    Finding(path, item.line, f"imports {taken}; charts never compute, only types are theirs")
                )
    return findings


def page_scripts(root: Path) -> Iterator[tuple[str, ast.Module]]:
    return ((path, tree) for path, tree in sources(root, "views") if not path.startswith("views/_ui/"))


def misplaced_pages(root: Path) -> list[Finding]:
    """With a folder pages/ beside app.py Streamlit lays "Page not found" over the first deep link of a process."""
    scripts = sorted((root / "pages").rglob("*.py"))
    return [
        Finding(path.relative_to(root).as_posix(), 1, "lies in pages/; pages are in views/<section>/")
        for path in scripts
    ]


def page_arithmetic(root: Path) -> list[Finding]:
    """Pages hold no numeric arithmetic: they read inputs, call core and draw."""
    findings = []
    for path, tree in page_scripts(root):
        rule = "let core do it, and join lists as [*a, *b]"
        findings += [Finding(path, line, f"computes ({what}); {rule}") for line, what in _arithmetic(tree)]
        for item in imports(path, tree):
            if item.module.split(".")[0] in ARITHMETIC_MODULES:
                findings.append(Finding(path, item.line, f"imports {item.module}; let core compute"))
    return findings


def _arithmetic(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=left, op=operator, right=right):
                parts = [left, right]
            case ast.AugAssign(target=left, op=operator, value=right):
                parts = [left, right]
            case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
                yield node.lineno, ast.unparse(node)
                continue
            case ast.Call(func=ast.Name(id=name)) if name in ARITHMETIC_CALLS:
                yield node.lineno, ast.unparse(node)
                continue
            case _:
                continue
        joins = isinstance(operator, ast.Add) and any(_is_text_or_list(part) for part in parts)
        formats = isinstance(operator, ast.Mod) and _is_text_or_list(parts[0])
        if isinstance(operator, (*ARITHMETIC, ast.Add)) and not joins and not formats:
            yield node.lineno, ast.unparse(node)


def _is_text_or_list(node: ast.expr) -> bool:
    """Certain from the source alone: a literal text or list, or a sum that holds one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_text_or_list(node.left) or _is_text_or_list(node.right)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_text or isinstance(node, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple)


def cards_that_name_pages(root: Path) -> list[Finding]:
    """Cards know topics; content/topics.yaml alone maps a topic to its page."""
    findings = [
        Finding(path, node.lineno, f"names a page: {node.value!r}")
        for path, tree in sources(root, "core/cards")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "views/" in node.value
    ]
    names_a_page = re.compile(r"^\s*pages?:|\bviews/")
    for folder in ("questions", "drills", "quizzes", "bugs", "claims", "mocks", "calibration"):
        texts = [path for path in (root / "content" / folder).rglob("*") if path.suffix in {".md", ".yaml"}]
        for card in sorted(texts):
            for number, text in enumerate(card.read_text().splitlines(), start=1):
                if names_a_page.search(text):
                    findings.append(Finding(card.relative_to(root).as_posix(), number, f"names a page: {text.strip()}"))
    return findings


RULES = [
    foreign_libraries,
    wrong_direction,
    computing_charts,
    misplaced_pages,
    page_arithmetic,
    cards_that_name_pages,
]
