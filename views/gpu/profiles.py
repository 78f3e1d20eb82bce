"""Datasheet against silicon: measured kernels of one or two systems over each other, and estimates on them."""

from collections.abc import Mapping

import streamlit as st

from core.measured_profile import Profile
from views._ui import profile_choice, profile_view, state
from views._ui.predict import READING_WIDTH


def chosen(found: Mapping[str, Profile]) -> list[str]:
    """Of these profiles one, and perhaps a second to lay over it."""
    first = state.current().accelerator.id

    def name(profile_id: str) -> str:
        return profile_view.label(profile_id, found[profile_id]) if profile_id else "none"

    with st.container(horizontal=True):
        index = list(found).index(first) if first in found else 0
        one = st.selectbox("Measured system", list(found), index=index, format_func=name, key="profiles.one", width=360)
        others = ["", *(profile_id for profile_id in found if profile_id != one)]
        two = st.selectbox("Laid over it", others, format_func=name, key="profiles.two", width=360)
    return [profile_id for profile_id in (one, two) if profile_id]


with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("Datasheet against silicon", anchor=False)
    st.markdown(
        "What products, attention and collectives take on real systems, beside what the datasheet allows. Open data of "
        "ten systems, and runs of this app's own benchmark.",
        width=READING_WIDTH,
    )
    known = profile_view.options()
    ids = chosen(known)
    profile_choice.use_button(known[ids[0]], ids[0], key="profiles.use")
    profile_choice.badge()
    profile_view.show([known[profile_id] for profile_id in ids])
