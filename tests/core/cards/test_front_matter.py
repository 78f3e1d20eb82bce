"""The YAML of cards: plain values within bounds, and lines that are right."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cards.front_matter import YamlFault, line_of, path_of, read_yaml, split_front_matter

NESTED = """# a comment
params:
  size:
    unit: GB

  bw: {choices: [1, 2],
       unit: GB/s}
rubric:
  - id: limit
    levels:
      1: one
      2: >
        folded
        text
  - {id: proof, observe: x}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("params",), 2),
        (("params", "size", "unit"), 4),
        (("params", "bw", "unit"), 7),
        (("params", "bw", "choices", 1), 6),
        (("rubric", 0, "levels", 2), 12),
        (("rubric", "limit", "levels", "2"), 12),
        (("rubric", "proof", "observe"), 15),
        (("rubric", "nobody"), 8),
        (("rubric", 7), 8),
        (("params", "size", "nothing", "below"), 3),
        (("absent",), 1),
    ],
)
def test_lines(path, line):
    assert line_of(NESTED, path) == line
    assert line_of(NESTED, path, 10) == line + 9


def test_a_path_has_keys_and_positions():
    assert path_of("hints.2.text") == ("hints", 2, "text")
    assert path_of("faults.²") == ("faults", "²")


def test_a_line_of_what_is_no_yaml_is_the_first():
    assert line_of("a: [", ("a",), 5) == 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("010", 10),
        ("1e9", 1e9),
        ("-1.5e-3", -0.0015),
        (".5", 0.5),
        ("true", True),
        ("~", None),
        ("", None),
        ("no", "no"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("2024-01-31", "2024-01-31"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("'12'", "12"),
        ("[1, a]", [1, "a"]),
        ("9" * 30, float("9" * 30)),
        ("<<", "<<"),
    ],
)
def test_values_are_those_of_yaml_1_2(text, value):
    assert read_yaml(text) == value


def test_a_number_that_is_none_is_read_as_such_for_the_model_to_refuse():
    assert math.isnan(read_yaml(".nan"))
    assert read_yaml("-.inf") == -math.inf


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: 1\nb: [", 2, "cannot be read here"),
        ("a: b: c", 1, "quote a text"),
        ("a: 1\na: 2", 2, "line 1 already"),
        ("a:\n  b: 1\n  b: 2", 3, "line 2 already"),
        ("a: &x 1\nb: *x", 2, "aliases"),
        ("a: &-x 1\n\nb: *-x", 3, "aliases"),
        ("a: &x [*x]", 1, "aliases"),
        ("a: 1\nb: !!python/object/apply:os.system [id]", 2, "tag"),
        ("a: !!timestamp x", 1, "tag"),
        ("a: !mine 1", 1, "tag"),
        ("a: !!int x", 1, "cannot be read here"),
        ("a: !!bool x", 1, "cannot be read here"),
        ("a: !!float ''", 1, "cannot be read here"),
        ("? [a]\n: 1", 1, "a key is a word"),
        ("a: " + "[" * 20 + "]" * 20, 1, "nested"),
        ("a: " + "[" * 5000, 1, "cannot be read here"),
        ("a: \x00", 1, "cannot be read here"),
        ("a: [" + "1," * 6000 + "]\nb: [" + "1," * 6000 + "]", 1, "10,000 values"),
        ("a: " + "x" * 100_000, 1, "at most 100,000"),
        ("a: 1\n---\nb: 2", 2, "cannot be read here"),
    ],
)
def test_what_cards_do_not_use_is_refused_on_its_line(text, line, says):
    with pytest.raises(YamlFault, match=says) as refused:
        read_yaml(text)
    assert refused.value.line == line or says in ("cannot be read here", "10,000 values")


def test_a_bomb_of_aliases_is_refused_before_it_grows():
    rows = [
        f"{key}: &{key} [{', '.join([f'*{before}'] * 9)}]" for before, key in zip("abcdefghi", "bcdefghij", strict=True)
    ]
    begun = time.process_time()
    with pytest.raises(YamlFault):
        read_yaml("\n".join(["a: &a [x]", *rows]))
    assert time.process_time() - begun < 0.5


@given(st.text(alphabet=" \n\t:-[]{},&*!|>'\"#%@`?ab01.e~<=\\", max_size=80))
def test_any_text_is_read_or_refused(text):
    try:
        read_yaml(text, 7)
    except YamlFault as fault:
        line = fault.line
    else:
        line = 7
    assert 7 <= line <= 8 + text.count("\n")


@pytest.mark.parametrize(
    ("text", "head", "body"),
    [
        ("---\na: 1\n---\nbody\n", "a: 1", "body\n"),
        ("---\n\na: 1\n--- \n\nbody\n---\nmore", "\na: 1", "\nbody\n---\nmore"),
        ("---\n---\nbody", "", "body"),
        ("a: 1\n", "", "a: 1\n"),
        ("---\na: 1\n", "", "---\na: 1\n"),
        ("---\na: |\n  ----\n---\nbody", "a: |\n  ----", "body"),
        ("", "", ""),
    ],
)
def test_front_matter_is_split_off_with_its_lines(text, head, body):
    assert split_front_matter(text) == (head, body)
