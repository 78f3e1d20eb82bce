"""Step 1, bottleneck: which limit binds, where every operator lies under the roof, and what MFU and HFU count."""

from typing import Any

import streamlit as st

from core import bottleneck, bottleneck_questions, bottleneck_text, bottleneck_working
from core.bottleneck_verdict import verdicts
from core.charts import bottleneck as charts
from core.charts import bottleneck_counts as count_charts
from core.charts.roofs import Overlay
from core.constraints import Problem
from core.display import short
from core.dtypes import bytes_per_element
from core.hardware import load_accelerators
from core.measured_roofline import ridge_beside_datasheet
from core.scenario import Scenario
from core.under_roof import Headline, format_roofs, half_roof, other_formats
from views._ui import baseline, predict, profile_choice, settings, state
from views._ui.content import section
from views._ui.controls import field_row, refusal
from views._ui.known_run import counted_run, known_run_inputs, peak_dtype, reported_share
from views._ui.limit_bars import LimitBar, limit_bars
from views._ui.live_chart import live_chart
from views._ui.registry import STEPS, path_of
from views._ui.scenario_bar import scenario_bar, show_gpu_count
from views._ui.step_page import csv_download, data_table, fix_table, mistakes, say_it, step_head
from views._ui.words import inline, plain
from views._ui.working_view import show_workings, working_box

FIELDS = {
    "decode": ("context_len", "serving_tensor_parallel", "weight_dtype", "kv_dtype"),
    "prefill": ("serving_tensor_parallel", "weight_dtype", "kv_dtype"),
    "training": ("micro_batch_size", "tensor_parallel", "context_parallel", "recompute", "fused_attention"),
}
RUN = ("data_parallel", "recompute")


def chosen(name: str, default: Any) -> Any:
    """What a control of this page holds; before it is drawn, and when nothing is chosen, its default."""
    value = st.session_state.get(f"bottleneck.{name}")
    return default if value is None else value


def phase() -> Any:
    """Which pass is under the roof."""
    return chosen("phase", "decode")


def now() -> tuple[Headline, str]:
    """The numbers to pin, and what they belong to."""
    scenario = state.current()
    return bottleneck.headline_of(scenario, phase()), bottleneck_text.layout_in_words(scenario, phase())


def placed_table() -> dict[str, list[object]]:
    """The first chart's data."""
    return charts.placed_table(bottleneck.place(state.current(), phase()))


def counts_table() -> dict[str, list[object]]:
    """The second chart's data; none where what was typed is no use."""
    found = counted_run(state.current())
    return {} if isinstance(found, Problem) else count_charts.counts_table(found)


@st.fragment
def follow_sliders(places: dict[str, Any]) -> None:
    """Write all that follows a slider into its place. It runs alone when a slider is let go."""
    scenario, unit = state.current(), settings.unit()
    pair = verdicts(scenario, profile_choice.active())
    with places["verdicts"]:
        for verdict in pair:
            rows = bottleneck_text.pressure_rows(verdict, unit)
            limit_bars(bottleneck_text.verdict_sentence(verdict), [LimitBar(*row) for row in rows])
            if words := [*bottleneck_text.problem_sentences(scenario, verdict.of, unit), *verdict.notes]:
                st.caption(plain(" ".join(words)))
    show_workings(places["verdict_working"], lambda: bottleneck_working.verdict_workings(pair), unit)
    roofline(places, scenario, unit)
    if "counts" in places:
        counts(places, scenario, unit)
        decode = bottleneck.place(scenario, "decode")
        largest = decode.spot(bottleneck.index_of(decode, scenario), decode.largest)
        say_it(places["say"], "bottleneck", bottleneck_text.said_numbers(scenario, pair, largest))
    show_gpu_count(places["gpus"], scenario.training.num_gpus)
    state.write_address()


def roofline(places: dict[str, Any], scenario: Scenario, unit: str) -> None:
    """Every operator under the roof, as a picture and as a table."""
    placed = bottleneck.place(scenario, phase())
    index, field = bottleneck.index_of(placed, scenario), bottleneck.SLIDERS[placed.phase]
    other = load_accelerators().get(chosen("other", ""))
    formats = chosen(f"formats.{scenario.accelerator.id}", ())
    with places["roofline"]:
        figure = charts.under_roofline(
            placed,
            others=format_roofs(scenario.accelerator, tuple(formats)),
            overlay=Overlay(other.name, half_roof(other)) if other else None,
            baseline=baseline.pinned("bottleneck", Headline),
        )
        live_chart(
            figure,
            key="bottleneck.roofline",
            index=index,
            on_commit=lambda at: state.change(**{field: placed.positions[at]}),
        )
    data_table(places["operators"], bottleneck_text.operator_table(placed, index, unit))
    stored = bytes_per_element(scenario.serving.weight_dtype)
    show_workings(
        places["roofline_working"],
        lambda: bottleneck_working.roofline_workings(placed, index, scenario.accelerator, stored),
        unit,
    )


def counts(places: dict[str, Any], scenario: Scenario, unit: str) -> None:
    """The same speed counted several ways."""
    run, found = scenario.training, counted_run(scenario)
    with places["counts"]:
        if isinstance(found, Problem):
            refusal(found.sentence)
            return
        index = found.sweep.seq_len.index(run.seq_len)
        figure = count_charts.counted_ways(
            found, recompute=run.recompute, reported=reported_share(), num_gpus=run.num_gpus
        )
        live_chart(
            figure,
            key="bottleneck.counts",
            index=index,
            on_commit=lambda at: state.change(seq_len=found.sweep.seq_len[at]),
        )
    data_table(places["counts_table"], bottleneck_text.utilization_table(found, index))
    show_workings(
        places["counts_working"],
        lambda: bottleneck_working.utilization_workings(found, index, run, peak_dtype(scenario.accelerator)),
        unit,
    )


def times_are() -> str:
    """What the times are, in the words of the profile in force."""
    profile = profile_choice.active()
    if profile is None:
        return "Times are estimates at stated efficiencies"
    return f"Times are estimates from measured kernels of {inline(profile.name)}, at stated efficiencies beyond them"


def measured_ridge() -> None:
    """Where the profile in force puts the ridge; the picture keeps the datasheet's."""
    profile, dtype = profile_choice.active(), state.current().accelerator.half_dtype
    if profile and dtype and (sentence := ridge_beside_datasheet(profile, dtype)):
        st.caption(inline(sentence))


def verdict_and_roofline() -> dict[str, Any]:
    """What binds, and the operators of one pass under the roof."""
    st.header("Which limit binds", anchor="verdict")
    st.caption(
        f"{times_are()}; waiting for other GPUs, bubbles included, is communication."
        " Memory is the fullest GPU's peak. A limit binds where its bar reaches the line."
    )
    bars = st.container()
    verdict_box = working_box("bottleneck.verdict_working")
    st.header("Every operator under the roof", anchor="roofline")
    accelerator = state.current().accelerator
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Pass", bottleneck.PHASES, default="decode", required=True, key="bottleneck.phase", persist_state="session"
        )
        if formats := other_formats(accelerator):
            key = f"bottleneck.formats.{accelerator.id}"
            st.pills("Also draw the peak of", formats, selection_mode="multi", key=key, persist_state="session")
        others = load_accelerators()
        st.selectbox(
            "Beside another accelerator",
            ["", *others],
            format_func=lambda name: others[name].name if name else "none",
            key="bottleneck.other",
            persist_state="session",
            width=240,
        )
    field_row(FIELDS[phase()], topic="bottleneck")
    place = st.container()
    measured_ridge()
    with st.container(horizontal=True, vertical_alignment="center"):
        baseline.pin_buttons("bottleneck", now)
        csv_download("CSV", placed_table, key="bottleneck.csv")
    with st.expander("Every operator as a table", icon=":material/table_rows:"):
        table = st.empty()
    return {
        "verdicts": bars,
        "verdict_working": verdict_box,
        "roofline": place,
        "operators": table,
        "roofline_working": working_box("bottleneck.roofline_working"),
    }


def mfu_and_hfu() -> dict[str, Any]:
    """The calculator, what it shows, and which instrument settles which suspicion."""
    field_row(RUN, topic="bottleneck_counts")
    known_run_inputs(state.current().accelerator)
    place = st.container()
    csv_download("CSV", counts_table, key="bottleneck.counts_csv")
    with st.expander("Each count as a table", icon=":material/table_rows:"):
        table = st.empty()
    box = working_box("bottleneck.counts_working")
    st.header("Which instrument tells which suspects apart", anchor="instruments")
    data_table(st.empty(), bottleneck_text.INSTRUMENTS)
    st.header("From symptom to step", anchor="symptoms")
    data_table(st.empty(), bottleneck_text.SYMPTOMS)
    with st.container(horizontal=True):
        for step in STEPS[1:]:
            if step.url_path:
                st.page_link(path_of(step.url_path), label=f"{step.number} {step.title}")
    st.header("Say it", anchor="say")
    return {"counts": place, "counts_table": table, "counts_working": box, "say": st.container(border=True)}


places: dict[str, Any] = {"gpus": scenario_bar((*FIELDS[phase()], *RUN), measured=True)}
whole = state.current()
numbers = bottleneck_text.limit_numbers(whole)
step_head(1, "Find the bottleneck", section("bottleneck", "Limit", numbers))
if not predict.answered("bottleneck.intensity"):
    asked = section("bottleneck", "Question 1", numbers)
    low, decades = bottleneck_questions.LOW, bottleneck_questions.DECADES
    predict.ask_magnitude("bottleneck.intensity", asked, start=low, decades=decades, unit="FLOP/byte")
    show_gpu_count(places["gpus"], whole.training.num_gpus)
else:
    intensity = bottleneck_questions.decode_intensity(whole)
    answer = section("bottleneck", "Answer 1", bottleneck_text.intensity_numbers(intensity))
    predict.reveal_number("bottleneck.intensity", intensity.intensity, short, answer, intensity.slips)
    places |= verdict_and_roofline()
    st.header("MFU and HFU: what is counted", anchor="counts")
    ceiling = bottleneck_questions.recomputed_share(whole.training)
    words = bottleneck_text.ceiling_numbers(ceiling, whole)
    if not predict.answered("bottleneck.ceiling"):
        asked = section("bottleneck", "Question 2", words)
        predict.ask_number("bottleneck.ceiling", asked, low=0.0, high=100.0, unit="%", step=0.5)
    else:
        answer = section("bottleneck", "Answer 2", words)
        predict.reveal_number("bottleneck.ceiling", ceiling.percent, "{:.1f}%".format, answer, ceiling.slips)
        places |= mfu_and_hfu()
    follow_sliders(places)
    if "counts" in places:  # both name what recomputation adds
        fix_table(bottleneck_text.FIXES)
        mistakes("bottleneck")
