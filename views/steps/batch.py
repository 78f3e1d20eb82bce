"""Step 5, batch: what a batch shares and what each request brings, how many fit, and what lifts that cap."""

from typing import Any

import streamlit as st

from core import batch, batch_levers, batch_questions, batch_tables, batch_text, batch_token
from core.batch_working import cap_workings, price_workings, speculation_workings, step_workings
from core.charts import batch as charts
from core.charts import kv_growth, speculation
from views._ui import baseline, predict, profile_choice, settings, state
from views._ui.content import section
from views._ui.controls import field_row, refusal
from views._ui.live_chart import live_chart
from views._ui.paged_picture import paged_picture
from views._ui.scenario_bar import scenario_bar, show_gpu_count
from views._ui.step_page import csv_download, data_table, fix_table, mistakes, say_it, step_head
from views._ui.words import inline
from views._ui.working_view import show_workings, working_box

FIELDS = ("serving_tensor_parallel", "weight_dtype", "kv_dtype", "memory_fraction")
LEVERS = ("Paging", "Bits", "Speculation", "Prefix hits", "Price")


def now() -> tuple[batch.Headline, str]:
    """The numbers to pin, and what they belong to."""
    scenario = state.current()
    return batch.headline_of(scenario, profile_choice.active()), batch_text.layout_in_words(scenario.serving)


def over_batch_table() -> dict[str, list[object]]:
    """The first chart's data."""
    return charts.batch_table(batch.over_batch(state.current(), profile_choice.active()))


def over_context_table() -> dict[str, list[object]]:
    """The second chart's data."""
    return kv_growth.context_table(batch.over_context(state.current()))


@st.fragment
def follow_sliders(places: dict[str, Any]) -> None:
    """Write all that follows a slider into its place. It runs alone when a slider is let go."""
    scenario, unit, profile = state.current(), settings.unit(), profile_choice.active()
    pinned = baseline.pinned("batch", batch.Headline)
    sweep = batch.over_batch(scenario, profile)
    with places["problems"].container():
        for problem in batch_text.standing_problems(scenario.serving, unit):
            refusal(problem.sentence)
    with places["throughput"]:
        live_chart(
            charts.by_batch(sweep, unit=unit, baseline=pinned),
            key="batch.throughput",
            index=sweep.batch.index(scenario.serving.batch),
            on_commit=lambda index: state.change(batch=sweep.batch[index]),
        )
    profile_choice.coverage(places["measured"])
    places["bend"].markdown(f"**The bend.** {inline(batch_text.bend_in_words(scenario))}", width=predict.READING_WIDTH)
    show_workings(places["step_working"], lambda: step_workings(scenario, profile), unit)
    if "cache" in places:
        by_context = batch.over_context(scenario)
        with places["cache"]:
            live_chart(
                kv_growth.by_context(by_context, unit=unit, baseline=pinned),
                key="batch.cache",
                index=by_context.context_len.index(scenario.serving.context_len),
                on_commit=lambda index: state.change(context_len=by_context.context_len[index]),
            )
        show_workings(places["cap_working"], lambda: cap_workings(scenario), unit)
        changes = batch_levers.levers(scenario.serving)
        data_table(places["cap"], batch_tables.lever_rows(changes, unit, pinned), bold=0)
        follow_levers(places["levers"], sweep)
        say_it(places["say"], "batch", batch_text.said_numbers(scenario, unit, profile))
    show_gpu_count(places["gpus"], scenario.serving.serving_tensor_parallel)
    state.write_address()


def follow_levers(places: dict[str, Any], sweep: batch.BatchSweep) -> None:
    """The open tab's numbers."""
    scenario, unit, profile = state.current(), settings.unit(), profile_choice.active()
    chosen = st.session_state
    if "Paging" in places:
        data_table(places["Paging"], batch_tables.reserved_rows(batch_levers.reservations(scenario.serving)))
    if "Bits" in places:
        data_table(places["Bits"], batch_tables.format_rows(batch_levers.formats(scenario.serving), unit))
    if "Speculation" in places:
        acceptance, draft_cost = chosen["batch.acceptance"], chosen["batch.draft_cost"]
        drafts = batch_token.over_draft(scenario, acceptance, draft_cost, profile)
        with places["Speculation"]:
            drawn = speculation.by_draft(drafts, batch=scenario.serving.batch)
            at = live_chart(drawn, key="batch.speculation")
        shown = places["Speculation working"]
        show_workings(shown, lambda: speculation_workings(scenario, acceptance, draft_cost, at, profile), unit)
    if "Prefix hits" in places:
        data_table(places["Prefix hits"], batch_tables.prefix_rows(batch_token.prefix_hits(scenario, profile), unit))
    if "Price" in places:
        rent, use = chosen["batch.rent"], chosen["batch.use"]
        rows = batch_token.prices(sweep, scenario.serving, rent, use)
        data_table(places["Price"], batch_tables.price_rows(rows))
        show_workings(places["Price working"], lambda: price_workings(scenario, rent, use, profile), unit)


def throughput() -> dict[str, Any]:
    """Tokens a second and the parts of a step, over the batch."""
    st.header("Throughput and latency over the batch", anchor="throughput")
    field_row(FIELDS, topic="batch")
    problems, place = st.empty(), st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        baseline.pin_buttons("batch", now)
        csv_download("CSV", over_batch_table, key="batch.csv")
    measured, bend = st.empty(), st.empty()
    st.caption(
        inline(" ".join([batch_text.assumptions_in_words(whole, profile_choice.active()), *batch_text.notes(whole)]))
    )
    working = working_box("batch.step_working")
    return {"problems": problems, "throughput": place, "measured": measured, "bend": bend, "step_working": working}


def cache() -> dict[str, Any]:
    """The cache token by token, how many requests fit, and what lifts that."""
    place = st.container()
    csv_download("CSV", over_context_table, key="batch.cache_csv")
    working = working_box("batch.cap_working")
    st.header("What lifts the cap", anchor="cap")
    cap = st.empty()
    st.header("More levers, one by one", anchor="levers")
    more = levers()
    st.header("Say it", anchor="say")
    return {
        "cache": place,
        "cap_working": working,
        "cap": cap,
        "levers": more,
        "say": st.container(border=True),
    }


def levers() -> dict[str, Any]:
    """The places of the tab that is open; the others are neither computed nor sent."""
    places: dict[str, Any] = {}
    for name, tab in zip(LEVERS, st.tabs(LEVERS, key="batch.lever", on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                st.markdown(section("batch", name), width=predict.READING_WIDTH)
                lever_controls(name)
                places[name] = st.container() if name == "Speculation" else st.empty()
                if name in ("Speculation", "Price"):
                    places[f"{name} working"] = working_box(f"batch.{name.lower()}_working")
    return places


def lever_controls(name: str) -> None:
    """What a tab asks the reader for, kept for the session: these are no part of the scenario."""
    with st.container(horizontal=True):
        if name == "Paging":
            paged_picture(key="batch.blocks")
        elif name == "Speculation":
            st.slider("Acceptance", 0.0, 0.95, 0.8, 0.05, key="batch.acceptance", persist_state="session", width=260)
            help_text = "Time of one draft token over one plain step of the model"
            st.slider(
                "Draft cost",
                0.0,
                0.5,
                0.05,
                0.01,
                key="batch.draft_cost",
                persist_state="session",
                width=260,
                help=help_text,
            )
        elif name == "Price":
            st.number_input(
                "Rent of a GPU, per hour", 0.0, 1000.0, 2.0, 0.1, key="batch.rent", persist_state="session", width=260
            )
            st.slider(
                "Share of the time in use", 0.05, 1.0, 0.5, 0.05, key="batch.use", persist_state="session", width=260
            )


places = {"gpus": scenario_bar(FIELDS, measured=True)}
whole, family = state.current(), settings.unit()
words = batch_text.limit_numbers(whole.serving, family)
step_head(5, "Raise the batch", section("batch", "Limit", words))
ratio = batch_questions.throughput_ratio(whole.serving)
words |= batch_text.ratio_numbers(ratio, family)
if not predict.answered("batch.times"):
    asked = section("batch", "Question 1", words)
    predict.ask_number("batch.times", asked, low=1.0, high=40.0, step=0.5, unit="x one request")
    show_gpu_count(places["gpus"], whole.serving.serving_tensor_parallel)
else:
    answer = section("batch", "Answer 1", words)
    predict.reveal_number("batch.times", ratio.times, "{:.1f} x".format, answer, ratio.slips)
    places |= throughput()
    st.header("The cache grows token by token", anchor="cache")
    twist = batch_questions.twist(whole.serving)
    words |= batch_text.twist_numbers(twist, whole.serving, family)
    if twist.truth and not predict.answered("batch.twist"):
        asked = section("batch", "Question 2", words)
        predict.ask_magnitude("batch.twist", asked, start=1.0, decades=5, unit="requests")
    else:
        answer = section("batch", "Answer 2", words)
        predict.reveal_number("batch.twist", twist.truth, "{:,.0f} requests".format, answer, twist.slips)
        places |= cache()
    follow_sliders(places)
    fix_table(batch_text.FIXES)
    mistakes("batch")
