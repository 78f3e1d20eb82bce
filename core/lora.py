"""LoRA and QLoRA: a frozen base, and small trained matrices beside its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, one_of, positive, whole
from core.dtypes import bytes_per_element
from core.model_spec import Attention, LatentAttention, Layer, Mlp, ModelSpec, Moe
from core.params import count_params, layer_params
from core.zero import RECIPES, AdapterShares, FrozenWeights, StateRecipe, ZeroMemory, zero_memory

ATTENTION_TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj")
MLP_TARGETS = ("gate_proj", "up_proj", "down_proj")
ALL_LINEAR = "all-linear"  # every matrix that is known here

Matrix = tuple[str, int, int, int]  # name, inputs, outputs, how many of it


def adaptable_matrices(model: ModelSpec) -> dict[str, int]:
    """Inputs plus outputs of every matrix of a name, over all layers: an adapter of rank r holds r times as many."""
    found: dict[str, int] = defaultdict(int)
    for layer, layers in model.layer_counts.items():
        for name, inputs, outputs, count in _matrices(layer, model.hidden_size):
            found[name] += layers * count * (inputs + outputs)
    return dict(found)


def lora_params(
    model: ModelSpec, rank: ArrayLike, targets: Iterable[str] = (*ATTENTION_TARGETS, *MLP_TARGETS)
) -> Floats:
    """Trained parameters of LoRA: two matrices, inputs x rank and rank x outputs, beside each target.

    Args:
        model: the base. Every routed expert gets an adapter of its own.
        rank: r. [-]
        targets: names as Hugging Face PEFT knows them, or "all-linear".

    Returns:
        [params], broadcast over ranks.

    Source: Hu et al. 2021, arXiv:2106.09685, section 4.1.
    """
    matrices = adaptable_matrices(model)
    wanted = set(targets)
    if ALL_LINEAR in wanted:
        wanted = set(matrices)
    unknown = sorted(wanted - set(matrices))
    if unknown or not wanted:
        raise ValueError(f"targets={unknown} are no matrices of {model.name}; choose from {sorted(matrices)}")
    return np.asarray(whole("rank", rank) * sum(matrices[name] for name in wanted))


def _matrices(layer: Layer, hidden_size: int) -> Iterator[Matrix]:
    mixer, mlp = layer.mixer, layer.mlp
    if isinstance(mixer, Attention):
        queries, outputs = mixer.num_heads * mixer.head_dim, mixer.num_heads * mixer.v_head_dim
        yield "q_proj", hidden_size, queries * (2 if mixer.output_gate else 1), 1
        if not mixer.shares_kv:
            yield "k_proj", hidden_size, mixer.num_kv_heads * mixer.head_dim, 1
            if not mixer.keys_are_values:
                yield "v_proj", hidden_size, mixer.num_kv_heads * mixer.v_head_dim, 1
        yield "o_proj", outputs, hidden_size, 1
    if isinstance(mixer, LatentAttention):
        queries = mixer.num_heads * (mixer.qk_nope_head_dim + mixer.qk_rope_head_dim)
        if mixer.q_lora_rank is None:
            yield "q_proj", hidden_size, queries, 1
        else:
            yield "q_a_proj", hidden_size, mixer.q_lora_rank, 1
            yield "q_b_proj", mixer.q_lora_rank, queries, 1
        yield "kv_a_proj_with_mqa", hidden_size, mixer.kv_lora_rank + mixer.qk_rope_head_dim, 1
        expanded = mixer.num_heads * (mixer.qk_nope_head_dim + mixer.v_head_dim)
        yield "kv_b_proj", mixer.kv_lora_rank, expanded, 1
        yield "o_proj", mixer.num_heads * mixer.v_head_dim, hidden_size, 1
    if isinstance(mlp, Mlp):
        yield from _mlp_matrices(hidden_size, mlp.intermediate_size, mlp.gated, 1)
    if isinstance(mlp, Moe):
        width = mlp.expert_hidden_size or hidden_size
        yield from _mlp_matrices(width, mlp.expert_intermediate_size, mlp.gated, mlp.num_experts)
        if mlp.shared_intermediate_size:
            yield from _mlp_matrices(hidden_size, mlp.shared_intermediate_size, mlp.gated, 1)
        if mlp.parallel_dense:
            yield from _mlp_matrices(hidden_size, mlp.parallel_dense.intermediate_size, mlp.parallel_dense.gated, 1)


def _mlp_matrices(hidden_size: int, intermediate_size: int, gated: bool, count: int) -> Iterator[Matrix]:
    for name in ("gate_proj", "up_proj") if gated else ("up_proj",):
        yield name, hidden_size, intermediate_size, count
    yield "down_proj", intermediate_size, hidden_size, count


RANK = 16
ADAPTERS = {"lora": "bf16", "qlora": "nf4"}  # recipe -> format of the frozen base


def named_recipe(model: ModelSpec, name: str) -> StateRecipe:
    """A recipe of :data:`core.zero.RECIPES`, or for "lora" and "qlora" the model's own, spread over all parameters.

    Adapters of rank 16 stand beside every attention and MLP matrix and are trained with mixed-precision Adam; the rest
    is frozen. QLoRA stores what lies in layers in 4 bits (their norms too, 0.004 % of an 8B, which really stay in 16);
    embedding, head and final norm stay in 16.
    Source: Hu et al. 2021, arXiv:2106.09685; Dettmers et al. 2023, arXiv:2305.14314.
    """
    if name not in ADAPTERS:
        return RECIPES[one_of("optimizer", name, (*RECIPES, *ADAPTERS))]
    return _adapter_recipe(model, name)


@lru_cache(maxsize=128)
def _adapter_recipe(model: ModelSpec, name: str) -> StateRecipe:
    count = count_params(model)
    trained = float(lora_params(model, RANK, (ALL_LINEAR,))) / count.total
    in_layers = 1 - (count.total - int(layer_params(model).sum())) / count.total
    narrow, wide = bytes_per_element(ADAPTERS[name]), bytes_per_element("bf16")
    stored = in_layers * narrow + (1 - in_layers) * wide
    frozen: tuple[FrozenWeights, ...] = (FrozenWeights("frozen base", "Ψ", 1.0, wide),)
    if narrow != wide:
        frozen = (
            FrozenWeights(f"frozen layers in {ADAPTERS[name]}, scales included", "Q", in_layers, narrow),
            FrozenWeights("frozen embedding and head", "E", 1 - in_layers, wide),
        )
    adam = RECIPES["adam"]
    return StateRecipe(
        label=f"{'QLoRA' if name == 'qlora' else 'LoRA'}, rank {RANK} on every attention and MLP matrix",
        weight_bytes=stored + trained * adam.weight_bytes,
        gradient_bytes=trained * adam.gradient_bytes,
        optimizer_bytes=trained * adam.optimizer_bytes,
        step_bytes=trained * adam.step_bytes,
        source="Hu et al. 2021, arXiv:2106.09685; Dettmers et al. 2023, arXiv:2305.14314",
        host_gradient_bytes=trained * adam.host_gradient_bytes,
        updated_weight_bytes=trained * adam.weight_bytes,
        adapters=AdapterShares(frozen, trained, adam),
    )


@dataclass(frozen=True, slots=True)
class LoraMemory:
    """Model states of one GPU; each field is broadcast. [bytes per GPU]"""

    base_bytes: Floats  # frozen: no gradients, no optimizer states
    adapters: ZeroMemory

    @property
    def weight_bytes(self) -> Floats:
        """Frozen and trained weights."""
        return self.base_bytes + self.adapters.weight_bytes

    @property
    def gradient_bytes(self) -> Floats:
        """Of the adapters alone."""
        return self.adapters.gradient_bytes

    @property
    def optimizer_bytes(self) -> Floats:
        """Of the adapters alone."""
        return self.adapters.optimizer_bytes

    @property
    def total_bytes(self) -> Floats:
        """All together."""
        return self.base_bytes + self.adapters.total_bytes


def lora_memory(
    base_params: ArrayLike,
    adapter_params: ArrayLike,
    data_parallel: ArrayLike = 1,
    *,
    stage: ArrayLike = 0,
    base_dtype: str = "bf16",
    unquantized_params: ArrayLike = 0,
    optimizer: str | StateRecipe = "adam",
) -> LoraMemory:
    """Model states when only adapters are trained.

    Args:
        base_params: parameters of the frozen base. [params]
        adapter_params: trained parameters, from :func:`lora_params`. [params]
        data_parallel: GPUs that share the states. [GPUs]
        stage: ZeRO stage; the frozen base is shared from stage 3 on. [-]
        base_dtype: "bf16" for LoRA, "nf4" for QLoRA (4.127 bits a parameter, double quantization included).
        unquantized_params: of the base, those that stay 16-bit under a narrower format: embedding, output head and
            norms in QLoRA. [params]
        optimizer: recipe of the adapters.

    Activations are hardly smaller than in full training: gradients still flow through the whole base.
    Source: Hu et al. 2021, arXiv:2106.09685; Dettmers et al. 2023, arXiv:2305.14314.
    """
    adapters = zero_memory(adapter_params, data_parallel, stage=stage, optimizer=optimizer)
    base, kept, n, level = np.broadcast_arrays(
        positive("base_params", base_params),
        not_negative("unquantized_params", unquantized_params),
        whole("data_parallel", data_parallel),
        whole("stage", stage, low=0, high=3),
    )
    if np.any(kept > base):
        raise ValueError("unquantized_params is more than base_params; it is a part of them")
    whole_base = (base - kept) * bytes_per_element(base_dtype) + kept * bytes_per_element("bf16")
    return LoraMemory(base_bytes=np.asarray(whole_base / np.where(level >= 3, n, 1)), adapters=adapters)
