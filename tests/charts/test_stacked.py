"""Parts lie end to end in one trace, up to the end of the axis."""

import numpy as np

from core.charts.stacked import stacked, stacked_layout

# One position, two rows: 3 + 4 fits an axis of 10, 8 + 4 does not.
PARTS = {"weights": np.array([[3.0, 8.0]]), "cache": np.array([[4.0, 4.0]])}
ROLES = {"weights": "weights", "cache": "kv"}


def test_parts_lie_end_to_end_and_stop_where_the_axis_does():
    trace, tables = stacked(PARTS, ROLES, ["a", "b"], end=10.0, hover="%{customdata} GB")
    drawn = {table.attribute: table.values.tolist() for table in tables}
    assert drawn == {"base": [[0, 0, 3, 8]], "x": [[3, 8, 4, 2]], "customdata": [[3, 8, 4, 4]]}
    assert {table.trace for table in tables} == {0}
    assert trace["base"].tolist() == [0, 0, 3, 8]


def test_each_point_names_its_row_part_and_role():
    trace, _ = stacked(PARTS, ROLES, ["a", "b"], end=10.0, hover="%{customdata} GB")
    assert trace["y"] == ["a", "b", "a", "b"]
    assert trace["meta"] == {"parts": ["weights", "weights", "cache", "cache"], "roles": ["weights"] * 2 + ["kv"] * 2}
    assert trace["hovertemplate"] == "%{hovertext}: %{customdata} GB<extra></extra>"


def test_the_axis_ends_where_it_is_told_to():
    layout = stacked_layout("GB", end=10.0, height=200, top=8)
    assert layout["xaxis"]["range"] == [0, 10]
    assert (layout["height"], layout["margin"]["t"]) == (200, 8)
