"""A page that is drawn again in the moment in which the browser asks where to put a chosen file."""

import functools
import os

import streamlit as st
from streamlit.runtime.app_session import AppSession

from views._ui import races


@functools.cache
def draw_again_when_a_file_is_chosen() -> None:
    answer = AppSession._handle_file_urls_request

    def answered(session: AppSession, request: object) -> None:
        answer(session, request)  # type: ignore[arg-type]
        session._clear_queue()  # what the begin of a run does, before the answer has left

    AppSession._handle_file_urls_request = answered  # type: ignore[method-assign]


draw_again_when_a_file_is_chosen()
if not os.environ.get("UNGUARDED"):
    races.guard()
chosen = st.file_uploader("File")
st.write("Nothing yet" if chosen is None else f"Read {chosen.read().decode()}")
