"""What lies in the repository: nothing vendored, requirements as promised, a test beside each module, a true README."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST_LINE = 2000  # characters; a minified script has one line of many thousands
TEXT_OF_OURS = {".py", ".js", ".css", ".html", ".toml", ".yaml", ".svg"}

# Where the tests of a folder of core lie; a folder that is not named has one test file of its own name.
TEST_FOLDERS = {
    "core": "tests/core",
    "core/charts": "tests/charts",
    "core/cards": "tests/core/cards",
    "core/mock": "tests/core/mock",
    "core/microbench": "tests/core/microbench",
    "core/progress": "tests/progress",
    "core/storage": "tests/core/storage",
    "core/trace": "tests/trace",
    "core/whiteboard": "tests/core/whiteboard",
}
WITHOUT_A_TEST_OF_ITS_NAME: dict[str, str] = {}


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def tracked() -> list[Path]:
    """Committed files, as paths from the root."""
    return [Path(name) for name in git("ls-files", "-z").split("\0") if name and (ROOT / name).exists()]


def requirements(name: str) -> list[str]:
    lines = (ROOT / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_nothing_minified_or_vendored_is_committed():
    folders = {"node_modules", "vendor", "third_party", "static"}
    assert [str(path) for path in tracked() if ".min." in path.name or folders & set(path.parts)] == []


def test_no_line_is_long_enough_to_be_a_bundle():
    texts = {path: (ROOT / path).read_text().splitlines() for path in tracked() if path.suffix in TEXT_OF_OURS}
    assert [str(path) for path, lines in texts.items() if any(len(line) > LONGEST_LINE for line in lines)] == []


def test_the_folder_for_plotly_js_is_ignored():
    assert git("check-ignore", "static/plotly.min.js").strip() == "static/plotly.min.js"


def test_no_lock_file_hides_the_requirements():
    # A hosted demo installs from the first of these that it finds, before requirements.txt.
    assert [name for name in ("uv.lock", "Pipfile", "environment.yml") if (ROOT / name).exists()] == []


def test_the_runtime_is_pinned_and_has_no_torch():
    lines = requirements("requirements.txt")
    assert all(re.fullmatch(r"[a-z0-9_-]+==[0-9.]+", line) for line in lines), lines
    assert not any(line.startswith("torch") for line in lines)


@pytest.mark.parametrize("name", ["requirements-gpu.txt", "requirements-dev.txt"])
def test_other_requirements_build_on_the_runtime(name):
    assert requirements(name)[0] == "-r requirements.txt"


def test_the_gpu_requirements_add_torch():
    assert any(line.startswith("torch") for line in requirements("requirements-gpu.txt"))


def test_no_requirement_names_an_index():
    lines = [line for path in ROOT.glob("requirements*.txt") for line in requirements(path.name)]
    assert [line for line in lines if "://" in line or line.startswith(("-i", "--"))] == []


def test_every_module_of_core_has_a_test_of_its_name():
    missing = {module for module, test in expected_tests().items() if not test.exists()}
    assert missing == set(WITHOUT_A_TEST_OF_ITS_NAME)


def expected_tests() -> dict[str, Path]:
    """core/zero.py: tests/core/test_zero.py; core/hf_config/*.py: tests/core/test_hf_config.py."""
    expected = {}
    for path in sorted((ROOT / "core").rglob("*.py")):
        if path.stem == "__init__":
            continue
        module = path.relative_to(ROOT)
        folder = TEST_FOLDERS.get(module.parent.as_posix())
        test = f"{folder}/test_{path.stem}.py" if folder else f"tests/core/test_{module.parent.name}.py"
        expected[module.as_posix()] = ROOT / test
    return expected


@pytest.mark.parametrize("command", ["make run", "make test", "make lint", "make bench"])
def test_the_readme_names_the_command(command):
    assert command in (ROOT / "README.md").read_text()


def test_continuous_integration_runs_make_test():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
