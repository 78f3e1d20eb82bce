"""Settings: the unit of memory, predictions and quiz keys on or off, and where the theme is chosen."""

import streamlit as st

from views._ui import predict, settings

UNIT, PREDICT, KEYS = "settings.pick.unit", "settings.pick.predictions", "settings.pick.keys"


def choose_unit() -> None:
    settings.choose(unit=st.session_state[UNIT])


def choose_predictions() -> None:
    settings.choose(predictions=st.session_state[PREDICT])


def choose_keys() -> None:
    settings.choose(keys=st.session_state[KEYS])


with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("Settings", anchor=False)
    # Each control begins with its wish, and nobody else changes it: `views/_ui/mirrored.py` says why none is ever set.
    st.header("Unit of memory", anchor=False)
    st.segmented_control(
        "Unit of memory",
        ("GB", "GiB"),
        default=settings.unit(),
        key=UNIT,
        required=True,
        label_visibility="collapsed",
        on_change=choose_unit,
    )
    st.markdown(
        "GB is 10⁹ bytes, as papers and bandwidths have it. GiB is 2³⁰ bytes, as drivers and allocators report it."
    )

    st.header("Predictions", anchor=False)
    st.toggle(
        "Ask me before a result is shown", value=settings.predictions_on(), key=PREDICT, on_change=choose_predictions
    )
    st.markdown(
        "A guess that you commit to is remembered better than a number that you read. Off: every result stands open."
    )
    given = predict.answers()
    st.button(
        "Reset the predictions of this session",
        key="settings.reset",
        disabled=not given,
        on_click=predict.forget_answers,
    )
    st.markdown(f":small[:gray[{given or 'None'} answered or skipped so far.]]")

    st.header("Keys", anchor=False)
    st.toggle("Answer quiz questions with single keys", value=settings.keys_on(), key=KEYS, on_change=choose_keys)
    st.markdown("1 to 5 choose an option, c sets how sure you are, Enter commits and goes on.")

    st.header("Light or dark", anchor=False)
    st.markdown("The app follows your system. The menu at the top right sets Light or Dark by hand.")

    st.markdown(":small[:gray[Unit, predictions and keys are kept in a cookie of this browser, and nowhere else.]]")
