"""The faulty programs that ship: each shows its fault when run, and the mended one does not."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from core.cards.bug import PROGRAMS, BugCard, statements
from core.cards.demonstration import demonstrated, module_of
from core.cards.library import load_cards
from core.collectives import bytes_per_rank
from core.flops import mfu
from core.hardware import load_accelerators
from core.kv_cache import kv_bytes_per_token
from core.model_spec import load_models
from core.online_softmax import online_softmax
from core.units import GB

BUGS = {card.id: card for card in load_cards().values() if isinstance(card, BugCard)}
SLOWEST_S = 0.5  # a page runs both programs after the commit; on an idle machine all take under 0.05 s


def parts(bug_id: str):
    """Faulty and mended program and the demonstration, as modules."""
    card = BUGS[bug_id]
    return [module_of(text, name) for text, name in zip(card_programs(card), PROGRAMS, strict=True)]


def card_programs(card: BugCard) -> tuple[str, str, str]:
    return card.faulty, card.fixed, card.demonstration


def test_there_are_programs_for_the_six_code_samples_and_more():
    assert len(BUGS) >= 8
    assert len({card.topic for card in BUGS.values()}) >= 8


@pytest.mark.parametrize("card", BUGS.values(), ids=BUGS)
def test_a_run_tells_the_two_programs_apart_and_is_quick(card: BugCard):
    started = perf_counter()
    runs = demonstrated(card)
    assert perf_counter() - started < SLOWEST_S
    assert runs.faulty != runs.fixed
    assert len(runs.faulty.splitlines()) == len(runs.fixed.splitlines()) <= 4


@pytest.mark.parametrize("card", BUGS.values(), ids=BUGS)
def test_nothing_before_the_answer_names_the_cure(card: BugCard):
    mended = set(statements(card.fixed).values()) - set(statements(card.faulty).values())
    shown = f"{card.title} {card.model.stem} {card.faulty}"
    assert [line for line in mended if line in shown] == []
    assert not re.search(r"\b(bugs?|wrong|faults?|fixme|todo)\b", card.faulty, re.I)


@pytest.mark.parametrize("card", BUGS.values(), ids=BUGS)
def test_programs_need_nothing_but_numpy(card: BugCard):
    for program in card_programs(card):
        for node in ast.walk(ast.parse(program)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | {"numpy"}


def test_two_devices_refuse_each_other_until_tensors_are_moved():
    faulty, fixed, show = parts("b-parallelism-halves")
    assert "found cpu and cuda:0" in show.outcome(faulty, "cpu")
    assert "found cuda:0 and cuda:1" in show.outcome(faulty, show.EVERYWHERE)
    x, up, down = show.layers()
    ups = [show.Tensor(half, f"cuda:{at}") for at, half in enumerate(np.split(up, 2, axis=1))]
    downs = [show.Tensor(half, f"cuda:{at}") for at, half in enumerate(np.split(down, 2))]
    y = fixed.forward(show.Tensor(x, "cpu"), ups, downs, show.relu)
    assert y.data == pytest.approx(np.maximum(x @ up, 0) @ down)


@pytest.mark.parametrize("every", [2, 4])
def test_accumulation_reduces_in_every_backward_pass_until_told_not_to(every: int):
    faulty, fixed, show = parts("b-communication-accumulate")
    before, after = (show.trained(code, every=every) for code in (faulty, fixed))
    assert before[0].reduced == 8
    assert after[0].reduced == after[1].steps == 8 // every
    assert before[0].weights == pytest.approx(after[0].weights)  # what suffers is the traffic, not the result
    assert np.ptp(after[0].weights, axis=0).max() == pytest.approx(0, abs=1e-12)  # replicas stay equal


def test_a_mean_of_means_is_not_the_mean_and_a_last_group_is_dropped():
    faulty, fixed, show = parts("b-training-memory-micro-batches")
    tokens = [np.arange(7.0), np.arange(3.0), np.full(2, 5.0)]
    assert show.stepped(fixed, tokens, 3) == pytest.approx(np.concatenate(tokens).mean())
    assert show.stepped(faulty, tokens, 3) == pytest.approx(np.mean([part.mean() for part in tokens]))
    assert show.stepped(faulty, tokens, 4) == 0
    assert show.stepped(fixed, tokens, 4) == pytest.approx(np.concatenate(tokens).mean())
    equal = [np.arange(4.0) + at for at in range(4)]
    assert show.stepped(faulty, equal, 4) == pytest.approx(show.stepped(fixed, equal, 4))  # so the usual test passes


def test_an_overflow_gets_into_the_weights_until_the_step_is_skipped():
    faulty, fixed, show = parts("b-precision-loss-scale")
    gradients = [[0.01, 0.02], [2.0, 0.02], [0.01, 0.02]]  # 2 x 65,536 is beyond 65,504
    weights, scale = show.run(faulty, gradients)
    assert not np.isfinite(weights).all()
    assert scale == 2**16
    weights, scale = show.run(fixed, gradients)
    assert weights == pytest.approx([-0.002, -0.004], rel=1e-3)  # the two clean steps
    assert scale == 2**15
    grown = show.run(fixed, [[0.001, 0.001]] * fixed.GROWTH_INTERVAL)[1]
    assert grown == 2**17


def test_dividing_in_half_precision_loses_what_scaling_saved():
    faulty, fixed, show = parts("b-precision-unscale")
    assert show.GRADIENTS[-1] < 2**-25  # rounds to zero in FP16
    assert show.moved(faulty)[-1] == 0
    assert show.moved(fixed) == pytest.approx(show.GRADIENTS, rel=2e-3)
    skipped = fixed.step(np.ones(1, np.float32), np.array([np.inf], np.float16), 1024.0, 1.0)
    assert skipped == (np.ones(1), 512.0)


@pytest.mark.parametrize(("batch", "norm"), [([0.3, 0.4], 0.5), ([3.0, 4.0], 5.0)])
def test_clipping_before_unscaling_shrinks_every_gradient(batch, norm):
    faulty, fixed, show = parts("b-precision-clip")
    assert show.norm_applied(fixed, batch) == pytest.approx(min(norm, 1.0))
    assert show.norm_applied(faulty, batch) == pytest.approx(1 / show.SCALE)


def test_one_path_for_all_ranks_loses_shards_and_a_crash_loses_the_rest(tmp_path: Path):
    faulty, fixed, show = parts("b-reliability-data-save")
    for name, code in (("faulty", faulty), ("fixed", fixed)):
        folder = tmp_path / name
        show.saved(code, folder)
        own = [show.resumed(folder, rank)["weights"] == [rank, rank] for rank in show.RANKS]
        assert own == ([False, True] if code is faulty else [True, True])
        held = set(show.resumed(folder, 1))
        assert held == ({"weights"} if code is faulty else {*show.PARTS, "step"})
        show.killed_at_the_next(code, folder)
        after = show.resumed(folder, 0)
        assert after is None if code is faulty else after["step"] == 100


@pytest.mark.parametrize("epoch", [0, 1])
def test_ranks_see_the_same_samples_until_each_takes_its_share(epoch: int):
    faulty, fixed, show = parts("b-reliability-data-shares")
    first, second = show.seen(faulty, epoch)
    assert first == second
    first, second = (np.concatenate(batches) for batches in show.seen(fixed, epoch))
    assert sorted([*first, *second]) == list(range(12))
    assert [len(batches) for batches in show.seen(fixed, epoch, count=15)] == [3, 3]  # the same number of steps


def test_utilization_is_measured_against_the_dense_peak():
    faulty, fixed, show = parts("b-bottleneck-utilization")
    model = load_models()["meta-llama/Llama-3.1-8B"]
    dense = load_accelerators()["h100-sxm"].peak_flops_per_s("bf16")
    told = fixed.mfu(show.TOKENS_PER_S, show.GPUS)
    ours = mfu(show.TOKENS_PER_S, model, 8192, num_gpus=show.GPUS, peak_flops_per_s=dense, causal=False)
    assert told == pytest.approx(float(ours), rel=0.08)  # ours leaves the input embedding out, the rule of 6 N does not
    assert faulty.mfu(show.TOKENS_PER_S, show.GPUS) == pytest.approx(told / 2, rel=1e-3)


def test_the_cache_counts_kv_heads():
    faulty, fixed, show = parts("b-kv-cache-cache-size")
    truth = kv_bytes_per_token(load_models()["meta-llama/Llama-3.1-70B"], show.TOKENS)
    assert fixed.kv_bytes_per_token(show.CONFIG) == truth == 327_680
    assert faulty.kv_bytes_per_token(show.CONFIG) == 8 * truth


@pytest.mark.parametrize("tile", [5, 16, 64])
def test_tiles_need_a_rescale_when_the_maximum_rises(tile: int):
    faulty, fixed, show = parts("b-attention-kernels-tiles")
    query, keys, values = show.inputs()
    ours = list(online_softmax(keys @ query / np.sqrt(len(query)), values, tile=tile))[-1].output[0]
    assert fixed.attention(query, keys, values, tile) == pytest.approx(ours)
    assert (show.error(faulty, tile) < 1e-12) == (tile == len(keys))


def test_ranks_with_unequal_tokens_report_a_mean_over_tokens():
    faulty, fixed, show = parts("b-communication-mean-loss")
    every_token = np.concatenate([losses[real] for losses, real in show.example()])
    assert show.losses_of(fixed, show.example()) == pytest.approx([every_token.mean()] * 2)
    assert show.losses_of(faulty, show.example()) == pytest.approx([3.0, 3.0])


def test_a_step_reads_the_cache_of_every_request():
    faulty, fixed, show = parts("b-serving-rate")
    assert show.rate(fixed, 32) == pytest.approx(32 / ((140 + 32 * 1.342) / 13_400))
    assert show.rate(faulty, 32) / show.rate(faulty, 1) == pytest.approx(32)
    assert show.rate(fixed, 32) / show.rate(fixed, 1) == pytest.approx(24.7, abs=0.05)
    assert show.rate(fixed, 200) == 0


def test_ports_are_printed_in_bits():
    faulty, fixed, show = parts("b-hardware-port")
    sent = bytes_per_rank("all_reduce", show.GRADIENT_BYTES, show.RANKS)
    assert fixed.ring_floor_s(show.GRADIENT_BYTES, show.RANKS, show.PORT) == pytest.approx(float(sent) / (50 * GB))
    assert fixed.ring_floor_s(1e9, 8, 400) == pytest.approx(8 * faulty.ring_floor_s(1e9, 8, 400))


@pytest.mark.parametrize("card", BUGS.values(), ids=BUGS)
def test_an_id_gives_no_answer_away(card: BugCard):
    words = set(re.split(r"[^a-z]+", card.id.removeprefix(f"b-{card.topic}-")))
    cures = {"no", "sync", "unequal", "sparse", "rescale", "skip", "rank", "atomic", "dense", "bits", "heads"}
    assert not words & cures
