"""Search over pages, terms and numbers; without a query, the glossary."""

import streamlit as st

from core.search import Entry, search
from views._ui import registry, settings
from views._ui.predict import READING_WIDTH
from views._ui.search_index import about, glossary, index
from views._ui.words import plain

ICONS = {"page": ":material/article:", "term": ":material/book_2:", "number": ":material/tag:"}
MOST = 20


def show(entry: Entry) -> None:
    """One result: what it is, where it leads, and what it says."""
    st.page_link(registry.path_of(entry.topic), label=f"**{plain(entry.title)}**", icon=ICONS[entry.kind])
    st.markdown(plain(about(entry.topic) if entry.kind == "page" else entry.text), width=READING_WIDTH)


def results(query: str) -> None:
    """What was found, in words first, for those who hear the page."""
    found = search(query, index(settings.unit()), most=MOST)
    if not found:
        st.markdown("Nothing holds all of these words. Try fewer, or the beginning of one.")
        return
    more = f"the best {MOST}" if len(found) == MOST else f"{len(found)} found"
    st.markdown(f":small[:gray[{more}: pages, terms of the glossary, numbers of the cheat sheet]]")
    for entry in found:
        show(entry)


def all_terms() -> None:
    """The whole glossary, a line each."""
    st.header("Glossary", anchor="glossary")
    st.markdown(f":small[:gray[{len(glossary())} terms. Type above to find the pages that use them.]]")
    st.markdown(
        "\n\n".join(f"**{plain(term.name)}** · {plain(term.meaning)}" for term in glossary()), width=READING_WIDTH
    )


with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("Search", anchor=False)
    query = st.text_input(
        "Find a page, a term or a number",
        key="search.query",
        placeholder="ridge H100, KV cache, all-reduce",
        max_chars=200,
        persist_state="session",
    )
    if query.strip():
        results(query)
    else:
        all_terms()
