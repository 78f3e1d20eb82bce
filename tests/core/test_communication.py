"""What step 3 shows of a scenario: the report's own numbers over GPUs, and curves that end where the batch does."""

import numpy as np
import pytest

from core.axis_traffic import AXES
from core.capacity import memory_problem
from core.collectives import zero_traffic
from core.communication import (
    MOST_GPUS,
    has_peak,
    headline_of,
    links,
    measured_axes,
    over_gpus,
    rates_of,
    scaling,
)
from core.hardware import load_accelerators, load_links
from core.links import links_of
from core.measured_profile import Profile, load_profile
from core.measured_training import measured_training
from core.model_spec import load_models
from core.params import count_params
from core.presets import load_presets
from core.scenario import build, changed, field_values, with_model
from core.scenario_link import default_scenario
from core.training import estimate

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)


def on(accelerator, **values):
    """The start scenario on another accelerator and the links that it comes with."""
    gpu = load_accelerators()[accelerator]
    own = links_of(gpu)
    return build(START.model, gpu, own.scale_up, own.scale_out, field_values(START) | values)


@EVERY_PRESET
def test_the_headline_is_the_reports(scenario):
    report = estimate(scenario.training, scale_up=scenario.scale_up, scale_out=scenario.scale_out)
    here = headline_of(scenario)
    assert here.step_s == pytest.approx(report.step_s)
    assert here.mfu == pytest.approx(report.mfu)
    assert here.exposed_s == pytest.approx(float(report.time.communication_s))
    assert here.bubble_s == pytest.approx(float(report.time.bubble_s))
    assert here.sent_bytes == pytest.approx(sum(float(sent) for sent in report.time.sent_bytes.values()))


@EVERY_PRESET
def test_work_communication_and_bubble_are_the_step(scenario):
    sweep = over_gpus(scenario)
    exposed = np.sum([sweep.exposed_s[axis] for axis in AXES], axis=0)
    assert sweep.work_s + exposed + sweep.bubble_s == pytest.approx(sweep.step_s)
    assert scenario.training.data_parallel in sweep.data_parallel
    standard = [n for n in sweep.num_gpus if n != scenario.training.num_gpus]
    assert max(standard, default=0) <= MOST_GPUS


# Second witness: the closed count of ZeRO-3 over 64 ranks, 3 P elements of two bytes, 63 of 64 of them.
def test_bytes_of_sharded_data_parallelism_are_those_of_the_zero_paper():
    params = count_params(START.model).total
    assert headline_of(START).sent_bytes == pytest.approx(3 * 2 * params * 63 / 64)
    assert headline_of(START).sent_bytes == pytest.approx(float(zero_traffic(params, 64, stage=3).total_bytes))


def test_only_axes_in_use_are_shown_and_data_always():
    assert over_gpus(START).axes == ("data",)
    split = changed(START, tensor_parallel=8, pipeline_parallel=4, data_parallel=2)
    assert over_gpus(split).axes == ("tensor", "pipeline", "data")
    sweep = over_gpus(split)
    assert sweep.busiest(sweep.data_parallel.index(2)) == "tensor"
    assert over_gpus(START).busiest(0) is None  # one GPU


def test_a_sweep_is_kept_while_the_slider_moves():
    assert over_gpus(START) is over_gpus(changed(START, data_parallel=128))


def test_without_a_peak_bytes_and_times_on_the_links_are_left():
    bare = next(name for name, gpu in load_accelerators().items() if gpu.half_dtype is None)
    scenario = on(bare, tensor_parallel=8, pipeline_parallel=2, num_micro_batches=4)
    assert not has_peak(scenario)
    assert scaling(scenario) is None
    here = headline_of(scenario)
    assert (here.step_s, here.exposed_s, here.mfu, here.exposed_share) == (None,) * 4
    assert here.sent_bytes > 0
    assert here.on_links_s > 0
    assert here.against(here).exposed_s is None


# The same layout with a peak: what is on the links is exposed and hidden together.
def test_times_on_the_links_need_no_peak():
    scenario = changed(START, tensor_parallel=8, data_parallel=8, zero_stage=1)
    gpu = scenario.accelerator.edited(bf16_flops_per_s=None, fp16_flops_per_s=None)
    values = field_values(scenario)
    bare = build(scenario.model, gpu, scenario.scale_up, scenario.scale_out, values)
    assert headline_of(bare).on_links_s == pytest.approx(headline_of(scenario).on_links_s)
    assert headline_of(bare).sent_bytes == pytest.approx(headline_of(scenario).sent_bytes)


@EVERY_PRESET
def test_both_curves_hold_the_scenario_and_end_where_they_must(scenario):
    curves = scaling(scenario)
    own = scenario.training.num_gpus
    batches = scenario.training.data_parallel * scenario.training.num_micro_batches
    mfu = headline_of(scenario).mfu
    for curve in (curves.strong, curves.weak):
        assert curve.mfu[curve.num_gpus.index(own)] == pytest.approx(mfu)
        assert curve.of_first[0] == 1
        assert max(curve.num_gpus) <= max(MOST_GPUS, own)
        assert list(curve.num_gpus) == sorted(set(curve.num_gpus))
    assert all(batches % (n // scenario.training.gpus_per_replica) == 0 for n in curves.strong.num_gpus)


# 256 sequences on a pipeline of 8: with fewer micro-batches for each rank the bubble grows, so strong scaling bends.
def test_strong_scaling_bends_and_weak_scaling_hardly():
    run = changed(START, tensor_parallel=8, pipeline_parallel=8, data_parallel=4, num_micro_batches=64, zero_stage=1)
    curves = scaling(run)
    assert curves.strong.num_gpus[-1] == 64 * 256  # one micro-batch each
    assert curves.strong.mfu[-1] < 0.3 * curves.strong.mfu[0]
    assert min(curves.weak.mfu) > 0.9 * max(curves.weak.mfu)


def test_a_run_that_does_not_fit_says_by_how_much_and_what_cures_it():
    assert memory_problem(START.training) is None
    sentence = memory_problem(changed(START, data_parallel=8).training).sentence
    assert "more than the GPU has" in sentence
    assert "Cure" in sentence or "GPUs" in sentence


@pytest.mark.parametrize("model", load_models().values(), ids=lambda model: model.id)
def test_every_model_has_numbers(model):
    scenario, _ = with_model(START, model)
    here = headline_of(scenario)
    assert here.step_s > 0
    assert np.isfinite([here.sent_bytes, here.exposed_s, here.on_links_s, here.mfu]).all()


@pytest.mark.parametrize("accelerator", load_accelerators())
def test_every_accelerator_has_bytes(accelerator):
    scenario = on(accelerator)
    assert headline_of(scenario).sent_bytes > 0
    assert links(scenario).gpus_per_node >= 1


H100 = load_profile("h100-sxm")


def slower(profile, factor):
    """The same system with collectives that take so many times as long."""
    rows = tuple(
        row.model_copy(update={"seconds": tuple(factor * s for s in row.seconds)}) for row in profile.file.collectives
    )
    return Profile(profile.file.model_copy(update={"collectives": rows}))


def test_a_profile_gives_times_and_leaves_bytes():
    stated, measured = over_gpus(START), over_gpus(START, H100)
    place = stated.data_parallel.index(START.training.data_parallel)
    assert measured.num_gpus == stated.num_gpus
    for axis in AXES:
        assert measured.sent_bytes[axis].tolist() == stated.sent_bytes[axis].tolist()
    report = measured_training(H100, START.training, scale_up=START.scale_up, scale_out=START.scale_out).report
    assert measured.step_s[place] == pytest.approx(report.step_s)
    assert measured.mfu[place] == pytest.approx(report.mfu)
    assert report.step_s != pytest.approx(estimate(START.training).step_s, rel=1e-3)
    assert headline_of(START, H100).step_s == pytest.approx(report.step_s)


def test_measured_collectives_stand_in_inside_a_node_alone():
    inside = changed(START, tensor_parallel=8, data_parallel=8)
    assert measured_axes(inside, H100) == ("tensor",)
    usual, slow = (headline_of(inside, profile) for profile in (H100, slower(H100, 3)))
    sweep = over_gpus(inside, H100)
    at = sweep.data_parallel.index(8)
    tensor = float(sweep.exposed_s["tensor"][at] + sweep.hidden_s["tensor"][at])
    assert slow.on_links_s - usual.on_links_s == pytest.approx(2 * tensor, rel=0.02)
    # Sixteen nodes with a rank each: nothing that was measured applies, and nothing is claimed.
    assert measured_axes(changed(START, data_parallel=64), H100) == ()
    assert measured_axes(inside, None) == ()


def test_collectives_over_other_links_are_not_those_measured():
    other = START.model_copy(update={"scale_up": next(link for link in load_links().values() if link.kind == "pcie")})
    inside = changed(other, tensor_parallel=8, data_parallel=8)
    assert measured_axes(inside, H100) == ()
    assert headline_of(inside, H100).on_links_s == headline_of(inside, slower(H100, 3)).on_links_s


def test_scaling_follows_the_profile():
    stated, measured = scaling(START), scaling(START, H100)
    assert measured.weak.num_gpus == stated.weak.num_gpus
    own = measured.weak.num_gpus.index(measured.own_gpus)
    assert measured.weak.mfu[own] == pytest.approx(headline_of(START, H100).mfu)


def test_without_a_peak_a_profile_changes_nothing():
    bare = on("apple-m4-max")
    assert rates_of(bare, H100) is None
    assert headline_of(bare, H100) == headline_of(bare)


def test_more_ranks_need_no_new_reading():
    other = changed(START, data_parallel=START.training.data_parallel * 2)
    assert over_gpus(START, H100).num_gpus == over_gpus(other, H100).num_gpus
    assert rates_of(START, H100) is rates_of(other, H100)
