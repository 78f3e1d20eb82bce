"""Drafts, prefixes and prices against their formulas and against the page's sweep."""

import numpy as np
import pytest

from core.batch import formats_of, headline_of, over_batch
from core.batch_token import DRAFT_TOKENS, HIT_SHARES, over_draft, prefix_hits, prices
from core.hardware import load_accelerators
from core.kv_cache import kv_bytes
from core.measured_estimate import measured_decode, measured_prefill
from core.measured_profile import load_profile
from core.presets import load_presets
from core.scenario import build, changed
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}


# Leviathan et al. 2022, arXiv:2211.17192, equation 1: 1 + 0.8 + 0.64 + 0.512 + 0.4096.
def test_at_small_batches_a_draft_of_four_gains_what_the_paper_says():
    sweep = over_draft(START, 0.8, 0.05)
    four = DRAFT_TOKENS.index(4)
    assert sweep.tokens[four] == pytest.approx(3.3616)
    assert sweep.verify_cost[four, 0] == pytest.approx(1, abs=1e-6)
    assert sweep.speedup[four, 0] == pytest.approx(3.3616 / (1 + 4 * 0.05), rel=1e-6)


def test_where_compute_binds_the_check_is_paid_and_can_lose():
    scenario = changed(PRESETS["llama31-405b-16384"], context_len=512)
    sweep = over_draft(scenario, 0.5, 0.05)
    eight = DRAFT_TOKENS.index(8)
    assert sweep.verify_cost[eight, -1] > 5
    assert sweep.speedup[eight, -1] < 1 < sweep.speedup[eight, 0]
    assert np.all(np.diff(sweep.speedup[eight]) <= 1e-9)


def test_a_draft_that_is_never_accepted_only_costs():
    assert np.all(over_draft(START, 0.0, 0.05).speedup < 1)


def test_the_own_batch_is_among_the_columns_and_the_sweep_is_kept():
    odd = changed(START, batch=100)
    assert 100 in over_draft(odd, 0.8, 0.05).batch
    assert over_draft(START, 0.8, 0.05) is over_draft(changed(START, batch=64), 0.8, 0.05)


def test_known_prefixes_save_prefill_and_memory():
    hits = prefix_hits(START)
    assert hits.share == HIT_SHARES
    assert hits.cached_tokens.tolist() == [0, 1024, 2048, 3072, 3680, 4080]  # whole blocks, never the last token
    assert np.all(np.diff(hits.prefill_s) < 0)
    # FLOPs saved lag behind tokens found: what is left attends to them.
    assert np.all(hits.saved_flops[1:-1] < hits.cached_tokens[1:-1] / 4096)
    assert hits.saved_bytes[2] == 31 * kv_bytes(START.model, 2048, tensor_parallel=8)
    assert hits.saved_bytes[0] == 0


def test_without_a_peak_prefill_has_no_time():
    gpu = load_accelerators()["apple-m4-max"]
    scenario = build(START.model, gpu, START.scale_up, START.scale_out, {"serving_tensor_parallel": 1})
    assert np.all(np.isnan(prefix_hits(scenario).prefill_s))


# 8 GPUs at 2 an hour are 16 an hour; 3,600 s of so many tokens.
def test_prices_by_hand():
    sweep, here = over_batch(START), headline_of(START)
    rows = prices(sweep, START.serving, 2.0, 0.5)
    assert [row.batch for row in rows] == [1, 32, 351]
    row = rows[1]
    assert row.estimate == pytest.approx(16 / 3600 / here.tokens_per_s / 0.5 * 1e6)
    assert row.floor == pytest.approx(16 / 3600 / here.most_tokens_per_s / 0.5 * 1e6)
    assert rows[0].estimate > rows[1].estimate > rows[2].estimate
    assert all(row.fits for row in rows)
    assert prices(sweep, START.serving, 0.0, 1.0)[0].estimate == 0


def test_what_does_not_fit_is_priced_as_such():
    scenario = PRESETS["megatron-1t-3072"]
    rows = prices(over_batch(scenario), scenario.serving, 2.0, 1.0)
    assert [row.fits for row in rows] == [False, False]


H100 = load_profile("h100-sxm")


def test_on_a_profile_a_check_costs_what_its_kernels_take():
    floors, measured = over_draft(START, 0.8, 0.05), over_draft(START, 0.8, 0.05, H100)
    assert (floors.basis, measured.basis) == ("at the floor", "as measured")
    assert measured.tokens.tolist() == floors.tokens.tolist()
    here = START.serving
    plain, five = (
        measured_decode(
            H100,
            here.model,
            here.context_len,
            batch=here.batch,
            tensor_parallel=here.serving_tensor_parallel,
            tokens_per_sequence=tokens,
            **formats_of(here),
        ).step_s
        for tokens in (1, 5)
    )
    four, at = DRAFT_TOKENS.index(4), measured.batch.index(here.batch)
    assert measured.verify_cost[four, at] == pytest.approx(float(five / plain))
    assert measured.speedup[four, at] == pytest.approx(3.3616 / (float(five / plain) + 0.2))
    assert np.all(measured.verify_cost >= 1)
    # Kernels that nothing hides come on top of the memory's wait, so measured silicon gains less than its floor says.
    assert measured.speedup[four, at] < floors.speedup[four, at]
    assert over_draft(START, 0.8, 0.05, H100) is measured


def test_on_a_profile_prefill_takes_its_kernels_and_saves_the_same_work():
    stated, measured = prefix_hits(START), prefix_hits(START, H100)
    assert measured.saved_flops.tolist() == stated.saved_flops.tolist()
    assert measured.saved_bytes.tolist() == stated.saved_bytes.tolist()
    assert np.all(np.diff(measured.prefill_s) < 0)
    assert measured.prefill_s / stated.prefill_s == pytest.approx(1.0, abs=0.1)
    here = START.serving
    whole = measured_prefill(H100, here.model, here.context_len, tensor_parallel=8, **formats_of(here)).step_s
    assert measured.prefill_s[0] == pytest.approx(float(whole))
