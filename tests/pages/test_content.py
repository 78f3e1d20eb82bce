"""Prose with numbers put in: safe Markdown, whatever the numbers' words hold."""

import pytest

from views._ui import content


@pytest.fixture
def prose(monkeypatch, tmp_path):
    """A step's file with the given text under its one heading."""

    def write(text):
        (tmp_path / "steps").mkdir(exist_ok=True)
        (tmp_path / "steps" / "topic.md").write_text(f"# Topic\n\n## Limit\n\n{text}\n\n## Other\n\nNo.\n")
        content.sections.cache_clear()
        monkeypatch.setattr(content, "CONTENT", tmp_path)

    yield write
    content.sections.cache_clear()


def test_a_section_ends_where_the_next_begins(prose):
    prose("First.\n\nSecond.")
    assert content.section("topic", "Limit") == "First.\n\nSecond."


def test_numbers_stand_as_they_are_and_names_show_as_they_were_typed(prose):
    prose("The states of **${model}** take ${size}.")
    put_in = {"model": "a*b_$c$", "size": "17.6 GB"}
    assert content.section("topic", "Limit", put_in) == r"The states of **a\*b\_\$c\$** take 17.6 GB."


def test_dollars_of_our_own_are_no_mathematics(prose):
    prose("It costs $5 or $6.")
    assert content.section("topic", "Limit") == r"It costs \$5 or \$6."
    prose("It costs $$5 for ${n}.")
    assert content.section("topic", "Limit", {"n": "2"}) == r"It costs \$5 for 2."


def test_a_name_without_a_number_is_an_error_of_ours(prose):
    prose("${nothing}")
    with pytest.raises(KeyError, match="nothing"):
        content.section("topic", "Limit", {})
