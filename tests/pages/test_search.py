"""Search finds pages, terms and numbers, leads to pages that exist, and takes anything that is typed."""

from __future__ import annotations

import pytest

from tests.pages.conftest import OpenPage
from views._ui.registry import ENTRIES, path_of
from views._ui.search_index import about, glossary, index

PAGE = "views/start/search.py"


def links(at) -> list[str]:
    return [node.proto.label for node in at.get("page_link")]


def found(open_page: OpenPage, query: str) -> list[str]:
    at = open_page(PAGE)
    at.text_input(key="search.query").set_value(query).run()
    assert not at.exception
    return links(at)


def test_without_a_query_the_glossary_stands_there(open_page: OpenPage):
    at = open_page(PAGE)
    assert not at.exception
    assert links(at) == []
    text = "\n".join(markdown.value for markdown in at.markdown)
    assert all(term.name.split("-")[0] in text for term in glossary())


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("ridge point", "**Ridge point**"),
        ("partition", "**2 Partition**"),
        ("kv cache", "**KV cache**"),
        ("cheat sheet", "**Cheat sheet**"),
        ("zero", "**ZeRO**"),
    ],
)
def test_the_best_result_comes_first(open_page: OpenPage, query: str, first: str):
    assert found(open_page, query)[0] == first


def test_a_number_of_the_cheat_sheet_is_found(open_page: OpenPage):
    assert any("H100 SXM" in label for label in found(open_page, "H100 ridge"))


@pytest.mark.parametrize(
    "query", ["nothing like this", "***", "[x](javascript:alert(1))", "$a$ `b` :red[c]", "a" * 200]
)
def test_anything_may_be_typed(open_page: OpenPage, query: str):
    found(open_page, query)


def test_every_entry_leads_to_a_page_that_exists():
    addresses = {entry.url_path for entry in ENTRIES}
    assert {entry.topic for entry in index("GB")} <= addresses
    assert all(path_of(address) for address in addresses)


def test_every_page_says_what_it_is_about():
    assert [entry.title for entry in ENTRIES if not entry.hidden and not about(entry.url_path)] == []
