"""Rows of step 5 as a reader sees them."""

from core.batch import headline_of, over_batch
from core.batch_levers import formats, levers, reservations
from core.batch_tables import format_rows, lever_rows, prefix_rows, price_rows, reserved_rows
from core.batch_token import prefix_hits, prices
from core.hardware import load_accelerators
from core.presets import load_presets
from core.scenario import build, changed
from core.scenario_link import default_scenario

START = default_scenario()


def test_levers_stand_beside_what_is_now():
    rows = lever_rows(levers(START.serving), "GB", None)
    assert rows[0] == {
        "change": "as it stands",
        "requests that fit": "351",
        "against now": "1.00 x",
        "GPUs": "8",
        "a request takes, each GPU": "0.168 GB",
    }
    assert rows[1]["against now"] == "2.00 x"


def test_levers_stand_beside_what_is_pinned():
    pinned = headline_of(changed(START, kv_dtype="fp8"))
    rows = lever_rows(levers(START.serving), "GB", pinned)
    assert [row["against pinned"] for row in rows[:2]] == ["-350", "+0"]


def test_where_nothing_fits_a_lever_says_whether_it_helps():
    scenario = load_presets()["megatron-1t-3072"].scenario()
    said = {row["change"]: row["against now"] for row in lever_rows(levers(scenario.serving), "GB", None)}
    assert said["as it stands"] == "none"
    assert said["weights in 4 bits, with scales"] == "fits"


def test_formats_prefixes_reservations_and_prices():
    assert format_rows(formats(START.serving), "GB")[3] == {
        "format": "int4-g128",
        "bits an element": "4.25",
        "weights, whole model": "40.6 GB",
        "fit with these weights": "426",
        "a request's cache, each GPU": "44.6 MB",
        "fit with this cache": "1,313",
    }
    assert reserved_rows(reservations(START.serving))[-1]["of it empty"] == "96.9%"
    half = prefix_rows(prefix_hits(START), "GB")[2]
    assert (half["prompt already cached"], half["tokens found"], half["FLOPs saved"]) == ("50%", "2,048", "49.1%")
    rows = price_rows(prices(over_batch(START), START.serving, 2.0, 0.5))
    assert [row["requests at once"] for row in rows] == ["1", "32", "351"]
    assert {row["fits"] for row in rows} == {"yes"}


def test_an_unknown_peak_is_said_in_words():
    gpu = load_accelerators()["apple-m4-max"]
    scenario = build(START.model, gpu, START.scale_up, START.scale_out, {"serving_tensor_parallel": 1})
    assert {row["prefill, estimate"] for row in prefix_rows(prefix_hits(scenario), "GB")} == {"no confirmed peak"}
