"""What lies over a picture says what is wrong with it, and reaches the browser as plain lists."""

import json

import numpy as np
import pytest

from core.charts.over_picture import Dots, Limit, PointLabels, RowLabels, check_rows

PLACES = np.array([[8.0, 6.0], [4.0, 3.0], [2.0, 1.5]])


def labels(texts, **more):
    return RowLabels(texts, **more)


def beside(**more):
    """Two labels at each of three positions."""
    given = {
        "texts": [["a", ""], ["a", "b"], ["a", "b"]],
        "x": PLACES,
        "y": PLACES,
        "sides": [["top left", "bottom right"]] * 3,
        "away": np.full((3, 2), 4.4),
    }
    return PointLabels(**given | more)


def test_a_limit_says_where_it_crosses_which_axis():
    assert Limit(5, "5 GB of memory").payload() == {"at": 5.0, "name": "5 GB of memory", "axis": "x", "role": "limit"}
    assert Limit(2.5, "bend", "y", "muted").payload() == {"at": 2.5, "name": "bend", "axis": "y", "role": "muted"}


def test_row_labels_travel_with_their_cuts():
    cut = np.array([[True, False], [False, False], [False, False]])
    texts = [["8 GB", "6 GB"], ["4 GB", "3 GB"], ["2 GB", "2 GB"]]
    assert labels(texts, cut=cut, bold=1).payload() == {"texts": texts, "cut": [[1, 0], [0, 0], [0, 0]], "bold": 1}
    assert labels(texts).payload() == {"texts": texts, "cut": None, "bold": None}


def test_words_beside_points_travel_with_their_places():
    sent = beside(x=PLACES / 3).payload()
    assert sent["texts"] == [["a", ""], ["a", "b"], ["a", "b"]]
    assert sent["x"][0] == [2.667, 2.0]
    assert sent["away"] == [[4, 4]] * 3
    json.dumps(sent, allow_nan=False)


def test_dots_travel_with_their_roles():
    sent = Dots(PLACES / 3, PLACES, ["kv", "limit"]).payload()
    assert (sent["x"][0], sent["y"][2], sent["roles"]) == ([2.667, 2.0], [2.0, 1.5], ["kv", "limit"])
    json.dumps(sent, allow_nan=False)


@pytest.mark.parametrize(
    ("laid", "words"),
    [
        (labels([["a", "b"]]), "row labels have 1 rows for 3 slider positions"),
        (labels([["a", "b"], ["a"], ["a", "b"]]), "row labels at a position has 1 rows for 2 rows of"),
        (labels(["ab", "ab", "ab"]), "row labels at a position must be a sequence of strings"),
        (labels([["a"]] * 3, cut=np.zeros((3, 2), bool)), r"cut has shape \(3, 2\), not \(3, 1\)"),
        (labels([["a"]] * 3, bold=1), "bold is 1, outside the 1 rows"),
        (beside(texts=[["a"]] * 3), r"point labels: x has shape \(3, 2\), not \(3, 1\)"),
        (beside(texts=[["a", "b"]] * 2), r"texts has shape \(2, 2\), not \(3, 2\)"),
        (beside(sides=[["top left", "above"]] * 3), "the side 'above' is not known"),
        (beside(x=PLACES * np.nan), "stand at a point that is not finite"),
        (Dots(PLACES, PLACES[:, :1], ["kv", "kv"]), r"dots: y has shape \(3, 1\), not \(3, 2\)"),
        (Dots(PLACES, PLACES * np.inf, ["kv", "kv"]), "dots: y is not finite"),
        (Dots(PLACES, PLACES, ["kv", "blue"]), "a dot has the role 'blue'"),
    ],
)
def test_what_does_not_fit_the_slider_is_named(laid, words):
    with pytest.raises(ValueError, match=words):
        laid.check(3)


@pytest.mark.parametrize("at", [np.inf, np.nan])
def test_a_limit_stands_somewhere(at):
    with pytest.raises(ValueError, match="limit 'peak' stands at"):
        Limit(at, "peak").check()


def test_rows_are_so_many_strings():
    check_rows("alt", ["a", "b"], 2)
    with pytest.raises(ValueError, match="alt has 2 rows for 3 slider positions"):
        check_rows("alt", ["a", "b"], 3)
