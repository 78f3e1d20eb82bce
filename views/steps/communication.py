"""Step 3, communication: bytes and time by axis, who shares a node, the pipeline's bubble, and how the run scales."""

from typing import Any

import streamlit as st

from core import communication, communication_questions, communication_text
from core.capacity import memory_problem
from core.charts import communication as charts
from core.charts.pipeline import KIND_WORDS
from core.charts.rank_places import rank_places
from core.charts.who_talks import who_talks
from core.communication_working import axis_workings, pipeline_workings, ring_workings
from core.constraints import length_note
from core.pipeline_drawing import own_drawing
from core.rank_places import rank_picture
from views._ui import baseline, predict, profile_choice, settings, state
from views._ui.content import section
from views._ui.controls import field_row, refusal
from views._ui.live_chart import live_chart
from views._ui.pipeline_picture import pipeline_picture
from views._ui.scenario_bar import scenario_bar, show_gpu_count
from views._ui.step_page import csv_download, data_table, fix_table, mistakes, say_it, step_head
from views._ui.svg_picture import svg_picture
from views._ui.words import inline
from views._ui.working_view import show_workings, working_box

MAIN = ("tensor_parallel", "pipeline_parallel", "zero_stage", "micro_batch_size")
MORE = ("sequence_parallel", "context_parallel", "expert_parallel", "seq_len", "recompute", "recipe")
PIPELINE = ("num_micro_batches", "virtual_stages")


def now() -> tuple[communication.Headline, str]:
    """The numbers to pin, and what they belong to."""
    scenario = state.current()
    here = communication.headline_of(scenario, profile_choice.active())
    return here, communication_text.layout_in_words(scenario)


def by_axis_table() -> dict[str, list[object]]:
    """The first chart's data."""
    return charts.sweep_table(communication.over_gpus(state.current(), profile_choice.active()))


def scaling_table() -> dict[str, list[object]]:
    """The scaling curves' data."""
    return charts.scaling_table(communication.scaling(state.current(), profile_choice.active()))


def shown_micro_batches() -> int:
    """The scenario's own; where it has no pipeline, those of the example that is drawn instead."""
    run = state.current().training
    if run.pipeline_parallel > 1:
        return run.num_micro_batches
    return st.session_state.setdefault("communication.example", communication_questions.MICRO_BATCHES)


def choose_micro_batches(count: int) -> None:
    """Of the scenario, or of the example alone."""
    if state.current().training.pipeline_parallel > 1:
        state.change(num_micro_batches=count)
    else:
        st.session_state["communication.example"] = count


@st.fragment
def follow_sliders(places: dict[str, Any]) -> None:
    """Write all that follows a slider into its place. It runs alone when a slider is let go."""
    scenario, unit, profile = state.current(), settings.unit(), profile_choice.active()
    run = scenario.training
    pinned = baseline.pinned("communication", communication.Headline)
    by_axis = communication.over_gpus(scenario, profile)
    with places["axes"]:
        live_chart(
            charts.by_axis(by_axis, gpus_per_replica=run.gpus_per_replica, unit=unit, baseline=pinned),
            key="communication.axes",
            index=by_axis.data_parallel.index(run.data_parallel),
            on_commit=lambda index: state.change(data_parallel=by_axis.data_parallel[index]),
        )
        if problem := memory_problem(run, unit):
            refusal(f"It would not run. {problem.sentence}")
        for note in (length_note(run.model, run.seq_len), communication_text.uneven_note(scenario)):
            if note:
                st.caption(inline(note))
    if profile:  # which collectives are measured ones follows the slider
        places["assumed"].caption(inline(communication_text.assumptions_in_words(scenario, profile)))
    data_table(places["table"], communication_text.axis_table(by_axis, scenario, unit, pinned))
    show_workings(places["axes_working"], lambda: [*ring_workings(scenario), *axis_workings(scenario, profile)], unit)
    with places["ranks"]:
        picture = rank_picture(run, communication.links(scenario).gpus_per_node)
        svg_picture(rank_places(picture), key="communication.ranks")
    if "pipeline" in places:
        kind = st.session_state["communication.schedule"]
        drawing = own_drawing(kind, run)
        place = drawing.nearest(shown_micro_batches())
        with places["pipeline"]:
            pipeline_picture(
                drawing,
                key="communication.pipeline",
                index=place,
                on_commit=lambda index: choose_micro_batches(drawing.micro_batches[index]),
            )
            st.caption(communication_text.pipeline_note(scenario, kind, drawing.virtual_stages))
        show_workings(places["pipeline_working"], lambda: pipeline_workings(drawing, place), unit)
        scaling = communication.scaling(scenario, profile)
        if scaling:
            with places["scaling"]:
                live_chart(charts.scaling_figure(scaling), key="communication.scaling")
        say_it(places["say"], "communication", communication_text.said_numbers(scenario, unit, profile))
    show_gpu_count(places["gpus"], run.num_gpus)
    state.write_address()


def axes() -> dict[str, Any]:
    """Time and bytes by axis over the number of GPUs, who talks to whom, and who shares a node."""
    st.header("Time on the links, by axis", anchor="axes")
    field_row(MAIN, topic="communication")
    field_row(MORE, topic="communication", folded="More of the layout")
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        baseline.pin_buttons("communication", now)
        csv_download("CSV", by_axis_table, key="communication.csv")
    st.caption(inline(communication_text.links_in_words(state.current())))
    assumed = st.empty()
    assumed.caption(inline(communication_text.assumptions_in_words(state.current(), profile_choice.active())))
    table = st.empty()
    box = working_box("communication.axes_working")
    st.header("Who talks to whom", anchor="who")
    svg_picture(who_talks(), key="communication.who")
    st.header("Which GPUs share a node", anchor="nodes")
    return {
        "axes": place,
        "assumed": assumed,
        "table": table,
        "axes_working": box,
        "ranks": st.container(),
    }


def pipeline() -> dict[str, Any]:
    """The schedule with its bubble over micro-batches, and how the run scales."""
    field_row(PIPELINE, topic="communication")
    st.segmented_control(
        "Schedule",
        list(KIND_WORDS),
        default="1f1b",
        format_func=KIND_WORDS.get,
        required=True,
        key="communication.schedule",
        persist_state="session",
    )
    place = st.container()
    box = working_box("communication.pipeline_working")
    st.header("How far it scales", anchor="scaling")
    scaling = st.container()
    if communication.has_peak(state.current()):
        csv_download("CSV", scaling_table, key="communication.scaling_csv")
    else:
        scaling.markdown(communication_text.assumptions_in_words(state.current()))
    st.header("Say it", anchor="say")
    return {"pipeline": place, "pipeline_working": box, "scaling": scaling, "say": st.container(border=True)}


places = {"gpus": scenario_bar((*MAIN, *MORE, *PIPELINE), measured=True)}
whole, family = state.current(), settings.unit()
ring = communication_questions.ring_bytes(whole.training)
words = communication_text.limit_numbers(whole, family, ring)
step_head(3, "Cut communication", section("communication", "Limit", words))
if not predict.answered("communication.ring"):
    asked = section("communication", "Question 1", words)
    predict.ask_magnitude("communication.ring", asked, start=0.01, decades=5, unit="x")
    show_gpu_count(places["gpus"], whole.training.num_gpus)
else:
    answer = section("communication", "Answer 1", words | communication_text.ring_numbers(ring, family))
    predict.reveal_number("communication.ring", ring.times, "{:.2f} x".format, answer, ring.slips)
    places |= axes()
    st.header("Then come the pipeline's gaps", anchor="pipeline")
    idle = communication_questions.idle_share()
    words |= communication_text.bubble_numbers(idle)
    if not predict.answered("communication.bubble"):
        asked = section("communication", "Question 2", words)
        predict.ask_number("communication.bubble", asked, low=0.0, high=100.0, unit="% of the step")
    else:
        answer = section("communication", "Answer 2", words)
        predict.reveal_number("communication.bubble", idle.percent, "{:.1f}%".format, answer, idle.slips)
        places |= pipeline()
    follow_sliders(places)
    fix_table(communication_text.FIXES)
    if predict.answered("communication.bubble"):
        mistakes("communication")  # they name the share that the second question asks for
