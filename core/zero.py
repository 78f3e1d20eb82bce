"""ZeRO: what each GPU holds of weights, gradients and optimizer states when data-parallel GPUs share them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, numbers, one_of, positive, whole

STAGES = (0, 1, 2, 3)  # nothing sharded; optimizer states; and gradients; and weights

Offload = Literal["none", "optimizer", "optimizer+parameters"]
LIVE_UNITS = 2  # whole units at once at stage 3: the one at work and one prefetched
BUCKET_PARAMS = 5e8  # gradients that stage 2 collects before it reduces them: DeepSpeed's ``reduce_bucket_size``
OFFLOADS: tuple[Offload, ...] = ("none", "optimizer", "optimizer+parameters")


@dataclass(frozen=True, slots=True)
class FrozenWeights:
    """Weights of a frozen base that are stored in one format."""

    label: str
    symbol: str  # in derivations
    share: float  # of the model's parameters
    bytes_per_weight: float


@dataclass(frozen=True, slots=True)
class AdapterShares:
    """Adapters beside a frozen base: how many there are for each of the model's parameters, and how they are kept."""

    frozen: tuple[FrozenWeights, ...]
    trained_share: float
    trained: StateRecipe


@dataclass(frozen=True, slots=True)
class StateRecipe:
    """Bytes a parameter occupies in each state, before sharding."""

    label: str
    weight_bytes: float  # the copy that the forward pass reads
    gradient_bytes: float  # what is kept until the step
    optimizer_bytes: float  # master weights where there are any, and moments
    step_bytes: float  # held only during the step: an fp32 copy of 16-bit gradients, for a fp32 master
    source: str
    host_gradient_bytes: float = 4.0  # a CPU optimizer steps on fp32 gradients
    updated_weight_bytes: float | None = None  # of the weights, what a step changes; None: all, frozen bases: the rest
    adapters: AdapterShares | None = None  # what the bytes above are spread from, where only adapters are trained

    @property
    def total_bytes(self) -> float:
        """All lasting states of one parameter. [bytes]"""
        return self.weight_bytes + self.gradient_bytes + self.optimizer_bytes

    @property
    def trained_share(self) -> float:
        """Trained parameters for each parameter of the model: 1, or what adapters amount to. [-]"""
        return self.adapters.trained_share if self.adapters else 1.0


_MEGATRON = "Megatron-LM, docs/source/api-guide/dist_optimizer.md: table of theoretical bytes a parameter"
# Two 8-bit moments; each block of 256 keeps one fp32 absmax. The paper (arXiv:2110.02861) and early releases
# used blocks of 2,048; since 0.44 the library uses 256. Tensors below 4,096 elements stay 32-bit, left out here.
_TWO_8BIT_MOMENTS = 2 * (1 + 4 / 256)
_BITSANDBYTES = "Dettmers et al. 2021, arXiv:2110.02861; block size 256 as in bitsandbytes >= 0.44, optim/optimizer.py"

RECIPES: dict[str, StateRecipe] = {
    # 12 = fp32 master weight 4, momentum 4, variance 4
    "adam": StateRecipe(
        "Adam, 16-bit gradients", 2, 2, 12, 4, "Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1"
    ),
    # The fp32 gradient is the only one: the backward pass accumulates into it, and it is sharded with the gradients.
    "adam-fp32-grads": StateRecipe("Adam, fp32 gradients", 2, 4, 12, 0, f"{_MEGATRON}: 18, sharded 6 + 12/d"),
    # A 16-bit gradient and a lasting fp32 copy, which belongs to the optimizer and is sharded with it.
    "adam-fp32-grad-copy": StateRecipe(
        "Adam, 16-bit gradients and their fp32 copy",
        2,
        2,
        16,
        0,
        f"{_MEGATRON}: 20, sharded 4 + 16/d",
        host_gradient_bytes=0.0,  # the copy is already among the optimizer's bytes
    ),
    "adam-8bit": StateRecipe(
        "8-bit Adam, fp32 master weights", 2, 2, 4 + _TWO_8BIT_MOMENTS, 4, f"{_BITSANDBYTES}; fp32 master kept"
    ),
    "adam-8bit-bf16": StateRecipe(
        "8-bit Adam on bf16 weights, no master", 2, 2, _TWO_8BIT_MOMENTS, 0, _BITSANDBYTES, host_gradient_bytes=2.0
    ),
    "adam-bf16": StateRecipe(
        "Adam, all bf16, no master",
        2,
        2,
        4,
        0,
        "identity: bf16 weight, gradient and two moments of 2 bytes each",
        host_gradient_bytes=2.0,
    ),
    "adam-fp32": StateRecipe("Adam, all fp32", 4, 4, 8, 0, f"{_MEGATRON}: 16, sharded 8 + 8/d"),
    "sgd-momentum": StateRecipe(
        "SGD with momentum, mixed precision", 2, 2, 8, 4, "identity: fp32 master 4 and fp32 momentum 4"
    ),
}


@dataclass(frozen=True, slots=True)
class ZeroMemory:
    """Model states of one GPU; each field has the broadcast shape of the inputs."""

    weight_bytes: Floats
    gradient_bytes: Floats
    optimizer_bytes: Floats

    @property
    def total_bytes(self) -> Floats:
        """All three together. [bytes per GPU]"""
        return self.weight_bytes + self.gradient_bytes + self.optimizer_bytes

    def __add__(self, other: ZeroMemory) -> ZeroMemory:
        """States of two groups of parameters, such as dense ones and experts with their own data parallelism."""
        return ZeroMemory(
            self.weight_bytes + other.weight_bytes,
            self.gradient_bytes + other.gradient_bytes,
            self.optimizer_bytes + other.optimizer_bytes,
        )


def recipe_of(optimizer: str | StateRecipe) -> StateRecipe:
    """The recipe itself, or the named one of :data:`RECIPES`."""
    return optimizer if isinstance(optimizer, StateRecipe) else RECIPES[one_of("optimizer", optimizer, RECIPES)]


def zero_memory(
    num_params: ArrayLike,
    data_parallel: ArrayLike,
    *,
    stage: ArrayLike,
    optimizer: str | StateRecipe = "adam",
    offload: Offload = "none",
) -> ZeroMemory:
    r"""Model-state memory per GPU; by default mixed-precision Adam, 2 + 2 + 12 bytes a parameter before sharding.

    Args:
        num_params: parameters of one model replica, or of one tensor- and pipeline-parallel share of it,
            :math:`\Psi`. [params]
        data_parallel: GPUs that share the states, :math:`N_d`. [GPUs]
        stage: ZeRO stage, 0 to 3. [-]
        optimizer: a name of :data:`RECIPES`, or a recipe.
        offload: what lies in host memory instead. "optimizer": the optimizer states, and from stage 2 on the
            gradient shard, which leaves as soon as it is reduced. "optimizer+parameters": at stage 3 the weight
            shard too; below stage 3 the weights stay, as DeepSpeed offloads parameters at stage 3 only.

    Returns:
        [bytes per GPU]. (P, 1) parameters against (D,) GPUs gives (P, D).

    Assumes even shards; leaves out activations, buffers and fragmentation, and what :func:`zero_peak` adds.
    Source: Rajbhandari et al. 2020, arXiv:1910.02054, figure 1. Offload: Ren et al. 2021, arXiv:2101.06840,
    section 3, and DeepSpeed's page "Memory Requirements".
    """
    recipe = recipe_of(optimizer)
    one_of("offload", offload, OFFLOADS)
    psi, shards, level = np.broadcast_arrays(
        positive("num_params", num_params), whole("data_parallel", data_parallel), whole("stage", stage, low=0, high=3)
    )
    on_gpu = 0.0 if offload != "none" else 1.0
    weights_on_gpu = np.where(level >= 3, 0.0, 1.0) if offload == "optimizer+parameters" else 1.0
    return ZeroMemory(
        weight_bytes=recipe.weight_bytes * psi / np.where(level >= 3, shards, 1) * weights_on_gpu,
        gradient_bytes=recipe.gradient_bytes * psi * np.where(level >= 2, on_gpu / shards, 1.0),
        optimizer_bytes=recipe.optimizer_bytes * psi / np.where(level >= 1, shards, 1) * on_gpu,
    )


def largest_model(
    hbm_bytes: ArrayLike,
    data_parallel: ArrayLike,
    *,
    stage: ArrayLike,
    optimizer: str | StateRecipe = "adam",
    offload: Offload = "none",
    model_parallel: ArrayLike = 1,
) -> Floats:
    """The most parameters whose states fit into so many bytes of each GPU; infinite if none of them stays there.

    Args:
        hbm_bytes: room for model states on one GPU; take off activations first for a model that also runs.
            Where activations leave less than nothing, nothing fits: 0. [bytes]
        data_parallel: GPUs that share the states. [GPUs]
        stage: ZeRO stage, 0 to 3. [-]
        optimizer: a name of :data:`RECIPES`, or a recipe.
        offload: as in :func:`zero_memory`.
        model_parallel: GPUs that split each replica (tensor times pipeline parallelism). [GPUs]

    Returns:
        [params], not rounded, broadcast.

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, table 2 (32 GB, 64 GPUs).
    """
    room, parts = np.maximum(numbers("hbm_bytes", hbm_bytes), 0.0), whole("model_parallel", model_parallel)
    # Memory is proportional to the parameters, so one parameter's bytes are enough.
    per_param = zero_memory(1.0, data_parallel, stage=stage, optimizer=optimizer, offload=offload).total_bytes
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(per_param > 0, room * parts / per_param, np.inf)


@dataclass(frozen=True, slots=True)
class ZeroPeak:
    """Lasting states, and what a step adds to them for a moment; each field is broadcast. [bytes per GPU]"""

    steady: ZeroMemory
    gathered_weight_bytes: Floats  # stage 3: whole weights of the unit at work and of the prefetched ones
    gradient_bucket_bytes: Floats  # stages 2 and 3: whole gradients on their way to the reduce-scatter
    step_bytes: Floats  # fp32 copy of the 16-bit gradients, for the optimizer

    @property
    def backward_bytes(self) -> Floats:
        """Model states at the worst moment of the backward pass."""
        return self.steady.total_bytes + self.gathered_weight_bytes + self.gradient_bucket_bytes

    @property
    def optimizer_step_bytes(self) -> Floats:
        """Model states during the optimizer step, when nothing is gathered."""
        return self.steady.total_bytes + self.step_bytes

    @property
    def total_bytes(self) -> Floats:
        """The higher of the two moments; activations peak with the backward pass, so add them to that one."""
        return np.maximum(self.backward_bytes, self.optimizer_step_bytes)


def zero_peak(
    num_params: ArrayLike,
    data_parallel: ArrayLike,
    *,
    stage: ArrayLike,
    unit_params: ArrayLike,
    optimizer: str | StateRecipe = "adam",
    offload: Offload = "none",
    live_units: ArrayLike = LIVE_UNITS,
    bucket_params: ArrayLike = BUCKET_PARAMS,
) -> ZeroPeak:
    """Peak of the model states: steady memory and the transients of one step.

    Args:
        num_params: as in :func:`zero_memory`. [params]
        data_parallel: as in :func:`zero_memory`. [GPUs]
        stage: ZeRO stage, 0 to 3. [-]
        unit_params: what stage 3 gathers at a time, usually the largest layer or the embedding. [params]
        optimizer: a name of :data:`RECIPES`, or a recipe.
        offload: as in :func:`zero_memory`; the host then takes the step.
        live_units: whole units at once at stage 3. [-]
        bucket_params: gradients that stage 2 collects before it reduces them, of trained parameters only. One bucket:
            overlap may keep a second. [params]

    Stages 0 and 1 add nothing in the backward pass, since gradients lie in the buffer that is reduced (Megatron's
    gradient buffer, DDP with ``gradient_as_bucket_view``). An unfused optimizer adds one more copy of its shard,
    which is left out.
    Source: DeepSpeed's page "Memory Requirements" (stage 3: weights and gradients of the largest layer, whole);
    Megatron-LM issue 6314 (stage 2 peaks above stage 1 by the unsharded gradient bucket).
    """
    recipe = recipe_of(optimizer)
    steady = zero_memory(num_params, data_parallel, stage=stage, optimizer=optimizer, offload=offload)
    psi, shards, level, unit, live, bucket = np.broadcast_arrays(
        positive("num_params", num_params),
        whole("data_parallel", data_parallel),
        whole("stage", stage, low=0, high=3),
        positive("unit_params", unit_params),
        positive("live_units", live_units),
        positive("bucket_params", bucket_params),
    )
    shared = shards > 1  # alone, a GPU's shard is already whole
    gathered = np.where((level >= 3) & shared, np.minimum(live * unit, psi), 0.0)
    bucket = bucket / recipe.trained_share  # gradient_bytes are spread over frozen parameters too
    whole_gradients = np.select([level >= 3, level >= 2], [np.minimum(unit, psi), np.minimum(bucket, psi)], 0.0)
    on_gpu = 1.0 if offload == "none" else 0.0
    return ZeroPeak(
        steady=steady,
        gathered_weight_bytes=recipe.weight_bytes * gathered,
        gradient_bucket_bytes=recipe.gradient_bytes * np.where(shared, whole_gradients, 0.0),
        step_bytes=recipe.step_bytes * psi / np.where(level >= 1, shards, 1) * on_gpu,
    )
