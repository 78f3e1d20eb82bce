"""Text of people and files shows as it was typed, whatever Markdown would make of it."""

import re

import pytest

from views._ui.words import counted, inline, money_safe, plain

JOINER = "\u2060"  # keeps Streamlit from replacing what is around it; nobody sees it


def as_shown(markdown):
    """What Markdown makes of escapes alone."""
    return re.sub(r"\\(.)", r"\1", markdown).replace(JOINER, "")


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
    assert as_shown(plain(text)) == as_shown(inline(text)) == text


def test_text_within_a_line_keeps_its_numbers_readable():
    assert inline("17.6 GB (ZeRO-3)") == "17.6 GB (ZeRO-3)"
    assert inline("**$5**") == r"\*\*\$5\*\*"


# Streamlit replaces these after the escapes are gone: arrows, dashes, icons, links.
@pytest.mark.parametrize(
    "text", ["a->b", "a<-b", "a--b", "a>=b", "a<=b", "a~=b", ":material/home:", "www.a.org", "https://a.org", "a@b.org"]
)
def test_nothing_is_replaced_by_something_prettier(text):
    assert JOINER in plain(text)
    assert as_shown(plain(text)) == text


@pytest.mark.parametrize("text", ["a\n# b", "a\r\n# b", "  a\u2028# b", "\ta\v# b\n"])
def test_text_stands_on_one_line(text):
    assert plain(text) == r"a \# b"


def test_nothing_unseen_turns_the_words_around_it():
    assert plain("a\u202eb\x00c\u2066d") == "abcd"


def test_our_own_markdown_keeps_all_but_dollars():
    assert money_safe("**$5**") == r"**\$5**"


def test_one_thing_is_singular_and_any_other_number_plural():
    assert [counted(number, "card") for number in (0, 1, 1200)] == ["0 cards", "1 card", "1,200 cards"]
    assert counted(2, "copy", "copies") == "2 copies"
