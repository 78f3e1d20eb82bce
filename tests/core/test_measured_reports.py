"""Reports on a measured profile: estimates are its kernels', everything else stays the datasheet's."""

import numpy as np
import pytest

from core import batch
from core.bottleneck_verdict import verdicts
from core.hardware import load_links
from core.inference import Traffic, estimate
from core.measured_estimate import measured_decode, measured_prefill
from core.measured_profile import load_profile
from core.measured_training import measured_training
from core.scenario_link import default_scenario
from core.serving_messages import fabric_of
from core.verdict import finding

START = default_scenario()  # Llama 3.1 70B, served on 8 H100
H100 = load_profile("h100-sxm")
SERVED = START.serving
FORMATS = batch.formats_of(SERVED)


def decode(**options):
    chip, gpus = SERVED.accelerator, SERVED.serving_tensor_parallel
    return measured_decode(
        H100,
        SERVED.model,
        SERVED.context_len,
        batch=SERVED.batch,
        tensor_parallel=gpus,
        accelerator=chip,
        **FORMATS,
        **options,
    )


def test_a_report_takes_its_times_from_the_kernels_and_its_floors_from_the_datasheet():
    plain, measured = estimate(SERVED), estimate(SERVED, profile=H100)
    assert measured.decode_step_s == pytest.approx(float(decode().step_s))
    prompt = measured_prefill(H100, SERVED.model, SERVED.context_len, tensor_parallel=8, **FORMATS)
    assert measured.prefill_s == pytest.approx(float(prompt.step_s))
    for name in ("decode_floor_s", "prefill_floor_s", "most_tokens_per_s", "max_batch", "bend_batch"):
        assert getattr(measured, name) == getattr(plain, name)
    assert "Estimates from measured kernels of H100 SXM, open data." in measured.notes
    assert measured.tokens_per_s == pytest.approx(SERVED.batch / measured.decode_step_s)


def test_speculation_and_cached_prompts_keep_their_stated_proportion():
    for traffic in (Traffic(draft_tokens=4, draft_cost=0.0), Traffic(prefix_hit=0.5)):
        plain, measured = (estimate(SERVED, traffic=traffic, profile=profile) for profile in (None, H100))
        bare, bare_measured = (estimate(SERVED, profile=profile) for profile in (None, H100))
        for name in ("decode_step_s", "prefill_s"):
            ratio = getattr(plain, name) / getattr(bare, name)
            assert getattr(measured, name) / getattr(bare_measured, name) == pytest.approx(ratio)


def test_the_sweep_and_the_headline_are_the_reports():
    head = batch.headline_of(START, H100)
    assert head.step_s == pytest.approx(estimate(SERVED, profile=H100).decode_step_s)
    sweep = batch.over_batch(START, H100)
    assert np.all(np.diff(sweep.step.step_s) > -1e-12)
    assert np.all(sweep.step.step_s >= sweep.step.floor_s)
    assert batch.over_batch(START, H100) is sweep, "it is kept"
    assert batch.over_batch(START) is not sweep
    assert float(batch.measured_of(START, H100).step_s) == pytest.approx(head.step_s)


def test_messages_are_read_only_over_the_links_that_were_measured():
    slow = load_links()["pcie-5-x16"]
    usual, other = decode(), decode(fabric=fabric_of(SERVED.accelerator, scale_up=slow))
    assert [part.basis for part in usual.parts if part.kind == "messages"] == ["measured"]
    (part,) = (part for part in other.parts if part.kind == "messages")
    assert part.basis == "stated"
    assert part.notes == ("All-reduces among 8 GPUs over these links were not measured.",)
    assert part.seconds > usual.of_kind("messages")


def test_a_training_step_on_other_links_takes_the_stated_collectives():
    run, slow = START.training, load_links()["pcie-5-x16"]
    usual = measured_training(H100, run)
    same = measured_training(H100, run, scale_up=START.scale_up, scale_out=START.scale_out)
    other = measured_training(H100, run, scale_up=slow, scale_out=START.scale_out)
    assert same.report.step_s == pytest.approx(usual.report.step_s)
    assert other.report.step_s > usual.report.step_s


def test_verdicts_and_fixes_are_judged_by_the_same_kernels():
    training, serving = verdicts(START, H100)
    assert serving.step_s == pytest.approx(estimate(SERVED, profile=H100).decode_step_s)
    assert training.step_s == pytest.approx(
        measured_training(H100, START.training, scale_up=START.scale_up, scale_out=START.scale_out).report.step_s
    )
    for part, verdict in (("training", training), ("serving", serving)):
        found = finding(START, part, H100)
        assert found.verdict == verdict
        assert found.fix.now == verdict
        plain = finding(START, part)
        assert plain.verdict != verdict
        assert found.fix.then.tokens_per_s != plain.fix.then.tokens_per_s
