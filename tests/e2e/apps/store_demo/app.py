"""A small app around the browser store, for its browser tests: a text of lines, two of which merge into their union."""

from hashlib import sha256

import streamlit as st

from views._ui import store
from views._ui.server import tune_server

tune_server()
st.set_page_config(page_title="Store", layout="wide")
state = st.session_state
state["runs"] = state.get("runs", 0) + 1


def union(mine: str, theirs: str) -> str:
    return "\n".join(dict.fromkeys([*theirs.splitlines(), *mine.splitlines()]))


def check(text: str) -> None:
    if "{broken" in text:
        raise ValueError("its lines are broken")


def add(line: str, kept: store.Store) -> None:
    kept.save(f"{kept.text}\n{line}" if kept.text else line)


@st.fragment
def part(kept: store.Store) -> None:
    kept.in_fragment()
    state["part_runs"] = state.get("part_runs", 0) + 1
    if st.button("Add in fragment"):
        add(f"fragment {state['runs']}.{state['part_runs']}", kept)
    st.button("Add in fragment's callback", on_click=lambda: add("fragment's callback", kept))
    st.caption(f"fragment sees {len((kept.text or '').splitlines())} lines, part runs {state['part_runs']}")


@st.fragment
def forgetful(kept: store.Store) -> None:
    if st.button("Add without in_fragment"):
        add("without in_fragment", kept)


def lines() -> None:
    kept = store.mount("lines", merge=union, check=check)
    st.title("Lines")
    st.text_input("Line", key="line")
    st.button("Add by callback", on_click=lambda: add(state["line"], kept))
    if st.button("Add"):
        add(state["line"], kept)
    if st.button("Add and rerun"):
        add(state["line"], kept)
        st.rerun()
    if st.button("Add and leave"):
        add(state["line"], kept)
        st.switch_page(other_page)
    if st.button("Large"):
        kept.save("".join(sha256(b"%d" % k).hexdigest() for k in range(78_125)))  # 5 MB that no disk can squeeze
    if st.button("Reset"):
        kept.backup()
        kept.save("reset")
    st.button("Restore", on_click=kept.restore)
    part(kept)
    forgetful(kept)
    st.text(f"ready {kept.ready}")
    st.code((kept.text or "(none)")[:1000])
    st.text(f"unreadable {kept.unreadable!r}: {kept.why_unreadable}")
    st.text(f"backend {kept.health.backend}, {kept.health.num_bytes} bytes, backup {kept.health.backup_at is not None}")
    st.text(f"saving {kept.saving}")
    st.text(kept.health.sentence())
    st.caption(f"runs {state['runs']}")


def other() -> None:
    st.title("Other")
    st.caption(f"runs {state['runs']}")


other_page = st.Page(other, title="Other", url_path="other")
page = st.navigation([st.Page(lines, title="Lines", url_path="lines", default=True), other_page], position="top")
page.run()
store.deliver("lines")
