"""One speed counted several ways, and the puzzle of an MFU of 35% beside an HFU of 62%."""

import numpy as np
import pytest

from core.bottleneck_counts import COUNTS, Known, counted, known_of, over_seq_len, percent_problem, share_of
from core.constraints import Problem
from core.flops import hfu, mfu, recompute_ceiling, train_flops_per_token
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.params import count_params
from core.presets import load_presets
from core.scenario import build, changed, field_values, with_model
from core.scenario_link import default_scenario

START = default_scenario()
PUZZLE = load_presets()["mfu-35-hfu-62"].scenario().training
PEAK = PUZZLE.accelerator.peak_flops_per_s("bf16")


def at_32k(known):
    used = counted(PUZZLE, known, "bf16")
    return used, used.sweep.seq_len.index(32_768)


# By hand, Llama 3.1 70B at 32,768 tokens: attention is 12 L H Q T = 12 x 80 x 64 x 128 x 32,768 = 0.61 of 6N, half
# of it under the mask. 35 x (1 + 0.31) x 4/3 = 61, and 4/3 x 35 = 46.7 less the output head, which is not made again.
def test_the_puzzle_of_35_and_62():
    used, at = at_32k(Known(0.35, None, "6N"))
    assert used.share("6N")[at] == pytest.approx(0.35)
    assert used.most("6N")[at] == pytest.approx(35 * 4 / 3 / 100, rel=0.005)
    assert used.share("causal", "full")[at] == pytest.approx(0.61, abs=0.005)
    gap = used.gap(0.62, at)
    assert gap.ratio == pytest.approx(62 / 35)
    assert not gap.within
    assert gap.match == ("causal", "full")


def test_attention_over_6n_at_32k():
    sweep = over_seq_len(PUZZLE)
    at = sweep.seq_len.index(32_768)
    six_n = 6 * count_params(PUZZLE.model).active
    assert sweep.matrices[at] == pytest.approx(six_n, rel=1e-4)  # norms are no matrices
    assert sweep.attention["full"][at] == 12 * 80 * 64 * 128 * 32_768
    assert sweep.attention["causal"][at] == pytest.approx(sweep.attention["full"][at] / 2, rel=1e-4)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    "model", ["meta-llama/Llama-3.1-70B", "deepseek-ai/DeepSeek-V3", "nvidia/Nemotron-H-56B-Base-8K"]
)
def test_counts_are_those_of_the_formulas(model, causal, recompute):
    run = with_model(START, load_models()[model])[0].training
    sweep = over_seq_len(run)
    lengths = np.array(sweep.seq_len)
    per_token = train_flops_per_token(run.model, lengths, causal=causal, recompute=recompute)
    count = "causal" if causal else "full"
    assert sweep.per_token(count, recompute) == pytest.approx(per_token)
    assert sweep.ceiling(count) == pytest.approx(recompute_ceiling(run.model, lengths, causal=causal))


def test_a_rate_gives_the_formulas_mfu_and_hfu():
    used, at = at_32k(Known(None, 40_000.0, "causal"))
    given = {"num_gpus": PUZZLE.num_gpus, "peak_flops_per_s": PEAK, "causal": True}
    assert used.share("causal")[at] == pytest.approx(float(mfu(40_000, PUZZLE.model, 32_768, **given)))
    whole = float(hfu(40_000, PUZZLE.model, 32_768, recompute="full", **given))
    assert used.share("causal", "full")[at] == pytest.approx(whole)
    assert (used.rate == 40_000).all()


def test_an_mfu_stays_what_it_was_at_every_length():
    used, _ = at_32k(Known(0.35, None, "causal"))
    assert used.share("causal") == pytest.approx(np.full(len(used.sweep.seq_len), 0.35))
    assert (np.diff(used.rate) < 0).all()  # longer sequences, fewer tokens for the same share


def test_parts_add_up_to_the_share():
    used, _ = at_32k(Known(0.35, None, "6N"))
    for count in COUNTS:
        for recompute in ("none", "selective", "full"):
            assert sum(used.parts(count, recompute).values()) == pytest.approx(used.share(count, recompute))


@pytest.mark.parametrize(("reported", "verdict"), [(0.30, "impossible"), (0.35, "within"), (0.46, "within")])
def test_a_gap_within_the_ceiling_needs_no_other_cause(reported, verdict):
    used, at = at_32k(Known(0.35, None, "6N"))
    gap = used.gap(reported, at)
    assert gap.impossible == (verdict == "impossible")
    assert gap.within


def test_a_figure_that_no_count_reaches():
    used, at = at_32k(Known(0.35, None, "6N"))
    assert used.gap(0.95, at).match is None


# PaLM 540B: MFU 46.2% and HFU 57.8%, attention counted in both (Chowdhery et al. 2022, arXiv:2204.02311, section 4.1).
def test_palm_lies_within_its_ceiling():
    used = counted(PUZZLE, Known(0.462, None, "full"), "bf16")
    assert used.gap(0.578, 0).within


def test_without_a_peak_an_mfu_still_has_its_ratios():
    apple = load_accelerators()["apple-m3-ultra"]
    run = build(START.model, apple, START.scale_up, START.scale_out, field_values(START)).training
    used = counted(run, Known(0.35, None, "6N"), None)
    assert used.rate is None
    assert used.share("6N") == pytest.approx(np.full(len(used.sweep.seq_len), 0.35))
    with pytest.raises(ValueError, match="no confirmed peak"):
        counted(run, Known(None, 1000.0, "6N"), None)


def test_what_is_typed_becomes_what_is_known():
    assert known_of("MFU", None, "6N", estimate=np.nan) == Known(0.35, None, "6N")
    assert known_of("MFU", 41.0, "full", estimate=np.nan) == Known(0.41, None, "full")
    assert known_of("tokens/s", None, "6N", estimate=1234.0) == Known(None, 1234.0, "6N")
    assert known_of("tokens/s", 99.0, "causal", estimate=1234.0) == Known(None, 99.0, "causal")


@pytest.mark.parametrize("value", [0.0, -1.0, 101.0, 1e30, float("nan"), float("inf")])
def test_a_percentage_outside_the_peak_is_refused(value):
    problem = known_of("MFU", value, "6N", estimate=np.nan)
    assert isinstance(problem, Problem)
    assert "above 0 and at most at 100" in problem.sentence
    assert percent_problem("reported_hfu", value) is not None


@pytest.mark.parametrize("value", [0.0, -5.0, 1e30, float("nan"), None])
def test_a_rate_that_is_none_is_refused(value):
    assert isinstance(known_of("tokens/s", value, "6N", estimate=np.nan), Problem)


def test_a_rate_needs_a_peak():
    problem = known_of("tokens/s", 50_000.0, "6N", estimate=np.nan, has_peak=False)
    assert isinstance(problem, Problem)
    assert "no peak of this accelerator is confirmed" in problem.sentence


def test_a_percentage_is_a_share():
    assert share_of(62.0) == 0.62


def test_moving_the_slider_finds_the_same_figures():
    known = Known(0.35, None, "6N")
    longer = changed(load_presets()["mfu-35-hfu-62"].scenario(), seq_len=65_536).training
    assert counted(longer, known, "bf16") is counted(PUZZLE, known, "bf16")
