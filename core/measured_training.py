"""A training step on a measured profile: the estimate of :mod:`core.training`, at the shares that its kernels reach.

Products and attention of the scenario's own shapes are read from the profile's curves and become shares of the
datasheet's peaks; collectives inside a node are the measured ones. What a job loses beside its kernels, and what hides
behind what, stay the stated assumptions of :class:`core.efficiency.Efficiency`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from core.checks import Floats
from core.collective_table import MeasuredCollective
from core.efficiency import Efficiency
from core.flops import BACKWARD_OVER_FORWARD
from core.hardware import Accelerator, Link
from core.kv_layers import heads_per_gpu, mixer_counts
from core.layout import Layout
from core.links import links_of
from core.log_grid import Reading
from core.lora import ADAPTERS
from core.matrices import layer_matrices, outer_matrices
from core.matrix import Matrix
from core.measured_profile import Profile, Role
from core.model_spec import Attention
from core.scenario import TrainingScenario
from core.token_mixing import visible_tokens
from core.training import TrainingReport, estimate, peaks_of

# A tiled backward pass reaches about 0.8 of the forward pass's rate: Shah et al. 2024, arXiv:2407.08608, figures 5, 6.
BACKWARD_ATTENTION_RATE = 0.8
_NO_PRODUCT = ("convolution", "named")
_EXPERTS = "Grouped products of experts and their gradients are read as one product of the same bytes and FLOPs."


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTraining:
    """A training step predicted from a profile."""

    report: TrainingReport
    matmul_share: float | None  # of the dense peak, over all products with weights; None: not measured
    attention_share: float | None  # of the 16-bit peak, forward and backward; None: not measured
    continued: bool  # whether some reading lies beyond what was measured
    notes: tuple[str, ...]
    citation: str


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRates:
    """What an estimate of a training step takes from a profile: the same for any number of data-parallel ranks."""

    efficiency: Efficiency
    tables: tuple[MeasuredCollective, ...]  # empty over other links than those it was measured on
    matmul_share: float | None  # as in :class:`MeasuredTraining`
    attention_share: float | None
    continued: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shares:
    """Work at the peak over work as measured."""

    ideal_s: float
    measured_s: float
    readings: tuple[Reading, ...]

    @property
    def share(self) -> float | None:
        return self.ideal_s / self.measured_s if self.measured_s else None


def measured_training(
    profile: Profile,
    scenario: TrainingScenario,
    *,
    scale_up: Link | None = None,
    scale_out: Link | None = None,
    matrix_dtype: str | None = None,
    efficiency: Efficiency | None = None,
) -> MeasuredTraining:
    """One optimizer step.

    Args:
        profile: what was measured. Its shares are of the scenario's accelerator, which should be the profile's.
        scenario: the layout.
        scale_up, scale_out: links; None: those that the accelerator usually comes with.
        matrix_dtype: format of the products with weights, such as "fp8"; None: the accelerator's 16-bit format.
        efficiency: what stands for all that was not measured; None: the defaults for the accelerator.

    Raises:
        ValueError: the accelerator has no confirmed peak.
    """
    rates = measured_rates(profile, scenario, scale_up=scale_up, matrix_dtype=matrix_dtype, efficiency=efficiency)
    report = estimate(
        scenario,
        scale_up=scale_up,
        scale_out=scale_out,
        efficiency=rates.efficiency,
        matrix_dtype=matrix_dtype,
        tables=rates.tables,
    )
    return MeasuredTraining(
        report=report,
        matmul_share=rates.matmul_share,
        attention_share=rates.attention_share,
        continued=rates.continued,
        notes=rates.notes,
        citation=profile.citation,
    )


def measured_rates(
    profile: Profile,
    scenario: TrainingScenario,
    *,
    scale_up: Link | None = None,
    matrix_dtype: str | None = None,
    efficiency: Efficiency | None = None,
) -> MeasuredRates:
    """Shares of peaks that the scenario's own shapes reach on the profile, and its collectives.

    Args and errors as in :func:`measured_training`. Data-parallel ranks and micro-batches change none of it, so a sweep
    over them takes one call.
    """
    chip, layout = scenario.accelerator, Layout.of(**scenario.layout)
    stated = efficiency or Efficiency.of(chip)
    dtype = matrix_dtype or chip.half_dtype or "bf16"
    products = _products(profile, scenario, layout, chip, dtype)
    mixing = _attention(profile, scenario, layout, chip)
    rate = profile.memory_bytes_per_s
    found = replace(
        stated,
        matmul_share=products.share or stated.matmul_share,
        attention_share=mixing.share or stated.attention_share,
        bandwidth_share=rate / chip.hbm_bytes_per_s if rate else stated.bandwidth_share,
    )
    readings = (*products.readings, *mixing.readings)
    notes = [note for reading in readings for note in reading.notes]
    if products.share is None:
        notes.append(f"Products in {dtype} were not measured; a stated share of the peak stands for them.")
    if mixing.share is None:
        notes.append("Its attention was not measured; a stated share of the peak stands for it.")
    usual = scale_up is None or scale_up == links_of(chip).scale_up  # on which the collectives were measured
    return MeasuredRates(
        efficiency=found,
        tables=profile.collective_tables if usual else (),
        matmul_share=products.share,
        attention_share=mixing.share,
        continued=not all(reading.inside for reading in readings),
        notes=tuple(dict.fromkeys(notes)),
    )


def _products(profile: Profile, scenario: TrainingScenario, layout: Layout, chip: Accelerator, dtype: str) -> _Shares:
    """All products with weights of one micro-batch, forward and backward, each as one kernel."""
    rows = float(layout.micro_batch_tokens.max())
    peak = peaks_of(chip, dtype).matrix_flops_per_s
    frozen, full = scenario.recipe in ADAPTERS, scenario.recompute == "full"
    ideal = measured = 0.0
    readings: list[Reading] = []
    for matrix, count in _matrices(scenario, layout):
        if matrix.kind in _NO_PRODUCT:
            continue
        stored, used = (float(np.max(np.asarray(value))) for value in (matrix.stored, matrix.used))
        n, k = (float(np.max(np.asarray(value))) for value in (matrix.outputs, matrix.inputs))
        # Experts get equal shares of the tokens; all of them together are as wide as what is stored.
        met = rows * used / stored
        roles: list[tuple[Role, int]] = [("forward", 2 if full and matrix.kind != "head" else 1), ("input_gradient", 1)]
        if not frozen:
            roles.append(("weight_gradient", 1))
        for role, times in roles:
            reading = profile.matmul_s(met, n * stored, k, dtype, role=role)
            if reading is None:
                return _Shares(0.0, 0.0, ())
            if matrix.kind == "experts":
                reading = Reading(reading.seconds, np.ones_like(reading.outside), reading.notes).noted(_EXPERTS)
            readings.append(reading)
            measured += times * count * float(reading.seconds)
            ideal += times * count * 2 * met * n * stored * k / peak
    return _Shares(ideal, measured, tuple(readings))


def _matrices(scenario: TrainingScenario, layout: Layout) -> Iterator[tuple[Matrix, int]]:
    split = layout.tensor_parallel
    for layer, count in scenario.model.layer_counts.items():
        shapes = layer_matrices(layer, scenario.model, tensor_parallel=split, expert_parallel=scenario.expert_parallel)
        yield from ((matrix, count) for matrix in shapes)
    yield from ((matrix, 1) for matrix in outer_matrices(scenario.model, tensor_parallel=split))


def _attention(profile: Profile, scenario: TrainingScenario, layout: Layout, chip: Accelerator) -> _Shares:
    """Causal attention of one micro-batch; backward, where it was not measured, is twice the work at a stated rate."""
    peak = peaks_of(chip, None).mixing_flops_per_s
    length = float(scenario.seq_len)
    batch = float(np.max(layout.micro_batch_size)) / scenario.context_parallel  # ring shares add up to whole ones
    ideal = measured = 0.0
    readings: list[Reading] = []
    for mixer, count in mixer_counts(scenario.model).items():
        if not isinstance(mixer, Attention):
            continue
        heads, kv_heads = (
            int(np.max(heads_per_gpu(number, layout.tensor_parallel)))
            for number in (mixer.num_heads, mixer.num_kv_heads)
        )
        visible = _visible(length, mixer)
        flops = float(batch * length * visible * 2 * heads * (mixer.head_dim + mixer.v_head_dim))
        share = float(visible / _visible(length, None))
        read = partial(
            profile.attention_s, batch=batch, tokens=length, heads=heads, kv_heads=kv_heads, head_dim=mixer.head_dim
        )
        both = read("training")
        reading = both or read("prefill")
        if reading is None:
            continue
        readings.append(reading)
        products = 1 + BACKWARD_OVER_FORWARD
        passes = 1.0 if both else 1 + BACKWARD_OVER_FORWARD / BACKWARD_ATTENTION_RATE
        ideal += count * products * flops / peak
        measured += count * passes * share * float(reading.seconds)
    return _Shares(ideal, measured, tuple(readings))


def _visible(length: float, mixer: Attention | None) -> Floats:
    """Tokens that a query sees on average; None: without a window."""
    if mixer is None or mixer.window is None:
        return visible_tokens(length, "causal")
    return visible_tokens(length, "causal", limit=mixer.window, chunked=mixer.window_kind == "chunked")
