"""Own cards: bring a zip in the bank's format, and see what is wrong with it in words."""

import streamlit as st

from core.cards.own import MAX_ZIP_MB, OwnCards, OwnCardsError
from views._ui import bank, own_cards
from views._ui.card_list import card_list
from views._ui.practice import practice_page
from views._ui.step_page import data_table
from views._ui.words import counted, plain


def report(own: OwnCards | OwnCardsError | None, place: str) -> None:
    """What a folder or a zip gave."""
    if isinstance(own, OwnCardsError):
        st.error(plain(str(own)), icon=":material/error:")
    elif own is not None:
        st.markdown(f":material/check_circle: In use from your {place}: {counted(len(own.cards), 'card')}.")
        if own.problems:
            st.warning(f"{counted(len(own.problems), 'finding')}. A card with a finding is left out until it is fixed.")
            rows = [
                {"place": f"{problem.path}:{problem.line}", "field": problem.field, "what is wrong": problem.message}
                for problem in own.problems[:100]
            ]
            data_table(st.empty(), rows)


def upload() -> None:
    """Take the chosen zip into this browser; what cannot be read is refused, and the last one stays."""
    chosen = st.session_state.get("own.upload")
    st.session_state["own.refused"] = "" if chosen is None else own_cards.keep_zip(chosen.getvalue())


def take_out() -> None:
    """Forget the zip."""
    own_cards.forget_zip()


with practice_page("Own cards"):
    st.markdown(
        "Write cards for your own field or team, in the format of this bank. They stay in your browser: the server "
        "reads them for your session and keeps nothing."
    )
    st.file_uploader(
        f"A zip with the folders drills, questions, quizzes, claims, sources (up to {MAX_ZIP_MB} MB)",
        type="zip",
        key="own.upload",
        on_change=upload,
        max_upload_size=5,  # above what is read, so that a zip too large is refused in our words
    )
    if refused := st.session_state.get("own.refused"):
        st.error(plain(refused), icon=":material/error:")
    report(own_cards.folder_cards(), "folder")
    report(own_cards.uploaded(own_cards.kept_zip()), "zip")
    if own_cards.kept_zip():
        st.button("Remove the zip", icon=":material/delete:", on_click=take_out)
    if own := bank.own_cards():
        st.header("Your cards", anchor=False)
        card_list(list(own.values()))
    with st.expander("How to write a card", icon=":material/help:", expanded=not bank.own_cards()):
        st.markdown(
            "One Markdown file per card, with YAML on top. The guide is `docs/cards.md` of the project; "
            "`python -m core.cards new drill serving my-drill` writes a scaffold, and `check` tells what is wrong."
        )
