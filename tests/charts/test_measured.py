"""The pictures of measured profiles carry the numbers of core, whole and without gaps that JSON cannot hold."""

import json

import numpy as np
import pytest

from core.charts.measured import at_roofline, collectives, fit_text, notes, over_size, roofline_text
from core.display import show_seconds
from core.measured_collectives import collective_over_bytes
from core.measured_curves import attention_over_tokens, products_over_rows
from core.measured_profile import Profile, load_profiles
from core.measured_roofline import at_the_roofline
from core.units import MICROSECOND, TFLOP

PROFILES = load_profiles()
H200, H100, A100 = (PROFILES[name] for name in ("h200-sxm", "h100-sxm", "a100-sxm-80gb"))
SHAPES = [(8192, 8192), (28672, 4096)]


def traces(figure):
    payload = figure.payload()
    json.dumps(payload, allow_nan=False)
    return {trace["name"]: trace for trace in payload["figure"]["data"] if "name" in trace}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_every_profile_can_be_drawn_in_every_format_that_it_has(profile):
    for dtype in profile.dtypes:
        traces(at_roofline([at_the_roofline(profile, SHAPES, dtype)]))
        traces(over_size(products_over_rows([profile], 8192, 8192, dtype)))
    for phase in ("decode", "prefill"):
        traces(over_size(attention_over_tokens([profile], phase, heads=32, kv_heads=8)))
    for op, ranks in profile.messages:
        traces(collectives(*collective_over_bytes([profile], op, ranks)))


def test_points_stand_where_the_products_lie():
    placed = at_the_roofline(H200, SHAPES)
    drawn = traces(at_roofline([placed]))["H200 SXM, open data, bf16"]
    assert drawn["x"] == pytest.approx(placed.intensity.ravel().tolist())
    assert drawn["y"] == pytest.approx((placed.flops_per_s / TFLOP).ravel().tolist())
    assert drawn["hovertext"][0] == "8,192 x 8,192, 1 rows"


def test_both_roofs_and_both_ridges_are_drawn():
    placed = at_the_roofline(H200, SHAPES)
    payload = at_roofline([placed]).payload()
    roofs = [trace for trace in payload["figure"]["data"] if trace["mode"] == "lines"]
    assert [max(roof["y"]) for roof in roofs] == pytest.approx(
        [placed.reached.flops_per_s / TFLOP, placed.reached.datasheet_flops_per_s / TFLOP]
    )
    assert [limit["at"] for limit in payload["limits"]] == pytest.approx(
        [placed.reached.ridge, placed.reached.datasheet_ridge]
    )
    assert payload["alt"][0].startswith("H200 SXM, open data: the best bf16 product reaches 932 TFLOP/s (94.2% of")


def test_a_profile_without_a_datasheet_has_its_own_roof_alone():
    bare = Profile(H200.file.model_copy(update={"accelerator": None}))
    placed = at_the_roofline(bare, SHAPES)
    payload = at_roofline([placed]).payload()
    assert len([trace for trace in payload["figure"]["data"] if trace["mode"] == "lines"]) == 1
    assert len(payload["limits"]) == 1
    assert "datasheet" not in roofline_text(placed)
    assert "the datasheet's floor" not in traces(over_size(products_over_rows([bare], 8192, 8192)))


def test_a_run_that_stopped_early_claims_no_ridge_and_says_how_far_it_came():
    rest = {"plain_flops_per_s": {"bf16": 950e12}, "planned_weights": {"bf16": 10**6}}
    early = at_the_roofline(Profile(H200.file.model_copy(update=rest)), SHAPES)
    words = roofline_text(early)
    count = early.reached.measured_weights
    assert f"products with {count:,} of 1,000,000 planned weights measured: the best bf16" in words
    assert "reaches 932 TFLOP/s, a plain call of the same run 950 TFLOP/s (96.0% of the datasheet)" in words
    assert words.endswith("Products of so few sizes do not tell where the ridge is.")
    assert "ridge really" not in words
    limits = at_roofline([early]).payload()["limits"]
    assert [limit["at"] for limit in limits] == pytest.approx([early.reached.datasheet_ridge])


def test_curves_raw_points_and_floor_are_those_of_the_view():
    view = products_over_rows([H200, H100], 8192, 8192)
    drawn = traces(over_size(view))
    assert list(drawn) == [
        "the datasheet's floor",
        "H200 SXM, open data",
        "H200 SXM, open data, measured",
        "H100 SXM, open data",
        "H100 SXM, open data, measured",
    ]
    curve = view.curves[0]
    assert drawn["H200 SXM, open data"]["y"] == pytest.approx((curve.seconds / MICROSECOND).tolist())
    assert drawn["H200 SXM, open data, measured"]["y"] == pytest.approx((curve.points_s / MICROSECOND).tolist())
    assert drawn["the datasheet's floor"]["y"] == pytest.approx((view.floor_s / MICROSECOND).tolist())
    roles = [trace["meta"]["role"] for trace in drawn.values()]
    assert roles == ["limit", "accent", "accent", "kv", "kv"]


def test_what_is_continued_is_dotted_and_joins_the_measured_line():
    view = attention_over_tokens([H200], "decode", heads=32, kv_heads=8, batch=128)
    drawn = traces(over_size(view))
    sure, continued = (drawn[f"H200 SXM, open data{end}"]["y"] for end in ("", ", continued"))
    for inside, a, b in zip(~view.curves[0].outside, sure, continued, strict=True):
        assert (a is not None) == inside
        assert inside or b is not None
    assert sum(a is not None and b is not None for a, b in zip(sure, continued, strict=True)) == 1
    assert drawn["H200 SXM, open data, continued"]["line"]["dash"] != "solid"


def test_a_fit_is_drawn_and_said():
    view, fits = collective_over_bytes([H200, A100], "all_reduce", 8)
    drawn = traces(collectives(view, fits))
    line = drawn["H200 SXM, open data: start and rate"]
    assert line["y"][0] == pytest.approx((fits[0].latency_s + view.curves[0].x[0] / fits[0].bytes_per_s) / MICROSECOND)
    assert fit_text(fits[0]).startswith(
        "H200 SXM, open data: 16.0 us to start, then 478 GB/s from each GPU of the link's 450"
    )
    assert "a ring at the link's raw rate" in drawn


def test_notes_carry_sources_gaps_and_differences():
    said = notes(products_over_rows([H200, H100, A100], 8192, 151_936, "fp8"))
    assert any(note.startswith("H200 SXM, open data: inputs k: 151,936 lies past") for note in said)
    assert "A100 SXM 80GB, open data: not measured." in said
    assert said[-1].startswith("Source: NVIDIA AIConfigurator 0.12.0")
    compared = notes(products_over_rows([H200, H100], 8192, 8192))
    assert any("times as long as H200 SXM, open data" in note for note in compared)


def test_nothing_to_draw_is_refused_in_words():
    with pytest.raises(ValueError, match="no profile measured fp8 products"):
        over_size(products_over_rows([A100], 8192, 8192, "fp8"))
    with pytest.raises(ValueError, match="nothing to draw"):
        at_roofline([])


def test_the_words_say_a_cell_as_it_was_measured_and_not_the_smoothed_curve():
    table = H200.file.matmul[0]
    cells = [[list(line) for line in plane] for plane in table.seconds]
    at = table.n.index(8192), table.k.index(8192)
    cells[at[0]][at[1]][0] = 2 * cells[at[0]][at[1]][1]  # a slow first call: the rising curve goes below it
    slow = table.model_copy(update={"seconds": cells})
    curve = products_over_rows([Profile(H200.file.model_copy(update={"matmul": (slow,)}))], 8192, 8192)
    assert curve.curves[0].seconds[0] < curve.curves[0].points_s[0]
    said = over_size(curve).payload()["alt"][0]
    assert f"open data: {show_seconds(curve.curves[0].points_s[0])} at 1 and" in said
    between = products_over_rows([H200], 5000, 8192)
    assert not between.curves[0].points_x.size
    assert f"open data: {show_seconds(between.curves[0].seconds[0])} at 1 and" in over_size(between).payload()["alt"][0]


def test_axes_hold_every_point():
    view = products_over_rows([H200, PROFILES["arc-pro-b60"]], 8192, 8192)
    layout = over_size(view).payload()["figure"]["layout"]
    low, high = layout["yaxis"]["range"]
    for curve in view.curves:
        assert low < np.log10(curve.seconds.min() / MICROSECOND)
        assert np.log10(curve.seconds.max() / MICROSECOND) < high
