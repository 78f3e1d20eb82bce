"""The preview of a pack prints every text as an interviewer would read it."""

from core.mock.command import main


def test_preview_puts_numbers_into_what_is_said_for_a_twist(capsys):
    assert main(["preview", "mock-paged-tiled-30"]) == 0  # its card says a twist with a number in it
    printed = capsys.readouterr().out
    assert "All requests begin with the same 1,000 tokens." in printed
    assert "{{" not in printed


def test_an_unknown_pack_is_answered_in_words(capsys):
    assert main(["preview", "mock-none"]) == 1
    assert "mock-none is no pack that can be read" in capsys.readouterr().out
