"""What cards may call: functions of the whiteboard, and nothing else."""

from __future__ import annotations

import pytest

from core.cards.functions import FunctionError, call, check_arguments, find
from core.hardware import load_accelerators


def test_a_function_is_found_and_called():
    assert find("hardware.move_floor_s").__name__ == "move_floor_s"
    assert call("hardware.move_floor_s", {"num_bytes": 140e9, "bytes_per_s": 3350e9}) == pytest.approx(140 / 3350)


@pytest.mark.parametrize(
    "name",
    [
        "nowhere.move",
        "hardware",
        "hardware.nothing",
        "hardware.__name__",
        "hardware._bytes",
        "hardware.positive",
        "os.system",
        "hardware.load_accelerators",
        "hardware.move_floor_s.__globals__",
        "..hardware.move_floor_s",
        "",
    ],
)
def test_what_is_no_function_of_the_whiteboard_is_refused_with_those_that_are(name):
    with pytest.raises(FunctionError, match=r"there are|has "):
        find(name)


def test_what_a_topic_imports_is_not_named_among_its_functions():
    with pytest.raises(FunctionError, match="launch_share") as refusal:
        find("hardware.nothing")
    assert "positive" not in str(refusal.value)
    assert "load_accelerators" not in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"num_bytes": 1.0}, "it takes num_bytes, bytes_per_s"),
        ({"num_bytes": 1.0, "bytes_per_s": 1.0, "more": 1.0}, "more"),
        ({"num_bytes": -1.0, "bytes_per_s": 1.0}, "refuses its numbers"),
        ({"num_bytes": 1.0, "bytes_per_s": 0.0}, "refuses its numbers"),
        ({"num_bytes": load_accelerators()["h100-sxm"], "bytes_per_s": 1.0}, "move_floor_s"),
        ({"num_bytes": 1e308, "bytes_per_s": 1e-300}, "move_floor_s"),
    ],
)
def test_wrong_arguments_are_refused_in_words(arguments, says):
    with pytest.raises(FunctionError, match=says):
        call("hardware.move_floor_s", arguments)


def test_a_number_for_an_accelerator_is_refused():
    with pytest.raises(FunctionError, match="cannot take these arguments"):
        call("bottleneck.ridge_point", {"accelerator": 5.0})


def test_names_of_arguments_are_checked_without_a_call():
    check_arguments("hardware.move_floor_s", {"num_bytes": "size", "bytes_per_s": "bw"})
    with pytest.raises(FunctionError, match="missing a required argument"):
        check_arguments("hardware.move_floor_s", {})


def test_a_block_beyond_any_cache_is_refused_and_not_laid_out():
    with pytest.raises(FunctionError, match="65536"):
        call("kv_cache.page_tail_bytes", {"block_tokens": 1e13, "kv_bytes_per_token": 1.0})
