"""Run on my GPU: measure this machine or bring a result, and see where it lies and whether predictions hold."""

import streamlit as st

from core.microbench.standalone import NAME, build
from views._ui import result_view, results
from views._ui.gpu_run import run_box
from views._ui.predict import READING_WIDTH


def bring_your_own() -> None:
    """The script to take along, how it is called, and the way back."""
    with st.expander("Measure on another machine, and bring the result", icon=":material/upload_file:"):
        st.markdown(
            "One script, with PyTorch 2.5 or newer as its only need. It writes a JSON file and sends nothing anywhere.",
            width=READING_WIDTH,
        )
        st.download_button(
            "Download the script",
            build,
            file_name=NAME,
            mime="text/x-python",
            icon=":material/download:",
            key="measure.script",
            on_click="ignore",
        )
        st.code(
            f"python {NAME} --out result.json                 # quick: under a minute on a GPU\n"
            f"python {NAME} --out result.json --set full      # four to ten minutes\n"
            f"torchrun --standalone --nproc-per-node 2 {NAME} --out links.json --set collectives",
            language=None,
            wrap_lines=True,
        )
        results.upload_box()


with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("Run on my GPU", anchor=False)
    st.markdown(
        "A datasheet says what a card may reach at most. Measure what yours does reach: where its ridge really lies, "
        "what a launch costs, and whether predictions hold.",
        width=READING_WIDTH,
    )
    run_box()
    bring_your_own()
    result_view.follow()
