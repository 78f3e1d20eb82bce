"""Step 2, partition: what one GPU holds under each ZeRO stage, what activations add, and what each fix costs."""

import streamlit as st

from core import partition, partition_questions
from core.charts import partition as charts
from core.partition_text import FIXES, layout_in_words, numbers_in_words, stage_table
from core.partition_working import activation_workings, peak_workings, state_workings
from pages._ui import baseline, predict, settings, state
from pages._ui.content import section
from pages._ui.controls import field_row
from pages._ui.live_chart import live_chart
from pages._ui.scenario_bar import scenario_bar
from pages._ui.step_page import closing, csv_download, data_table, fix_table, step_head
from pages._ui.working_view import show_workings

MAIN = ("zero_stage", "recipe", "tensor_parallel", "pipeline_parallel")
MORE = ("num_micro_batches", "virtual_stages", "context_parallel", "expert_parallel", "sequence_parallel", "offload")
INSIDE = ("micro_batch_size", "recompute", "fused_attention")

scenario_bar((*MAIN, *MORE, *INSIDE, "data_parallel", "seq_len"))
scenario, unit = state.current().training, settings.unit()
pinned = baseline.pinned("partition", partition.Headline)
words = numbers_in_words(scenario, unit)


def states(sweep: partition.PartitionSweep) -> None:
    """Weights, gradients and optimizer states against the memory line, over the number of GPUs."""
    share = partition_questions.zero_one_share(scenario)
    answer = section("partition", "Answer 1", words)
    predict.reveal_number("partition.share", share.percent, "{:.0f}%".format, answer, share.slips)
    st.header("Memory per GPU by ZeRO stage", anchor="states")
    field_row(MAIN, topic="partition")
    figure = charts.by_zero_stage(
        sweep,
        here=scenario.data_parallel,
        stage=scenario.zero_stage,
        gpus_per_replica=scenario.gpus_per_replica,
        unit=unit,
        zoom=st.session_state.get("partition.zoom", False),
        baseline=pinned,
    )
    live_chart(
        figure,
        key="partition.memory",
        on_commit=lambda index: state.change(data_parallel=sweep.data_parallel[index]),
    )
    here = sweep.headline(sweep.data_parallel.index(scenario.data_parallel), scenario.zero_stage)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle("Zoom to what fits", key="partition.zoom", persist_state="session")
        baseline.pin_buttons("partition", here, layout_in_words(scenario))
    field_row(MORE, topic="partition", folded="More of the layout")
    show_workings("How are these computed?", state_workings(scenario), unit)
    csv_download("Chart data, CSV", lambda: charts.sweep_table(sweep, scenario.gpus_per_replica), key="partition.csv")


def activations() -> None:
    """Activations by recompute, over the sequence length; pipeline stages where there are some."""
    truth = partition_questions.largest_part(scenario).truth
    predict.reveal_choice("partition.largest", truth, section("partition", "Answer 2", words))
    field_row(INSIDE, topic="partition")
    sweep = partition.over_seq_len(scenario)
    figure = charts.by_recompute(sweep, here=scenario.seq_len, recompute=scenario.recompute, unit=unit, baseline=pinned)
    live_chart(figure, key="partition.activations", on_commit=lambda index: state.change(seq_len=sweep.seq_len[index]))
    show_workings("How are these computed?", [*activation_workings(scenario), *peak_workings(scenario)], unit)
    csv_download("Chart data, CSV", lambda: charts.activation_table(sweep), key="partition.activations_csv")
    if scenario.pipeline_parallel > 1:
        st.header("Pipeline stages are not equal", anchor="stages")
        stages = partition.by_pipeline_stage(scenario)
        live_chart(charts.by_pipeline_stage(stages, sweep.hbm_bytes, unit=unit), key="partition.stages")


step_head(2, "Partition until it fits", section("partition", "Limit", words))
if not predict.answered("partition.share"):
    prompt = section("partition", "Question 1", words)
    predict.ask_number("partition.share", prompt, low=0.0, high=100.0, unit="% of a full copy")
else:
    by_stage = partition.over_data_parallel(scenario)
    states(by_stage)
    st.header("Then come the activations", anchor="activations")
    if not predict.answered("partition.largest"):
        prompt = section("partition", "Question 2", words)
        predict.ask_choice("partition.largest", prompt, partition_questions.PARTS)
    else:
        activations()
        st.header("What fits, what it costs, steady and peak", anchor="price")
        data_table(stage_table(by_stage, scenario, unit, pinned))
    fix_table(FIXES)
    closing("partition", words)
