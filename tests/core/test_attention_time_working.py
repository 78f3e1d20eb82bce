"""Time floors and tiles of step 4: the terms that the table adds up, and what is said without a peak."""

from core.attention import over_seq_len, over_tile_rows
from core.attention_time_working import tile_workings, time_workings
from tests.core.test_attention_working import ALL, SCENARIOS, START


@ALL
def test_times_are_those_of_the_table(scenario):
    sweep = over_seq_len(scenario.training)
    at = sweep.seq_len.index(scenario.training.seq_len)
    for working, method in zip(time_workings(scenario.training), ("unfused", "tiled", "tiled, no mask"), strict=True):
        assert working.value == sweep.both(method).time_s[at]
        assert len(working.terms) == (8 if method == "unfused" else 2)


def test_without_a_peak_only_memory_counts():
    for working in time_workings(SCENARIOS["no peak"].training):
        assert all(term.label.endswith("moving") for term in working.terms)
        assert "memory alone: no 16-bit peak is confirmed" in working.assumptions


def test_rows_of_the_largest_tile():
    rows, need = tile_workings(START.training, over_tile_rows(START.training))
    assert rows.lines[1] == "= 232,448 / (2 × 2 × (128 + 128))"
    assert rows.value == 227
    assert need.value == 192 * 4 * 128 * 2
