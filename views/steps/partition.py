"""Step 2, partition: what one GPU holds under each ZeRO stage, what activations add, and what each fix costs."""

from typing import Any

import streamlit as st

from core import partition, partition_questions, partition_text
from core.capacity import memory_problem
from core.charts import partition as charts
from core.constraints import length_note
from core.memory_working import activation_workings, peak_workings
from core.partition_working import state_workings
from views._ui import baseline, predict, settings, state
from views._ui.content import section
from views._ui.controls import field_row, refusal
from views._ui.live_chart import live_chart
from views._ui.scenario_bar import scenario_bar, show_gpu_count
from views._ui.step_page import csv_download, data_table, fix_table, mistakes, say_it, step_head
from views._ui.words import plain
from views._ui.working_view import show_workings, working_box

MAIN = ("zero_stage", "recipe", "tensor_parallel", "pipeline_parallel")
MORE = ("num_micro_batches", "virtual_stages", "context_parallel", "expert_parallel", "sequence_parallel", "offload")
INSIDE = ("micro_batch_size", "recompute", "fused_attention")


def now() -> tuple[partition.Headline, str]:
    """The numbers to pin, and what they belong to."""
    scenario = state.current().training
    return partition.headline_of(scenario), partition_text.layout_in_words(scenario)


def by_stage_table() -> dict[str, list[object]]:
    """The first chart's data."""
    scenario = state.current().training
    return charts.sweep_table(partition.over_data_parallel(scenario), scenario.gpus_per_replica)


def by_length_table() -> dict[str, list[object]]:
    """The second chart's data."""
    return charts.activation_table(partition.over_seq_len(state.current().training))


@st.fragment
def follow_sliders(places: dict[str, Any]) -> None:
    """Write all that follows a slider into its place. It runs alone when a slider is let go."""
    scenario, unit = state.current().training, settings.unit()
    pinned = baseline.pinned("partition", partition.Headline)
    by_stage = partition.over_data_parallel(scenario)
    with places["memory"]:
        figure = charts.by_zero_stage(
            by_stage,
            stage=scenario.zero_stage,
            gpus_per_replica=scenario.gpus_per_replica,
            unit=unit,
            zoom=st.session_state["partition.zoom"],
            baseline=pinned,
        )
        live_chart(
            figure,
            key="partition.memory",
            index=by_stage.data_parallel.index(scenario.data_parallel),
            on_commit=lambda index: state.change(data_parallel=by_stage.data_parallel[index]),
        )
        if problem := memory_problem(scenario, unit):
            refusal(problem.sentence)
        if note := length_note(scenario.model, scenario.seq_len):
            st.caption(plain(note))
    show_workings(places["states_working"], lambda: state_workings(scenario), unit)
    if "activations" in places:
        by_length = partition.over_seq_len(scenario)
        with places["activations"]:
            figure = charts.by_recompute(by_length, recompute=scenario.recompute, unit=unit, baseline=pinned)
            live_chart(
                figure,
                key="partition.activations",
                index=by_length.seq_len.index(scenario.seq_len),
                on_commit=lambda index: state.change(seq_len=by_length.seq_len[index]),
            )
        show_workings(
            places["activations_working"], lambda: [*activation_workings(scenario), *peak_workings(scenario)], unit
        )
        if scenario.pipeline_parallel > 1:
            with places["stages"]:
                stages = partition.by_pipeline_stage(scenario)
                figure = charts.by_pipeline_stage(stages, by_length.hbm_bytes, unit=unit)
                live_chart(figure, key="partition.stages")
        data_table(
            places["table"], partition_text.stage_table(by_stage, scenario, unit, pinned), bold=scenario.zero_stage
        )
        say_it(places["say"], "partition", partition_text.said_numbers(scenario, unit))
    show_gpu_count(places["gpus"], scenario.num_gpus)
    state.write_address()


def states() -> dict[str, Any]:
    """Weights, gradients and optimizer states against the memory line, over the number of GPUs."""
    st.header("Memory per GPU by ZeRO stage", anchor="states")
    field_row(MAIN, topic="partition")
    field_row(MORE, topic="partition", folded="More of the layout")
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle("Zoom to what fits", key="partition.zoom", persist_state="session")
        baseline.pin_buttons("partition", now)
        csv_download("CSV", by_stage_table, key="partition.csv")
    return {"memory": place, "states_working": working_box("partition.states_working")}


def activations() -> dict[str, Any]:
    """Activations by recompute, over the sequence length; pipeline stages where there are some."""
    field_row(INSIDE, topic="partition")
    place = st.container()
    csv_download("CSV", by_length_table, key="partition.activations_csv")
    box = working_box("partition.activations_working")
    if state.current().training.pipeline_parallel > 1:
        st.header("Pipeline stages are not equal", anchor="stages")
    stages = st.container()
    st.header("What fits, what it costs, steady and peak", anchor="price")
    table = st.empty()
    st.header("Say it", anchor="say")
    return {
        "activations": place,
        "activations_working": box,
        "stages": stages,
        "table": table,
        "say": st.container(border=True),
    }


places = {"gpus": scenario_bar((*MAIN, *MORE, *INSIDE))}
whole, family = state.current().training, settings.unit()
share = partition_questions.zero_one_share(whole)
words = partition_text.limit_numbers(whole, family) | partition_text.share_numbers(share, family)
step_head(2, "Partition until it fits", section("partition", "Limit", words))
if not predict.answered("partition.share"):
    asked = section("partition", "Question 1", words)
    predict.ask_number("partition.share", asked, low=0.0, high=100.0, unit="% of a full copy")
    show_gpu_count(places["gpus"], whole.num_gpus)
else:
    answer = section("partition", "Answer 1", words)
    predict.reveal_number("partition.share", share.percent, "{:.0f}%".format, answer, share.slips)
    places |= states()
    st.header("Then come the activations", anchor="activations")
    largest = partition_questions.largest_part(whole)
    words |= partition_text.largest_numbers(largest, family)
    if not predict.answered("partition.largest"):
        asked = section("partition", "Question 2", words)
        predict.ask_choice("partition.largest", asked, partition_questions.PARTS)
    else:
        predict.reveal_choice("partition.largest", largest.truth, section("partition", "Answer 2", words))
        places |= activations()
    follow_sliders(places)
    fix_table(partition_text.FIXES)
    mistakes("partition")
