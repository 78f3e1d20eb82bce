"""The derivations of serving's headline numbers: weights, floors, the estimate, the cap on the batch, speculation."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.dtypes import bytes_per_element
from core.hardware import Accelerator
from core.model_spec import ModelSpec
from core.precision import weight_parts
from core.serving_rates import EFFICIENCIES, Efficiencies, StepTime, multiply_flops_per_s
from core.serving_step import ServingStep
from core.serving_weights import ServingFormats, dtype_of_parts
from core.serving_work import ServingWork
from core.speculation import expected_speculative_tokens
from core.working import Term, Working, number, product, scalar

_POPE = "Pope et al. 2022, arXiv:2211.05102, section 2.1"
_PART_NAMES = {"norms": "norms, biases and other small parts", "lm_head": "output head"}


def weights_working(model: ModelSpec, **formats: Unpack[ServingFormats]) -> Working:
    """The derivation of :func:`core.precision.weight_bytes`."""
    sizes = {part: bytes_per_element(dtype) for part, dtype in dtype_of_parts(formats).items()}
    terms = [
        Term(_PART_NAMES.get(part, part), product(params, sizes[part]), params * sizes[part], "bytes")
        for part, params in weight_parts(model).items()
        if params
    ]
    return Working(
        name=f"Weights, {model.name}",
        formula="parameters × bytes a parameter, for each part",
        terms=tuple(terms),
        value=sum(term.value for term in terms),
        unit="bytes",
        assumptions=("bytes a parameter include its share of block scales",),
        source="parameters of the model's own layers",
    )


def floor_working(step: ServingStep, accelerator: Accelerator) -> Working:
    """The derivation of a decode step's floor: bytes over bandwidth, or FLOPs over the peak if that is longer."""
    memory_binds = not scalar("compute", step.floor.compute_s) > scalar("bandwidth", step.floor.bandwidth_s)
    terms = _memory_terms(step.work, accelerator) if memory_binds else _compute_terms(step.work, accelerator)
    return Working(
        name="Floor of a decode step",
        formula="bytes read / bandwidth" if memory_binds else "FLOPs / peak",
        terms=terms,
        value=scalar("floor_s", step.floor_s),
        unit="s",
        assumptions=(
            f"{'memory takes longer than compute' if memory_binds else 'compute takes longer than memory'}; "
            "the other is hidden behind it",
            "datasheet rates, no messages, no gaps: a floor, not a latency",
            "bytes and FLOPs of the fullest GPU",
        ),
        source=_POPE,
    )


def prefill_floor_working(work: ServingWork, accelerator: Accelerator, floor_s: ArrayLike) -> Working:
    """The derivation of :func:`core.serving.prefill_floor_s` for prompts that compute binds."""
    return Working(
        name="Floor of prefill",
        formula="FLOPs / peak",
        terms=_compute_terms(work, accelerator),
        value=scalar("floor_s", floor_s),
        unit="s",
        assumptions=(
            "causal attention; logits of the last token only",
            "datasheet peak, no messages: a floor, not a latency",
        ),
        source=_POPE,
    )


def estimate_working(step: ServingStep, efficiencies: Efficiencies = EFFICIENCIES) -> Working:
    """The derivation of a decode step's estimate: kernels one after another, messages, starts."""
    time, work = step.estimate, step.work
    terms = [
        _slower("products", "weights", step.floor, "weight_s", efficiencies.weight_bandwidth)
        if _longer(time.weight_s, time.matmul_s)
        else _slower("products", "FLOPs", step.floor, "matmul_s", efficiencies.matmul_compute),
        _slower("attention and states", "cache", step.floor, "kv_s", efficiencies.kv_bandwidth)
        if _longer(time.kv_s, time.attention_s)
        else _slower("attention and states", "FLOPs", step.floor, "attention_s", efficiencies.attention_compute),
    ]
    if scalar("communication_s", time.communication_s):
        each = scalar("communication_s", time.communication_s) / work.num_messages
        terms.append(Term("all-reduces", product(work.num_messages, each), each * work.num_messages, "s"))
    terms.append(Term("starts of kernels", _starts(work, efficiencies), float(time.overhead_s), "s"))
    return Working(
        name="Estimate of a decode step",
        formula="the longer of memory and compute for products and for attention, messages, and starts of kernels",
        terms=tuple(terms),
        value=scalar("step_s", step.step_s),
        unit="s",
        assumptions=("shares of datasheet rates as stated; a measured profile is better",),
        source="NVIDIA AIConfigurator 0.12 (Apache-2.0), kernels of ten systems",
    )


def tokens_working(step: ServingStep, *, floor: bool = False) -> Working:
    """The derivation of a batch's tokens a second, at the estimate or at the floor."""
    seconds = scalar("seconds", step.floor_s if floor else step.step_s)
    batch = scalar("batch", step.batch)
    return Working(
        name="Most tokens a second" if floor else "Tokens a second",
        formula="requests / time of a step",
        terms=(
            Term("one token for each request and step", f"{number(batch)} / {number(seconds)}", batch / seconds, ""),
        ),
        value=batch / seconds,
        unit="tokens/s",
        assumptions=("of all requests together; one request gets its share",),
        source="identity",
    )


def max_batch_working(step: ServingStep) -> Working:
    """The derivation of the cap on the batch, before it is rounded down to whole requests."""
    memory = step.memory
    budget, weights, working, each = (
        scalar(name, value)
        for name, value in (
            ("budget_bytes", memory.budget_bytes),
            ("weight_bytes", memory.weight_bytes),
            ("working_bytes", memory.working_bytes),
            ("sequence_bytes", memory.sequence_bytes),
        )
    )
    expression = f"({number(budget)} - {number(weights)} - {number(working)}) / {number(each)}"
    return Working(
        name="Requests that fit, before rounding down",
        formula="(budget - weights - activations) / bytes a request",
        terms=(Term("of the fullest GPU", expression, (budget - weights - working) / each, "requests"),),
        value=(budget - weights - working) / each,
        unit="requests",
        assumptions=("a request has its cache, its states and a row of fp32 logits", "no prefix is shared"),
        source="vLLM's own split of memory (vLLM issue 13061)",
    )


def speculation_working(acceptance: float, draft_tokens: int) -> Working:
    """The derivation of :func:`core.speculation.expected_speculative_tokens`, token by token."""
    chances = [Term("the target's own token", "1", 1.0, "tokens")]
    for accepted in range(1, draft_tokens + 1):
        expression = product(*[acceptance] * accepted)
        chances.append(Term(f"draft token {accepted}", expression, acceptance**accepted, "tokens"))
    return Working(
        name="Tokens a checking pass yields",
        formula="1 + α + α^2 + ... + α^γ",
        terms=tuple(chances),
        value=float(expected_speculative_tokens(acceptance, draft_tokens)),
        unit="tokens",
        assumptions=("each draft token is accepted with the same chance, if all before it were",),
        source="Leviathan et al. 2022, arXiv:2211.17192, equation 1",
    )


def _memory_terms(work: ServingWork, accelerator: Accelerator) -> tuple[Term, ...]:
    """Each kind of bytes over the bandwidth."""
    bandwidth = accelerator.hbm_bytes_per_s
    parts = (("weights", work.weight_bytes), ("cache", work.kv_bytes), ("states", work.state_bytes))
    return tuple(_quotient(label, num_bytes, bandwidth) for label, num_bytes in parts if np.any(num_bytes))


def _compute_terms(work: ServingWork, accelerator: Accelerator) -> tuple[Term, ...]:
    """Each kind of FLOPs over its peak."""
    parts = [(f"{dtype} weights", flops, dtype) for dtype, flops in work.matmul_flops.items()]
    parts.append(("attention and states", work.attention_flops, "bf16"))
    terms = []
    for label, flops, dtype in parts:
        peak = multiply_flops_per_s(accelerator, dtype)
        if peak is None:
            raise ValueError(f"{accelerator.name} ({accelerator.id}) has no confirmed peak, so there is no derivation")
        terms.append(_quotient(label, flops, peak))
    return tuple(terms)


def _quotient(label: str, amount: ArrayLike, rate: float) -> Term:
    value = scalar(label, amount)
    return Term(label, f"{number(value)} / {number(rate)}", value / rate, "s")


def _longer(memory_s: ArrayLike, compute_s: ArrayLike) -> bool:
    """Whether memory is the longer; an unknown compute time is no time."""
    return not scalar("compute_s", compute_s) > scalar("memory_s", memory_s)


def _slower(label: str, what: str, floor: StepTime, part: str, share: float) -> Term:
    """A time at datasheet rates over the share of them that is reached."""
    seconds = scalar(part, getattr(floor, part))
    return Term(f"{label}: {what}", f"{number(seconds)} / {number(share)}", seconds / share, "s")


def _starts(work: ServingWork, efficiencies: Efficiencies) -> str:
    small = product(work.num_layers, efficiencies.small_kernels_per_layer, efficiencies.small_kernel_s)
    return " + ".join(
        (
            product(work.num_matmuls, efficiencies.matmul_start_s),
            product(work.num_mixers, efficiencies.attention_start_s),
            small,
            *([number(efficiencies.host_s)] if efficiencies.host_s else []),
        )
    )
