"""Read a trace: where a GPU's time went, what its idle time waited on, and the limit that the method names."""

import streamlit as st

from views._ui import trace_view
from views._ui.predict import READING_WIDTH

with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("Read a trace", anchor=False)
    st.markdown(
        "Step 1 of the method is to measure. A profiler trace tells where the time of a step went: to kernels, to "
        "other GPUs, to copies, or to waiting, and on what.",
        width=READING_WIDTH,
    )
    trace_view.take()
    read = trace_view.current()
    if read:
        trace_view.show(read)
