"""Variants: reproducible by their address, within what the card allows, with the truth from the core."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cards.draw import (
    MAX_SEED,
    DrawError,
    acceptance,
    draw,
    drawn_values,
    in_base_units,
    numbers,
    seed_from,
    shown,
    twisted,
    with_values,
)
from tests.core.cards.made import DRILL, drill, question

READ, BOUND = drill(), question()


def test_seed_zero_has_the_authors_numbers():
    variant = draw(READ, 0)
    assert variant.values == {"size": 140, "share": 80, "gpu": "h100-sxm"}
    assert variant.answer == pytest.approx(140 / (3350 * 0.8) * 1000)


@given(st.integers(1, MAX_SEED))
def test_an_address_gives_the_same_numbers_again(seed):
    first, again = draw(READ, seed), draw(drill(), seed)
    assert first.address == again.address == f"d-hardware-read@{READ.content_hash}:{seed}"
    assert (first.values, first.truth) == (again.values, again.truth)


@given(st.integers(1, MAX_SEED))
def test_drawn_values_are_allowed_and_satisfy_the_requirement(seed):
    values = drawn_values(READ, seed)
    assert values["size"] in (140, 70)
    assert values["share"] in (50, 60, 70, 80, 90)
    assert values["gpu"] in ("h100-sxm", "h200-sxm")
    assert float(values["size"]) > float(values["share"]) / 2


def test_seeds_are_spread_over_all_values():
    drawn = [drawn_values(READ, seed) for seed in range(1, 200)]
    assert {values["share"] for values in drawn} == {50, 60, 70, 80, 90}
    assert {values["gpu"] for values in drawn} == {"h100-sxm", "h200-sxm"}


def test_numbers_drawn_today_stay_for_as_long_as_the_card_does():
    # Pinned: permalinks and reviews name a seed, so the stream behind it must not change.
    assert [drawn_values(READ, seed) for seed in (1, 2, 3)] == PINNED


PINNED = [
    {"size": 140.0, "share": 90.0, "gpu": "h200-sxm"},
    {"size": 70.0, "share": 70.0, "gpu": "h100-sxm"},
    {"size": 70.0, "share": 90.0, "gpu": "h100-sxm"},
]


def test_an_accelerator_brings_its_figures():
    # Datasheet of the H100 SXM: 989 dense TFLOP/s, 3.35 TB/s, 80 GB, NVLink 900 GB/s both ways.
    brought = numbers(READ, READ.model.defaults)
    assert {name: brought[name] for name in ("tf", "hbm", "cap", "nvl")} == pytest.approx(
        {"tf": 989.4, "hbm": 3350, "cap": 80, "nvl": 900}, rel=1e-3
    )
    assert shown(READ, READ.model.defaults)["gpu"] != "h100-sxm"


def test_base_units():
    base = in_base_units(READ, READ.model.defaults)
    assert base["size"] == 140e9
    assert base["share"] == pytest.approx(0.8)
    assert base["hbm"] == 3350e9


def test_a_requirement_that_nothing_satisfies_is_an_error_in_words():
    never = drill(DRILL.replace('"size > share / 2"', '"size < 0"'))
    with pytest.raises(DrawError, match="none satisfies 'size < 0'"):
        draw(never, 1)
    assert acceptance(never) == 0


def test_acceptance_is_a_share():
    assert acceptance(READ) == 1
    assert 0.3 < acceptance(drill(DRILL.replace('"size > share / 2"', '"size == 140"'))) < 0.7


def test_a_refusal_of_the_core_is_an_error_in_words():
    with pytest.raises(DrawError, match=r"q-hardware-bound: .*move_floor_s refuses its numbers"):
        with_values(BOUND, {"size": 140, "bw": 0}, 0)


def test_a_twist_works_on_the_numbers_before_it():
    before = draw(BOUND, 3)
    after = twisted(before, {"size": "size/2", "bw": "bw*size"})
    assert after.values["size"] == float(before.values["size"]) / 2
    assert after.values["bw"] == float(before.values["bw"]) * float(before.values["size"])
    assert after.truth["read_ms"] == pytest.approx(1000 * float(after.values["size"]) / float(after.values["bw"]))


def test_a_twist_can_change_the_accelerator_and_no_other_word():
    after = twisted(draw(READ, 0), {"gpu": "h200-sxm"})
    assert after.answer == pytest.approx(140 / (4800 * 0.8) * 1000)
    with pytest.raises(DrawError, match="'h300' is no accelerator"):
        twisted(draw(READ, 0), {"gpu": "h300"})
    with pytest.raises(DrawError, match="reads nothing"):
        twisted(draw(READ, 0), {"size": "nothing"})


def test_texts_are_filled_and_slips_computed():
    variant = draw(READ, 0)
    assert variant.fill("{{ size }} GB, {{ answer }} ms, {{ answer/1000 | 3g }} s") == "140 GB, 52.24 ms, 0.0522 s"
    assert variant.value_of("answer/1000") == pytest.approx(0.052239, rel=1e-4)


@given(st.text())
def test_a_seed_from_a_text_is_never_the_authors(text):
    assert 1 <= seed_from(text) < MAX_SEED
    assert seed_from(text) == seed_from(text)
