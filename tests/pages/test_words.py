"""Text of people and files shows as it was typed, whatever Markdown would make of it."""

import re

import pytest

from pages._ui.words import money_safe, plain


@pytest.mark.parametrize(
    "text",
    [
        "**bold**",
        "[link](http://example.org)",
        "# title",
        "a_b_c",
        "$x$",
        "<b>",
        "`code`",
        ":red[x]",
        "1. one",
        "~a~",
        "&lt;",
    ],
)
def test_no_sign_of_markdown_is_left_bare(text):
    assert re.search(r"(?<!\\)[*_`\[\]()#<>$:~.!|{}+&-]", plain(text)) is None
    assert re.sub(r"\\(.)", r"\1", plain(text)) == text


def test_lines_are_joined():
    assert plain("a\n# b") == r"a \# b"


def test_our_own_markdown_keeps_all_but_dollars():
    assert money_safe("**$5**") == r"**\$5**"
