"""Stacked bars draw what they were given up to the end of the axis, and say the rest in words."""

import base64

import numpy as np
import pytest

from core.charts.live import LiveSlider, Readout
from core.charts.memory import PART_ROLES, stacked_bars
from core.charts.theme import ROLES

HBM = 80e9
# Two positions of three bars: one that fits, one that fills the line exactly, one far beyond the axis.
PARTS = {
    "weights": np.array([[10e9, 20e9, 140e9], [5e9, 10e9, 70e9]]),
    "gradients": np.array([[10e9, 20e9, 140e9], [5e9, 10e9, 70e9]]),
    "optimizer": np.array([[0.0, 40e9, 840e9], [0.0, 20e9, 420e9]]),
    "activations": np.array([[5e9, 0.0, 1e9], [5e9, 0.0, 1e9]]),
    "transients": np.array([[1e9, 0.0, 0.0], [1e9, 0.0, 0.0]]),
}
ROWS = ["small", "full", "huge"]
SLIDER = LiveSlider("GPUs", ["1 GPU", "2 GPUs"])


def draw(**more):
    return stacked_bars(PARTS, ROWS, HBM, unit="GB", slider=SLIDER, bold=1, **more)


def table(figure, path):
    """The table of one attribute, as (positions, parts, rows)."""
    (packed,) = [each["float32"] for each in figure.payload()["tables"] if each["path"] == [path]]
    return np.frombuffer(base64.b64decode(packed), "<f4").reshape(2, len(PARTS), 3)


@pytest.mark.parametrize("end_bytes", [None, 400e9])
def test_drawn_parts_add_up_to_the_total_or_to_the_end_of_the_axis(end_bytes):
    figure = draw(end_bytes=end_bytes)
    end = figure.payload()["figure"]["layout"]["xaxis"]["range"][1]
    assert end == (120 if end_bytes is None else 400)  # one and a half times the line, unless more is asked for
    total = np.sum(list(PARTS.values()), axis=0) / 1e9
    drawn = table(figure, "x")
    assert drawn.sum(axis=1) == pytest.approx(np.minimum(total, end))
    assert np.all(drawn >= 0)


def test_each_part_starts_where_the_one_before_it_ends():
    starts, widths = table(draw(), "base"), table(draw(), "x")
    assert np.all(starts[:, 0] == 0)
    assert starts[:, 1:] == pytest.approx((starts + widths)[:, :-1])


def test_hovering_names_the_whole_part_even_where_the_bar_is_cut():
    assert table(draw(), "customdata") == pytest.approx(np.stack(list(PARTS.values()), axis=1) / 1e9)


def test_labels_carry_the_full_totals_and_mark_what_does_not_fit():
    labels = draw().payload()["labels"]
    assert labels["texts"] == [["26.0 GB", "80.0 GB", "1,121 GB ✕"], ["16.0 GB", "40.0 GB", "561 GB ✕"]]
    assert labels["bold"] == 1


def test_a_bar_that_goes_on_past_the_axis_is_marked():
    assert draw().payload()["labels"]["cut"] == [[0, 0, 1], [0, 0, 1]]
    assert draw(end_bytes=600e9).payload()["labels"]["cut"] == [[0, 0, 1], [0, 0, 0]]
    assert not np.any(draw(end_bytes=1121e9).payload()["labels"]["cut"])


def test_the_first_position_stands_in_the_figure_itself():
    (trace,) = draw().payload()["figure"]["data"]
    for attribute in ("base", "x", "customdata"):
        assert trace[attribute] == pytest.approx(table(draw(), attribute)[0].ravel().tolist())


def test_each_point_names_its_row_its_part_and_the_role_that_gives_it_colour_and_pattern():
    (trace,) = draw().payload()["figure"]["data"]
    assert trace["y"] == ["small", "<b>full</b>", "huge"] * len(PARTS)
    assert trace["meta"]["parts"] == np.repeat(list(PARTS), 3).tolist()
    assert trace["meta"]["roles"] == [PART_ROLES[part] for part in trace["meta"]["parts"]]
    assert set(PART_ROLES.values()) <= set(ROLES)
    assert len(set(PART_ROLES.values())) == len(PART_ROLES)


def test_the_sentence_in_place_of_the_picture_has_the_same_numbers():
    against = "memory per GPU by row, against 80.0 GB"
    assert draw().payload()["alt"] == [
        f"1 GPU: {against}: small 26.0 GB, full 80.0 GB, huge 1,121 GB, which does not fit.",
        f"2 GPUs: {against}: small 16.0 GB, full 40.0 GB, huge 561 GB, which does not fit.",
    ]


def test_binary_units_scale_bars_line_and_labels_alike():
    figure = stacked_bars(PARTS, ROWS, 80 * 2**30, unit="GiB", slider=SLIDER).payload()
    assert figure["limits"] == [{"at": 80, "name": "80.0 GiB of memory", "axis": "x", "role": "limit"}]
    assert figure["figure"]["layout"]["xaxis"]["title"]["text"] == "GiB per GPU"
    assert figure["labels"]["texts"][0][0] == "24.2 GiB"


def test_without_a_slider_there_is_one_position():
    alone = {name: values[:1] for name, values in PARTS.items()}
    payload = stacked_bars(alone, ROWS, HBM, unit="GB").payload()
    assert payload["frames"] == 1
    assert payload["alt"][0].startswith("memory per GPU by row")


def test_many_rows_stay_low():
    many = {name: np.ones((1, 64)) for name in PARTS}
    assert stacked_bars(many, [f"stage {at}" for at in range(64)], HBM, unit="GB").payload()["height"] < 1700


def test_readouts_travel_with_the_bars():
    readouts = (Readout("room", ["54 GB", "64 GB"]),)
    assert draw(readouts=readouts).payload()["readouts"][0]["values"] == ["54 GB", "64 GB"]
