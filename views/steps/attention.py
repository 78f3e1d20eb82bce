"""Step 4, attention: what scores cost when they are written out, what tiles save, and which waits remain."""

from typing import Any

import streamlit as st

from core import attention, attention_questions, attention_tables, attention_text
from core.attention_kinds import kinds
from core.attention_measured import has_launches, measured_passes, passes_workings
from core.attention_time_working import kind_workings, launch_workings, tile_workings, time_workings
from core.attention_working import io_workings
from core.charts import attention as charts
from core.decode_launches import launch_rows
from core.tile_walk import EXAMPLE, TILES, read_scores, walk
from views._ui import baseline, predict, profile_choice, settings, state
from views._ui.content import section
from views._ui.controls import field_row, refusal
from views._ui.live_chart import live_chart
from views._ui.scenario_bar import scenario_bar, show_gpu_count
from views._ui.step_page import csv_download, data_table, fix_table, mistakes, say_it, step_head
from views._ui.tile_walk import tile_walk
from views._ui.words import plain
from views._ui.working_view import show_workings, working_box

MAIN = ("fused_attention", "micro_batch_size", "tensor_parallel")
DECODE = ("batch", "context_len", "serving_tensor_parallel", "weight_dtype")


def now() -> tuple[attention.Headline | None, str]:
    """The numbers to pin, and what they belong to."""
    scenario = state.current().training
    return attention.headline_of(scenario), attention_text.scenario_in_words(scenario)


def length_table() -> dict[str, list[object]]:
    """The first chart's data."""
    sweep = attention.over_seq_len(state.current().training)
    return charts.length_table(sweep) if sweep else {}


def tile_table() -> dict[str, list[object]]:
    """The second chart's data."""
    sweep = attention.over_tile_rows(state.current().training)
    return charts.tile_table(sweep) if sweep else {}


@st.fragment
def follow_sliders(places: dict[str, Any]) -> None:
    """Write all that follows a slider into its place. It runs alone when a slider is let go."""
    scenario, unit = state.current().training, settings.unit()
    sweep = attention.over_seq_len(scenario)
    if sweep is None:
        return
    index = sweep.seq_len.index(scenario.seq_len)
    with places["io"]:
        figure = charts.over_length(
            sweep,
            view=st.session_state["attention.view"] or charts.TRAFFIC,
            fused=scenario.fused_attention,
            unit=unit,
            gpu=scenario.accelerator.name,
            baseline=baseline.pinned("attention", attention.Headline),
        )
        live_chart(
            figure,
            key="attention.io",
            index=index,
            on_commit=lambda at: state.change(seq_len=sweep.seq_len[at]),
        )
    with places["notes"].container():
        if words := attention_text.overflow(sweep.headline(index), unit):
            refusal(words)
        for note in attention_text.notes(scenario):
            st.caption(plain(note))
    show_workings(places["io_working"], lambda: io_workings(scenario), unit)
    if "table" in places:
        measured = measured_passes(scenario, profile_choice.active())
        data_table(places["table"], attention_tables.pass_table(sweep, index, unit, measured))
        if measured:
            places["measured"].caption(plain(measured.in_words()))
        show_workings(places["time_working"], lambda: [*time_workings(scenario), *passes_workings(measured)], unit)
        tiles = attention.over_tile_rows(scenario)
        with places["tiles"]:
            live_chart(
                charts.over_tiles(tiles, unit=unit, chip=attention_text.block_name(scenario)), key="attention.tiles"
            )
        show_workings(places["tiles_working"], lambda: tile_workings(scenario, tiles), unit)
        say_it(places["say"], "attention", attention_text.said_numbers(scenario, unit))
    state.write_address()


def traffic() -> dict[str, Any]:
    """Bytes moved and held, over the length of the sequence."""
    st.header("Traffic and memory of one layer", anchor="traffic")
    field_row(MAIN, topic="attention")
    views = {charts.TRAFFIC: "moved", charts.MEMORY: "held"}
    st.segmented_control(
        "Bytes", [*views], format_func=views.get, default=charts.TRAFFIC, key="attention.view", persist_state="session"
    )
    place, notes = st.container(), st.empty()
    with st.container(horizontal=True, vertical_alignment="center"):
        baseline.pin_buttons("attention", now)
        csv_download("CSV", length_table, key="attention.csv")
    return {"io": place, "notes": notes, "io_working": working_box("attention.io_working")}


def tiling() -> dict[str, Any]:
    """Pass by pass, then the size of a tile."""
    table, measured = st.empty(), st.empty()
    st.caption(plain(section("attention", "Measured")))
    time_working = working_box("attention.time_working")
    st.header("How large a tile", anchor="tiles")
    if note := attention_text.tile_note(state.current().training):
        st.info(plain(note), icon=":material/info:")
    st.caption(plain(section("attention", "Tiles")))
    place = st.container()
    csv_download("CSV", tile_table, key="attention.tiles_csv")
    return {
        "table": table,
        "measured": measured,
        "time_working": time_working,
        "tiles": place,
        "tiles_working": working_box("attention.tiles_working"),
    }


@st.fragment
def one_tile_at_a_time() -> None:
    """The online softmax on small numbers, step by step."""
    st.caption(plain(section("attention", "Walk")))
    typed, wide = st.columns([2, 1])
    with typed:
        text = st.text_input("Scores of one query", EXAMPLE, key="attention.scores", persist_state="session")
    with wide:
        tile = st.segmented_control(
            "Keys a tile", TILES, default=TILES[1], key="attention.tile", persist_state="session"
        )
    try:
        scores = read_scores(text)
    except ValueError as error:
        refusal(str(error))
        scores = read_scores(EXAMPLE)
    tile_walk(walk(scores, tile or TILES[1]), key="attention.walk")


def beyond_tiles() -> None:
    """Kinds of attention, and launches: what tiling does not change."""
    serving, unit = state.current().serving, settings.unit()
    st.header("Kinds of attention", anchor="kinds")
    if found := kinds(serving.model, serving.kv_dtype):
        st.caption(plain(attention_text.kinds_note(serving)))
        data_table(st.empty(), attention_tables.kind_table(found, unit), bold=0)
        show_workings(working_box("attention.kinds_working"), lambda: kind_workings(found, serving), unit)
    st.header("Launches, fusion and graphs", anchor="launches")
    field_row(DECODE, topic="attention")
    rows = launch_rows(serving, profile_choice.active())
    st.markdown(plain(attention_tables.launch_verdict(rows)))
    data_table(st.empty(), attention_tables.launch_table(rows))
    st.caption(plain(attention_tables.launch_note(rows)))
    show_workings(working_box("attention.launch_working"), lambda: launch_workings(rows), unit)


places: dict[str, Any] = {}
profile = profile_choice.active()
applies = has_launches(profile) or measured_passes(state.current().training, profile) is not None
gpus = scenario_bar((*MAIN, *DECODE), measured=applies)
whole, family = state.current().training, settings.unit()
show_gpu_count(gpus, whole.num_gpus)
words = attention_text.limit_numbers(whole)
step_head(4, "Tile attention", section("attention", "Limit", words))
size = attention_questions.score_size(family)
words |= attention_text.score_numbers(size, whole, family)
if not predict.answered("attention.scores"):
    predict.ask_magnitude(
        "attention.scores", section("attention", "Question 1", words), start=0.001, decades=6, unit=family
    )
else:
    answer = section("attention", "Answer 1", words)
    predict.reveal_number("attention.scores", size.amount, attention_text.amount_of(family), answer, size.slips)
    question = attention_questions.recompute_time(whole)
    if question is None:
        st.info(plain(attention_text.no_attention(whole.model)), icon=":material/info:")
    else:
        places |= traffic()
        st.header("Then the scores are made again", anchor="again")
        words |= attention_text.recompute_numbers(question, whole, family)
    if question is not None and not predict.answered("attention.recompute"):
        asked = section("attention", "Question 2", words)
        predict.ask_choice("attention.recompute", asked, attention_questions.OPTIONS)
    else:
        if question is not None:
            answer = section("attention", "Answer 2", words)
            predict.reveal_choice("attention.recompute", question.truth, answer)
            places |= tiling()
        st.header("One tile at a time", anchor="softmax")
        one_tile_at_a_time()
        beyond_tiles()
        if question is not None:
            st.header("Say it", anchor="say")
            places["say"] = st.container(border=True)
    follow_sliders(places)
    fix_table(attention_tables.FIXES)
    mistakes("attention")
