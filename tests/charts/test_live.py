"""A live figure says what is wrong with it on the server; the browser only ever gets whole tables of finite numbers."""

import base64
import json

import numpy as np
import plotly.graph_objects as go
import pytest

from core.charts.live import DEFAULT_HEIGHT, LiveFigure, LiveSlider, Readout, TraceTable
from core.charts.over_picture import Dots, Limit, RowLabels

POSITIONS = ["1 GPU", "2 GPUs", "4 GPUs"]
SLIDER = LiveSlider("GPUs", POSITIONS, index=1)
ALT = ["one", "two", "four"]
TABLE = np.array([[8.0, 6.0], [4.0, 3.0], [2.0, 1.5]])


def bar(**more: object) -> go.Figure:
    return go.Figure(go.Bar(x=TABLE[0], y=["a", "b"], orientation="h", meta={"role": "weights"}, **more))


def live(figure: object = None, *tables: TraceTable, **more: object) -> LiveFigure:
    return LiveFigure(figure or bar(), tables, **{"slider": SLIDER, "alt": ALT, **more})


def test_a_table_travels_as_float32_rows():
    table = live(None, TraceTable(0, "x", TABLE)).payload()["tables"][0]
    sent = np.frombuffer(base64.b64decode(table["float32"]), dtype="<f4").reshape(3, table["points"])
    np.testing.assert_array_equal(sent, TABLE)
    assert (table["trace"], table["path"]) == (0, ["x"])


def test_a_nested_attribute_travels_as_a_path():
    (size,) = live(None, TraceTable(0, "marker.size", TABLE)).payload()["tables"]
    assert size["path"] == ["marker", "size"]


def test_the_payload_is_json_without_the_template_of_plotly():
    figure = bar().update_layout(height=240, xaxis_range=np.array([0, 8]))
    payload = live(figure, TraceTable(0, "x", TABLE)).payload()
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload
    assert payload["figure"]["layout"] == {"height": 240, "xaxis": {"range": [0, 8]}}
    assert payload["height"] == 240
    assert live().payload()["height"] == DEFAULT_HEIGHT


def test_the_arrays_of_a_figure_arrive_as_lists_in_their_shape():
    figure = go.Figure(go.Heatmap(z=np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), x=np.array(["a", "b", "c"])))
    (trace,) = live(figure).payload()["figure"]["data"]
    assert trace["z"] == [[1, 2, 3], [4, 5, 6]]
    assert trace["x"] == ["a", "b", "c"]


def test_a_plain_dict_is_a_figure_too():
    payload = live({"data": [{"type": "bar", "x": (1, 2)}], "layout": {}}).payload()
    assert payload["figure"] == {"data": [{"type": "bar", "x": [1, 2]}], "layout": {}}


def test_what_lies_over_the_picture_travels_beside_it():
    over = {
        "limits": (Limit(5, "5 GB of memory"),),
        "labels": RowLabels([["8 GB", "6 GB"], ["4 GB", "3 GB"], ["2 GB", "2 GB"]]),
        "dots": Dots(TABLE, TABLE, ["kv", "limit"]),
    }
    payload = live(**over).payload()
    assert payload["limits"] == [over["limits"][0].payload()]
    assert (payload["labels"], payload["dots"]) == (over["labels"].payload(), over["dots"].payload())
    json.dumps(payload, allow_nan=False)
    bare = live().payload()
    assert (bare["limits"], bare["labels"], bare["points"], bare["dots"]) == ([], None, None, None)


def test_the_signature_follows_the_tables_and_nothing_else():
    first = live(None, TraceTable(0, "x", TABLE)).payload()
    same = live(bar(name="other"), TraceTable(0, "x", TABLE), slider=LiveSlider("GPUs", POSITIONS)).payload()
    other = live(None, TraceTable(0, "x", TABLE * 2)).payload()
    assert first["signature"] == same["signature"] != other["signature"]


def test_without_a_slider_there_is_one_frame():
    still = LiveFigure(bar(), (TraceTable(0, "x", TABLE[:1]),), readouts=(Readout("left", ["8 GB"]),), alt=["one"])
    assert still.count == 1
    assert still.payload()["slider"] is None
    assert still.payload()["frames"] == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
def test_a_number_that_float32_cannot_hold_is_refused_with_its_place(bad):
    values = TABLE.copy()
    values[2, 1] = bad
    with pytest.raises(ValueError, match=r"table of trace 0, 'x' is not finite at position 2, point 1"):
        live(None, TraceTable(0, "x", values)).payload()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_figure_itself_holds_no_number_that_is_not_finite(bad):
    with pytest.raises(ValueError, match=r"trace 0: y holds a number that is not finite"):
        live(go.Figure(go.Scatter(y=np.array([1.0, bad])))).payload()
    with pytest.raises(ValueError, match=r"layout: xaxis: range holds"):
        live({"data": [], "layout": {"xaxis": {"range": [0.0, bad]}}}).payload()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (TraceTable(1, "x", TABLE), "the figure has 1 traces"),
        (TraceTable(-1, "x", TABLE), "the figure has 1 traces"),
        (TraceTable(0, "x", TABLE[:2]), "has 2 rows for 3 slider positions"),
        (TraceTable(0, "x", TABLE[0]), r"shape \(2,\) is not \(positions, points\)"),
        (TraceTable(0, "x", [[1.0], [1.0, 2.0], [1.0]]), "rows have different lengths"),
        (TraceTable(0, "x", TABLE[:, :1]), "has 1 points, but 'y' of that trace has 2"),
        (TraceTable(0, "x", [[None, 1], [1, 1], [1, 1]]), "holds object, not numbers"),
        (TraceTable(0, "x", TABLE.astype(complex)), "holds complex128, not numbers"),
        (TraceTable(0, "__proto__", TABLE), "not an attribute path"),
        (TraceTable(0, "marker.", TABLE), "not an attribute path"),
    ],
)
def test_a_table_that_does_not_fit_is_named(table, words):
    with pytest.raises(ValueError, match=words):
        live(None, table).payload()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"alt": ["one"]}, "alt has 1 rows for 3 slider positions"),
        ({"alt": "one"}, "alt must be a sequence of strings"),
        ({"alt": [1, 2, 3]}, "alt must be a sequence of strings"),
        ({"readouts": (Readout("left", ["8 GB"]),)}, "readout 'left': values has 1 rows"),
        ({"readouts": (Readout("left", ALT, ["fits"]),)}, "readout 'left': notes has 1 rows"),
        ({"slider": LiveSlider("GPUs", POSITIONS, index=3)}, "index 3 is outside its 3 positions"),
        ({"slider": LiveSlider("GPUs", [])}, "has no positions"),
        ({"limits": (Limit(np.inf, "peak"),)}, "limit 'peak' stands at inf"),
        ({"labels": RowLabels([["a", "b"]])}, "row labels have 1 rows for 3 slider positions"),
        ({"dots": Dots(TABLE[:2], TABLE[:2], ["kv", "kv"])}, r"dots: x has shape \(2, 2\), not \(3, 2\)"),
    ],
)
def test_words_that_do_not_fit_the_slider_are_named(more, words):
    with pytest.raises(ValueError, match=words):
        live(**more)


def test_an_unknown_role_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"trace 0 has the role 'weight'; choose one of \['weights', "):
        live(go.Figure(go.Bar(x=[1], meta={"role": "weight"}))).payload()
    with pytest.raises(ValueError, match="role 'blue'"):
        live(go.Figure(go.Bar(x=[1, 2], meta={"roles": ["kv", "blue"]}))).payload()


def test_each_named_part_has_a_role():
    with pytest.raises(ValueError, match="trace 0 names 2 parts for 1 roles"):
        live(go.Figure(go.Bar(x=[1, 2], meta={"roles": ["kv"], "parts": ["cache", "weights"]}))).payload()


def test_a_value_that_json_cannot_carry_is_named():
    with pytest.raises(ValueError, match="layout: title holds a set"):
        live({"data": [], "layout": {"title": {1}}}).payload()
