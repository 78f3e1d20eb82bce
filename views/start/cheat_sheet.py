"""Cheat sheet: the numbers worth knowing by heart on one printable page, and three pictures of the scenario."""

import streamlit as st

from core.anatomy import layer_anatomy, levels
from core.cheat_sheet import tables
from views._ui import pictures, settings, state
from views._ui.controls import refused_address
from views._ui.diagram import diagram
from views._ui.sheet import sheet
from views._ui.svg_picture import svg_picture
from views._ui.words import plain


def drawn() -> None:
    """Where words would be long: the method, the places for bytes, one layer."""
    here, unit = state.current(), settings.unit()
    st.header("Where bytes live", anchor="bytes")
    st.markdown(f"Seen from one {plain(here.accelerator.name)} of your scenario. Lengths are on a log scale.")
    places = levels(here.accelerator, scale_up=here.scale_up, scale_out=here.scale_out)
    bytes_drawn = diagram(
        lambda canvas: pictures.levels_picture(canvas, places, unit), pictures.levels_words(places, unit)
    )
    svg_picture(bytes_drawn, key="sheet.bytes")
    st.header("One token in one layer", anchor="layer")
    layer = layer_anatomy(here.model, here.serving.context_len)
    st.markdown(
        f"{plain(here.model.name)}, a decode step of one sequence of {layer.context_len:,} tokens, in 16 bits on one "
        f"GPU; {layer.times} of its {layer.of} layers are like this. Bars are bytes moved, and "
        "brackets say what most of them are."
    )
    layer_drawn = diagram(lambda canvas: pictures.layer_picture(canvas, layer, unit), pictures.layer_words(layer, unit))
    svg_picture(layer_drawn, key="sheet.layer")
    st.header("The method", anchor="method")
    svg_picture(diagram(pictures.steps_picture, pictures.steps_words()), key="sheet.steps")


with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("Cheat sheet", anchor=False)
    st.markdown(
        "Numbers worth knowing by heart, computed when the page opens. Floors are what nothing can beat; "
        "what you measure takes longer. Your browser prints it on two pages, without the pictures below."
    )
    sheet(tables(settings.unit()))
    refused_address()
    with st.container(key="sheet_pictures"):
        drawn()
