"""The first picture of step 1 carries the numbers of core: points on their roofs, labels, readouts, sentences."""

import json

import numpy as np
import pytest

from core.bottleneck import PHASES, headline_of, index_of, place
from core.charts.bottleneck import WORTH_A_LABEL, placed_table, under_roofline
from core.charts.roofs import Overlay
from core.display import digits, show_seconds
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import build, changed, field_values, with_model
from core.scenario_link import default_scenario
from core.under_roof import format_roofs, half_roof, other_formats
from core.units import TFLOP

START = default_scenario()
H200 = load_accelerators()["h200-sxm"]
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}


def drawn(figure):
    """The trace of operators, and its tables by attribute."""
    number, trace = next(
        (number, trace) for number, trace in enumerate(figure.payload()["figure"]["data"]) if trace.get("hovertext")
    )
    return trace, {table.attribute: np.asarray(table.values) for table in figure.frames if table.trace == number}


def labels_at(figure, index):
    return [text for text in figure.point_labels.texts[index] if text]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)
def test_every_operator_with_flops_is_drawn_where_it_lies(scenario, phase):
    placed = place(scenario, phase)
    figure = under_roofline(placed)
    at = index_of(placed, scenario)
    trace, tables = drawn(figure)
    for point, label in enumerate(trace["hovertext"]):
        operator = placed.labels.index(label)
        assert tables["x"][at, point] == placed.intensity[at, operator]
        assert tables["y"][at, point] * TFLOP == pytest.approx(placed.attained[at, operator])
        assert tables["customdata"][at, point] == pytest.approx(100 * placed.share[at, operator])
        assert trace["meta"]["parts"][point] == placed.groups[operator]
    copies = {label for label, flops in zip(placed.labels, placed.flops.T, strict=True) if not flops.all()}
    assert set(trace["hovertext"]) == set(placed.labels) - copies


@pytest.mark.parametrize("phase", PHASES)
def test_every_model_and_accelerator_can_be_drawn(phase):
    scenarios = [with_model(START, model)[0] for model in load_models().values()]
    scenarios += [
        build(START.model, gpu, START.scale_up, START.scale_out, field_values(START))
        for gpu in load_accelerators().values()
    ]
    for scenario in scenarios:
        others = format_roofs(scenario.accelerator, other_formats(scenario.accelerator))
        figure = under_roofline(place(scenario, phase), others=others, overlay=Overlay(H200.name, half_roof(H200)))
        payload = figure.payload()
        json.dumps(payload, allow_nan=False)
        assert "nan" not in str((payload["readouts"], payload["alt"], payload["points"]["texts"]))


@pytest.mark.parametrize("phase", PHASES)
def test_no_point_lies_outside_the_frame(phase):
    placed = place(START, phase)
    figure = under_roofline(placed)
    layout = figure.payload()["figure"]["layout"]
    _, tables = drawn(figure)
    for axis, attribute in (("xaxis", "x"), ("yaxis", "y")):
        low, high = layout[axis]["range"]
        values = np.log10(tables[attribute])
        assert (values > low).all()
        assert (values < high).all()


def test_readouts_are_the_headline():
    placed = place(START, "decode")
    at, here = index_of(placed, START), headline_of(START, "decode")
    largest, floor, compute = under_roofline(placed).payload()["readouts"]
    assert largest["label"] == "MLP gate and up projections, FLOP/byte"
    assert largest["values"][at] == digits(here.intensity) == "31.7"
    assert largest["notes"][at] == "bandwidth-bound, 9.31 x below the ridge"
    assert floor["label"] == "floor of one decode step, one GPU"
    assert floor["values"][at] == show_seconds(here.floor_s)
    assert compute["values"][at] == "0%"
    assert compute["notes"][at] == "the largest product from 384 requests on"
    assert largest["notes"][placed.positions.index(4096)].startswith("compute-bound, ")


def test_the_sentence_names_what_takes_longest():
    placed = place(START, "decode")
    sentence = under_roofline(placed).payload()["alt"][index_of(placed, START)]
    assert sentence.startswith("32 requests, decode: operators under the roofline")
    assert "MLP gate and up projections 31.7 FLOP a byte, bandwidth-bound, 40.5% of it" in sentence


def test_points_that_lie_together_share_a_label():
    placed = place(START, "decode")
    written = labels_at(under_roofline(placed), index_of(placed, START))
    assert {"5 matrix products", "full attention", "4 elementwise"} <= set(written)
    mixed = place(START, "training")
    assert "MLP gate and up projections + 5" in labels_at(under_roofline(mixed), index_of(mixed, START))


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)
def test_what_takes_long_has_a_label_near_it(scenario, phase):
    placed = place(scenario, phase)
    figure = under_roofline(placed)
    roofs = set.intersection(*(set(labels_at(figure, index)) for index in range(len(placed.positions))))
    for index in range(len(placed.positions)):
        own = [text for text in labels_at(figure, index) if "/s" not in text]
        assert 1 <= len(own) <= 1 / WORTH_A_LABEL
    assert any("/s" in text for text in roofs)


def test_overlays_are_drawn_beside_the_scenarios_own_roofs():
    placed = place(START, "decode")
    at = index_of(placed, START)
    alone = under_roofline(placed)
    beside = under_roofline(
        placed, others=format_roofs(START.accelerator, ("fp8",)), overlay=Overlay(H200.name, half_roof(H200))
    )
    assert {"bf16 989 TFLOP/s", "vector units 67.0 TFLOP/s", "3.35 TB/s"} <= set(labels_at(alone, at))
    assert [limit.name for limit in alone.limits] == ["ridge 295"]
    assert set(labels_at(beside, at)) - set(labels_at(alone, at)) == {
        "fp8 1,979 TFLOP/s",
        "H200 SXM: bf16 989 TFLOP/s",
    }
    assert len(beside.payload()["figure"]["data"]) == len(alone.payload()["figure"]["data"]) + 2


def test_without_a_peak_there_is_no_ridge_and_it_is_said():
    apple = load_accelerators()["apple-m3-ultra"]
    scenario = build(START.model, apple, START.scale_up, START.scale_out, field_values(START))
    payload = under_roofline(place(scenario, "decode")).payload()
    assert payload["limits"] == []
    largest, _, compute = payload["readouts"]
    assert largest["notes"][0] == "no confirmed peak to compare with"
    assert (compute["values"][0], compute["notes"][0]) == ("unknown", "no peak is confirmed")


def test_pinned_numbers_of_the_same_pass_stand_beside_the_new_ones():
    placed, pinned = place(START, "decode"), headline_of(changed(START, batch=16), "decode")
    largest, floor, _ = under_roofline(placed, baseline=pinned).payload()["readouts"]
    assert largest["notes"][index_of(placed, START)].endswith("; 1.99 x pinned")
    assert "x pinned" in floor["notes"][index_of(placed, START)]
    assert largest["notes"][placed.positions.index(16)].endswith("; as pinned")
    other = under_roofline(place(START, "prefill"), baseline=pinned).payload()["readouts"]
    assert "pinned" not in str(other)


def test_the_table_has_a_row_for_each_position_and_operator():
    placed = place(START, "training")
    table = placed_table(placed)
    assert {len(column) for column in table.values()} == {placed.flops.size}
    assert list(table) == ["seq_len", "operator", "group", "flops", "bytes", "flop_per_byte", "floor_s"]
    row = table["operator"].index("full attention")
    assert table["flops"][row] == placed.flops[0, placed.labels.index("full attention")]
    assert type(table["seq_len"][0]) is int
