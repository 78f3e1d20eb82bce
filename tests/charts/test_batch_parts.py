"""What the pictures of step 5 share."""

import numpy as np
import pytest

from core.charts.batch_parts import (
    SPACING,
    columns,
    count_against,
    joined,
    line,
    log_axis,
    requests,
    requests_axis,
    share_against,
)


def test_lines_carry_their_role():
    drawn = line("cache", "kv", (1, 2), np.array([3.0, 4.0]), dash="4px")
    assert (drawn["meta"], drawn["line"]) == ({"role": "kv"}, {"width": 2.5, "dash": "4px"})


def test_axes_end_a_little_beyond_their_values():
    low, high = log_axis("ms", np.array([1.0, 10.0]), np.array([100.0]))["range"]
    assert low < 0 < 2 < high
    axis = requests_axis((1, 16, 100), ("a", "b", "c"))
    assert (axis["tickvals"], axis["ticktext"]) == ([1, 16], ["1 request<br>a", "16<br>b"])
    assert axis["range"][0] < 0 < 2 < axis["range"][1]


@pytest.mark.parametrize("end", [2, 100, 4096, 65_536, 1_000_000])
def test_a_phone_has_room_for_the_labels_of_every_batch(end):
    batch = tuple(sorted({2**k for k in range(13) if 2**k <= end} | {end}))
    axis = requests_axis(batch, tuple("75.3 ms a token" for _ in batch))
    low, high = axis["range"]
    assert axis["tickvals"][0] == 1
    gaps = np.diff(np.log10(axis["tickvals"])) / (high - low)
    assert (gaps >= SPACING).all()
    assert len(axis["tickvals"]) >= (1 if end < 256 else 2)


def test_words():
    assert (requests(1), requests(1200)) == ("1 request", "1,200 requests")
    assert joined("a", None, "", "b") == "a; b"
    assert (share_against(0.0), share_against(0.12), share_against(-0.5)) == ("no change", "+12.0%", "-50.0%")
    assert (count_against(0), count_against(-1200)) == ("no change against pinned", "-1,200 against pinned")


def test_columns_have_one_length():
    assert columns({"a": np.array([1, 2]), "b": 3.0}, 2) == {"a": [1, 2], "b": [3.0, 3.0]}
