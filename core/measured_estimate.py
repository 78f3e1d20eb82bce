"""How long decode and prefill take on a measured profile: its kernels' times added up, the datasheet's floor beside.

A step is one kernel after another: each weight matrix, each layer's attention, what lies between, messages
(:mod:`core.measured_pass`). No measured step is seen: kernels and links predict it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from numpy.typing import ArrayLike

from core.checks import whole
from core.hardware import Accelerator
from core.measured_pass import MeasuredPass
from core.measured_profile import Profile
from core.measured_step import MeasuredStep
from core.model_spec import ModelSpec
from core.serving_messages import Fabric
from core.serving_rates import EFFICIENCIES, Efficiencies
from core.serving_step import MEMORY_FRACTION, ServingStep, serving_step
from core.serving_weights import ServingFormats
from core.serving_work import decode_work, prefill_work


def measured_decode(
    profile: Profile,
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: int = 1,
    accelerator: Accelerator | None = None,
    fabric: Fabric | None = None,
    eager: bool = False,
    tokens_per_sequence: ArrayLike = 1,
    efficiencies: Efficiencies = EFFICIENCIES,
    **formats: Unpack[ServingFormats],
) -> MeasuredStep:
    """One decode step.

    Args:
        profile: what was measured.
        model, seq_len, batch, formats: as in :func:`core.serving.decode_floor_s`.
        tensor_parallel: GPUs that share the step; one degree a call.
        accelerator: the datasheet beside; None: the profile's own.
        fabric: links between the GPUs; None: those that the accelerator usually comes with. Messages are read from the
            profile only over those, since it was measured on them.
        eager: kernels are launched one by one and not in a graph, so the queue of launches may be longer than the work.
        tokens_per_sequence: tokens checked at once. Attention over several is that over one, times the ratio of their
            floors: no profile measures it. [tokens]
        efficiencies: for what was not measured.

    Raises:
        ValueError: the profile's system is not in the catalog and no accelerator is given.
    """
    chip = _datasheet(profile, accelerator)
    plain = decode_work(model, seq_len, batch=batch, tensor_parallel=tensor_parallel, **formats)
    work = decode_work(
        model,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        tokens_per_sequence=tokens_per_sequence,
        **formats,
    )
    return MeasuredPass(
        work,
        plain,
        profile=profile,
        accelerator=chip,
        model=model,
        phase="decode",
        seq_len=seq_len,
        batch=batch,
        new_tokens=whole("tokens_per_sequence", tokens_per_sequence),
        tensor_parallel=tensor_parallel,
        fabric=fabric,
        efficiencies=efficiencies,
        formats=formats,
    ).step(eager=eager)


def measured_prefill(
    profile: Profile,
    model: ModelSpec,
    prompt_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: int = 1,
    accelerator: Accelerator | None = None,
    fabric: Fabric | None = None,
    eager: bool = False,
    cached_tokens: ArrayLike = 0,
    efficiencies: Efficiencies = EFFICIENCIES,
    **formats: Unpack[ServingFormats],
) -> MeasuredStep:
    """Prefill of ``batch`` prompts in one pass, logits of the last token only; as :func:`measured_decode`.

    Of each prompt ``cached_tokens`` are in the cache, as in :func:`core.serving_work.prefill_work`; attention of the
    rest is that of a whole prompt, times the ratio of their floors.
    """
    chip = _datasheet(profile, accelerator)
    plain = prefill_work(model, prompt_len, batch=batch, tensor_parallel=tensor_parallel, **formats)
    work = prefill_work(
        model, prompt_len, batch=batch, tensor_parallel=tensor_parallel, cached_tokens=cached_tokens, **formats
    )
    return MeasuredPass(
        work,
        plain,
        profile=profile,
        accelerator=chip,
        model=model,
        phase="prefill",
        seq_len=prompt_len,
        batch=batch,
        new_tokens=whole("prompt_len", prompt_len) - whole("cached_tokens", cached_tokens, low=0),
        tensor_parallel=tensor_parallel,
        fabric=fabric,
        efficiencies=efficiencies,
        formats=formats,
    ).step(eager=eager)


def measured_serving_step(
    profile: Profile,
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: int = 1,
    accelerator: Accelerator | None = None,
    memory_fraction: float = MEMORY_FRACTION,
    fabric: Fabric | None = None,
    **formats: Unpack[ServingFormats],
) -> ServingStep:
    """:func:`core.serving_step.serving_step` with its estimate from the profile; all else is the datasheet's."""
    chip = _datasheet(profile, accelerator)
    stated = serving_step(
        model,
        chip,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        memory_fraction=memory_fraction,
        fabric=fabric,
        **formats,
    )
    measured = measured_decode(
        profile,
        model,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        accelerator=chip,
        fabric=fabric,
        **formats,
    )
    return replace(stated, estimate=measured.time)


def _datasheet(profile: Profile, accelerator: Accelerator | None) -> Accelerator:
    chip = accelerator or profile.accelerator
    if chip is None:
        raise ValueError(
            f"the catalog has no accelerator for {profile.file.device!r}; choose the one whose datasheet stands beside"
        )
    return chip
