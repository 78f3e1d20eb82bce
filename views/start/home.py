"""Home: one question already on screen, then the five steps, then scenarios to start from."""

import streamlit as st

from core.presets import load_presets
from core.scenario_link import default_scenario
from views._ui import first_question, predict, registry, settings, state
from views._ui.controls import refused_address
from views._ui.entry_points import entry_points
from views._ui.kv_picture import kv_picture
from views._ui.words import plain

KEY = "home.kv"
PARTITION = registry.path_of("partition")


def question() -> None:
    """Ask first; the answer and its picture exist in the page only after that."""
    unit = settings.unit()
    prompt = first_question.prompt(unit)
    if not predict.answered(KEY):
        predict.ask_magnitude(KEY, prompt, start=1.0, decades=4, unit=unit)
        return
    commit = predict.commit_of(KEY)
    predict.reveal_number(
        KEY,
        first_question.truth(unit),
        lambda value: first_question.show(value, unit),
        first_question.explain(),
        first_question.slips(unit),
        prompt,
    )
    st.header("Drag the context until the 32 requests no longer fit", anchor=False)
    kv_picture(key="home.picture", unit=unit, guess=commit.guess if commit else None)
    st.markdown(
        ":small[:gray[Weights and cache of Llama 3.1 70B only. In service each GPU holds an eighth of both, "
        "and the engine keeps some memory for itself.]]"
    )
    st.page_link(PARTITION, label="**Next, the opposite case: train that 70B**", icon=":material/arrow_forward:")


def steps() -> None:
    """The method as one strip, and the verdict on it; serving's waits, for its times and memory hold the answer."""
    # Imported here, so that in a new process the question is on the screen before the estimates are loaded.
    from core.verdict import finding
    from views._ui import profile_choice
    from views._ui.verdict_view import badges, verdicts

    here = state.current()
    parts = ("training", "serving") if predict.answered(KEY) else ("training",)
    st.header("Five steps, one limit each", anchor=False)
    found = [finding(here, part, profile_choice.active()) for part in parts]
    grid = st.grid(5, min_column_width=185, border=True)
    for step in registry.STEPS:
        with grid.cell():
            coming = "" if step.url_path else " · in\u00a0the\u00a0making"
            st.markdown(f"**{step.number} {step.title}**  \n:small[:gray[{step.limit}{coming}]]")
            st.markdown(f"{badges(found, step.number)}{step.question}")
            if step.url_path:
                st.page_link(registry.path_of(step.url_path), label="**Open**", icon=":material/arrow_forward:")
    st.markdown(f"What binds **{plain(here.model.name)}** on {plain(here.accelerator.name)}, and the first fix:")
    profile_choice.badge()
    verdicts(found, settings.unit())
    if len(found) == 1:
        st.markdown(":small[:gray[What binds it in serving follows your guess.]]")


def scenarios() -> None:
    """One click sets the scenario and opens the page that shows it best."""
    st.header("Start from a scenario", anchor=False)
    here = state.current()
    if here != default_scenario():
        place = f"{here.model.name} on {here.training.num_gpus:,} x {here.accelerator.name}"
        link, about = st.columns([2, 3], vertical_alignment="center")  # a link never wraps
        link.page_link(PARTITION, label="Carry on with yours", icon=":material/history:")
        about.markdown(f":small[:gray[{plain(place)}]]")
    for preset in load_presets().values():
        name, about = st.columns([2, 3], vertical_alignment="center")
        if name.button(preset.title, key=f"home.preset.{preset.id}", width="stretch"):
            state.replace(preset.scenario())
            st.switch_page(registry.path_of(preset.page))
        about.markdown(f":small[:gray[{plain(preset.about)}]]")
    st.page_link(PARTITION, label="Or bring your own model: paste its config.json", icon=":material/upload_file:")


with st.container(horizontal_alignment="center"), st.container(width=1080):
    st.title("How would you optimize large-scale LLM training and inference?", anchor=False)
    st.markdown(
        "**Ridgepoint** is for practising that question: measure, fix the limit that binds, measure again. Guess first."
    )
    refused_address()
    question()
    steps()
    st.header("Practise", anchor=False)
    entry_points()
    scenarios()
