"""One or two measured profiles: products at the roofline and over rows, attention, collectives, and how they differ."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import run_tables
from core.charts import measured as charts
from core.measured_collectives import Fit, collective_over_bytes
from core.measured_curves import Curves, attention_over_tokens, products_over_rows
from core.measured_profile import Phase, Profile, load_profile, profile_ids
from core.measured_roofline import at_the_roofline, best_at_the_other
from views._ui import results, state
from views._ui.live_chart import live_chart
from views._ui.predict import READING_WIDTH
from views._ui.profile_choice import recorded_profile
from views._ui.results import RECORDED
from views._ui.step_page import data_table
from views._ui.words import inline, plain

TABS = ("Products", "Attention", "Collectives", "Where tables end")
SHAPES = ((4096, 4096), (8192, 8192), (16384, 8192))  # weights at the roofline, n x k
_PHASES: tuple[Phase, ...] = ("decode", "prefill")
_NOTES_SHOWN = 6


def options() -> dict[str, Profile]:
    """All profiles that can be shown here by id: open data, recorded runs, the reader's own."""
    found = {profile_id: load_profile(profile_id) for profile_id in profile_ids()}
    for name in results.largest_first():
        profile = recorded_profile(name)
        if profile is not None:
            found[f"{RECORDED}{name}"] = profile
    found |= results.joined_recorded()
    if own := results.own_profile():
        found[state.OWN_PROFILE] = own
    return found


def label(profile_id: str, profile: Profile) -> str:
    """A profile in the lists: several runs of one device are told apart by their set."""
    if profile_id == state.OWN_PROFILE:
        return f"{profile.name}: yours"
    if profile_id in results.joined_recorded():
        return f"{profile.name}: all sets"
    if profile_id.startswith(RECORDED):
        return f"{profile.name}: {results.opened_recorded(profile_id.removeprefix(RECORDED)).result.run.set} set"
    return profile.name


def show(profiles: Sequence[Profile]) -> None:
    """The open tab; the others are neither computed nor sent."""
    parts = dict(zip(TABS, (_products, _attention, _collectives, _ends), strict=True))
    for name, tab in zip(TABS, st.tabs(TABS, key="profiles.tab", on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                parts[name](profiles)


def _products(profiles: Sequence[Profile]) -> None:
    dtypes = list(dict.fromkeys(dtype for profile in profiles for dtype in profile.dtypes))
    if not dtypes:
        _none("products")
        return
    dtype = st.segmented_control("Format", dtypes, default=dtypes[0], required=True, key="profiles.dtype")
    placed = [one for profile in profiles if (one := at_the_roofline(profile, _shapes(profile, dtype), dtype))]
    st.markdown("  \n".join(inline(charts.roofline_text(one)) for one in placed), width=READING_WIDTH)
    for sentence in best_at_the_other(profiles, dtype):
        st.caption(inline(sentence))
    live_chart(charts.at_roofline(placed), key="profiles.roofline")
    st.caption(
        "Solid is the datasheet's roof, dotted the measured one: the best product or plain call, and weights read at "
        "few rows."
    )
    _table(
        [row for one in placed for row in ({"system": one.profile} | row for row in run_tables.roofline_rows(one))],
        "roofline",
    )
    st.subheader("One product over its rows", anchor=False)
    with st.container(horizontal=True):
        n, k = (
            st.select_slider(label, sizes, value=_middle(sizes), key=f"profiles.{label[-1]}", width=300)
            for label, sizes in (
                ("Outputs n", _sizes(profiles, dtype, "n")),
                ("Inputs k", _sizes(profiles, dtype, "k")),
            )
        )
    _curves(products_over_rows(profiles, n, k, dtype), "rows", "products")


def _attention(profiles: Sequence[Profile]) -> None:
    phases = [phase for phase in _PHASES if any(one.table.phase == phase for p in profiles for one in p.attention)]
    if not phases:
        _none("attention")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        phase = st.segmented_control("Phase", phases, default=phases[0], required=True, key="profiles.phase")
        heads = sorted(
            {
                (one.table.heads, one.table.kv_heads, one.table.head_dim, one.table.kv_dtype)
                for profile in profiles
                for one in profile.attention
                if one.table.phase == phase
            }
        )
        usual = (32, 8, 128, "bf16")
        shape = st.selectbox(
            "Heads",
            heads,
            index=heads.index(usual) if usual in heads else 0,
            format_func=lambda one: f"{one[0]} over {one[1]} of {one[2]}, {one[3]} cache",
            key=f"profiles.heads.{phase}",
            width=280,
        )
        batch = st.select_slider("Batch", (1, 2, 4, 8, 16, 32, 64, 128, 256), key="profiles.batch", width=300)
    curves = attention_over_tokens(
        profiles, phase, heads=shape[0], kv_heads=shape[1], head_dim=shape[2], kv_dtype=shape[3], batch=batch
    )
    _curves(curves, "tokens", "attention")


def _collectives(profiles: Sequence[Profile]) -> None:
    pairs = sorted({pair for profile in profiles for pair in profile.messages})
    if not pairs:
        _none("collectives")
        return
    with st.container(horizontal=True):
        op = st.selectbox(
            "Collective",
            sorted({op for op, _ in pairs}, key=lambda name: (name != "all_reduce", name)),
            format_func=lambda name: name.replace("_", "-"),
            key="profiles.op",
            width=220,
        )
        ranks = st.segmented_control(
            "GPUs",
            [ranks for name, ranks in pairs if name == op],
            default=pairs_default(pairs, op),
            required=True,
            key=f"profiles.ranks.{op}",
        )
    curves, fits = collective_over_bytes(profiles, op, ranks)
    _curves(curves, "bytes", "collectives", fits)
    data_table(st.empty(), run_tables.fit_rows(op, fits))


def pairs_default(pairs: Sequence[tuple[str, int]], op: str) -> int:
    """The largest measured group, where a node is whole."""
    return max(ranks for name, ranks in pairs if name == op)


def _ends(profiles: Sequence[Profile]) -> None:
    """What each table covers; beyond it a page says that it is continued."""
    st.markdown(
        "Between measured cells a time is read on straight lines between logarithms, and rises. Beyond the last cell "
        "it grows with the work and is marked as continued; a kind that was not measured at all is put in at stated "
        "efficiencies and marked so.",
        width=READING_WIDTH,
    )
    for profile in profiles:
        st.subheader(plain(profile.name), anchor=False)
        data_table(st.empty(), run_tables.table_ends(profile))
        if profile.file.note:
            st.caption(plain(profile.file.note))
        st.caption(f"Source: {plain(profile.citation)}.")


def _curves(curves: Curves, axis: str, name: str, fits: Sequence[Fit] = ()) -> None:
    if not curves.curves:
        _none(curves.what)
        return
    st.markdown(f"**{inline(curves.what)}**")
    figure = charts.collectives(curves, fits) if fits else charts.over_size(curves)
    for one in curves.differences:
        st.markdown(inline(one.in_words), width=READING_WIDTH)
    live_chart(figure, key=f"profiles.{name}")
    notes = [note for note in charts.notes(curves) if note not in {one.in_words for one in curves.differences}]
    st.caption("  \n".join(map(inline, notes[:_NOTES_SHOWN])))
    _table(run_tables.curve_rows(curves, axis), name)


def _table(rows: Sequence[dict[str, str]], name: str) -> None:
    with st.expander("As a table", icon=":material/table:", key=f"profiles.{name}.table", on_change="rerun") as box:
        if box.open:
            data_table(st.empty(), rows)


def _none(what: str) -> None:
    st.markdown(f":gray[Neither has measured {inline(what)}.]")


def _shapes(profile: Profile, dtype: str) -> Sequence[tuple[int, int]]:
    """The usual weights where they lie between measured ones; else those of the profile's own table."""
    products = profile.products.get((dtype, "forward"))
    if products is None:
        return SHAPES
    table = products.table
    inside = [(n, k) for n, k in SHAPES if table.n[0] <= n <= table.n[-1] and table.k[0] <= k <= table.k[-1]]
    return [(n, k) for n, k in inside if n in table.n and k in table.k] or list(products.measured_shapes)


def _sizes(profiles: Sequence[Profile], dtype: str, name: str) -> list[int]:
    tables = [one.table for profile in profiles if (one := profile.products.get((dtype, "forward")))]
    return sorted({size for table in tables for size in getattr(table, name)})


def _middle(sizes: Sequence[int]) -> int:
    return min(sizes, key=lambda size: abs(size - 4096))
