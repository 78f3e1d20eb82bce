"""Words and their beginnings are found, titles come first, and nothing that was typed breaks it."""

from __future__ import annotations

import pytest

from core.search import Entry, search, words_of

ENTRIES = [
    Entry("page", "2 Partition", "Split the model states until they fit. ZeRO, activations, recompute.", "partition"),
    Entry("term", "Activation", "What a layer leaves behind for the backward pass.", "partition"),
    Entry("term", "All-reduce", "Every rank ends with the sum; a ring does it.", "communication"),
    Entry("term", "Ring", "Each rank passes pieces to its neighbour in an all-reduce.", "communication"),
    Entry("term", "KV cache", "Keys and values of all tokens so far.", "batch"),
    Entry("number", "Accelerators, H100 SXM", "bf16: 989 TFLOP/s; ridge: 295 FLOP/B", "cheat-sheet"),
    Entry("number", "What ZeRO leaves, ZeRO-3", "of 1,024: 0.0977%", "cheat-sheet"),
]


def titles(query: str, **options: int) -> list[str]:
    return [entry.title for entry in search(query, ENTRIES, **options)]


def test_a_text_is_taken_apart_into_words_and_numbers():
    assert words_of("ZeRO-3 of 1,024: bf16") == ("zero", "3", "of", "1024", "bf16")


def test_an_exact_title_comes_first():
    assert titles("ring")[0] == "Ring"
    assert titles("All-Reduce")[0] == "All-reduce"


def test_a_title_outweighs_a_text():
    assert titles("activation") == ["Activation", "2 Partition"]


def test_the_beginning_of_a_word_is_enough_and_a_whole_word_better():
    assert "Activation" in titles("activ")
    assert titles("acti") == ["Activation", "2 Partition"]


def test_a_plural_finds_the_singular():
    assert titles("rings")[0] == "Ring"
    assert titles("KV caches") == ["KV cache"]


def test_every_word_must_be_there():
    assert titles("ridge H100") == ["Accelerators, H100 SXM"]
    assert titles("ridge banana") == []


def test_numbers_are_found_with_and_without_commas():
    assert titles("1024") == titles("1,024") == ["What ZeRO leaves, ZeRO-3"]
    assert titles("295") == ["Accelerators, H100 SXM"]


def test_empty_words_are_left_out_unless_they_are_all():
    assert titles("what is the KV cache?") == ["KV cache"]
    assert titles("the") != []


@pytest.mark.parametrize("query", ["", "   ", "***", "\x00", "()[]\\", "\U0001f600"])
def test_nothing_to_look_for_finds_nothing(query):
    assert titles(query) == []


def test_no_more_than_asked_for_are_returned():
    assert len(titles("a", most=2)) == 2
