"""Files are read within bounds, and what cannot be read is a finding beside what can."""

from __future__ import annotations

import pytest

from core.cards.library import CONTENT
from core.cards.problems import CardError
from core.mock.reading import load_packs, read_mocks, read_texts
from tests.core.mock.made import PACK

PACK_PATH, ANSWERS_PATH = "mocks/train-serve-45.yaml", "calibration/train-serve-45.md"
PACK_TEXT, ANSWERS_TEXT = ((CONTENT / path).read_bytes() for path in (PACK_PATH, ANSWERS_PATH))


def test_the_shipped_packs_are_read_with_their_answers():
    mocks = read_mocks()
    assert mocks.problems == []
    assert PACK in load_packs()
    assert set(mocks.packs) == set(mocks.calibrations)
    assert set(mocks.calibrations[PACK].sections) == {"Weak", "Mixed", "Strong"}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "is a table"),
        (b"- a\n- b\n", "is a table"),
        (b"schema: mock/1\n", "is missing"),
        (b"\xff\xfe", "not UTF-8"),
        (b"x" * 300_000, "300,000 bytes"),
        (b"a: &x 1\nb: *x\n", "aliases"),
        (b"a: !!python/object:os.system 1\n", "tag"),
        (b"a: 1\na: 2\n", "stands twice"),
    ],
)
def test_what_is_no_pack_is_said_with_its_file(raw, says):
    mocks = read_texts({"mocks/x.yaml": raw, PACK_PATH: PACK_TEXT})
    assert set(mocks.packs) == {PACK}
    assert any(problem.path == "mocks/x.yaml" and says in problem.message for problem in mocks.problems)


def test_two_packs_of_one_id_are_told_apart_by_file():
    mocks = read_texts({PACK_PATH: PACK_TEXT, "mocks/other.yaml": PACK_TEXT})
    assert [str(problem) for problem in mocks.problems] == [
        f"mocks/other.yaml:3: id: {PACK} stands in {PACK_PATH} already"
    ]


def test_answers_without_front_matter_or_twice_are_named():
    mocks = read_texts({"calibration/a.md": b"## Weak\n", ANSWERS_PATH: ANSWERS_TEXT, "calibration/b.md": ANSWERS_TEXT})
    assert [problem.path for problem in mocks.problems] == ["calibration/a.md", "calibration/b.md"]
    assert "front matter" in mocks.problems[0].message
    assert "stand in calibration/train-serve-45.md already" in mocks.problems[1].message


def test_a_level_outside_the_scale_is_found_at_its_line():
    text = ANSWERS_TEXT.decode().replace("plan: {level: 1", "plan: {level: 5", 1)
    (problem,) = read_texts({ANSWERS_PATH: text.encode()}).problems
    assert problem.field == "weak.scores.plan.level"
    assert "plan: {level: 5" in text.split("\n")[problem.line - 1]


def test_loading_refuses_with_every_finding(tmp_path):
    (tmp_path / "mocks").mkdir()
    (tmp_path / "mocks" / "x.yaml").write_text("schema: mock/1\n")
    with pytest.raises(CardError, match=r"mocks/x\.yaml"):
        load_packs(tmp_path)


def test_a_field_and_a_section_have_a_line():
    mocks = read_mocks()
    assert mocks.packs[PACK].line_of("phases.1.name") > mocks.packs[PACK].line_of("phases.0.name")
    answers = mocks.calibrations[PACK]
    assert answers.text.split("\n")[answers.line_of("## Mixed") - 1] == "## Mixed"
