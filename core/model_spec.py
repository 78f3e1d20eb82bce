"""What a language model is to the formulas: a list of layers, each with a token mixer and an MLP.

Real models of 2024 to 2026 mix kinds, so nothing here is "the" attention of a model. Frozen specs compare equal when
their layers do, which lets formulas count each distinct layer once (:attr:`ModelSpec.layer_counts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

# Upper bounds refuse typing errors (1e30) in words; the largest published values are far below them.
Width = Annotated[int, Field(gt=0, le=10_000_000)]
Heads = Annotated[int, Field(gt=0, le=100_000)]
Experts = Annotated[int, Field(gt=0, le=100_000)]
Count = Annotated[int, Field(gt=0, le=10**9)]
CountOrNone = Annotated[int, Field(ge=0, le=10**9)]  # 0: there are none
Params = Annotated[int, Field(ge=0, le=10**15)]

Term = tuple[str, Params]  # what some parameters are, and how many


class Spec(BaseModel):
    """Frozen, strict about unknown fields, hashable: equal parts of a model are counted once."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_serializer(mode="wrap")
    def _keep_kind(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A part's kind is written even where defaults are left out: it says which part to read back."""
        kind = getattr(self, "kind", None)
        data: dict[str, Any] = dump(self)
        return {"kind": kind, **data} if kind else data


class Indexer(Spec):
    """Picks the ``top_k`` cached tokens that sparse attention reads; keeps one key of ``head_dim`` a cached entry."""

    num_heads: Heads
    head_dim: Width
    top_k: Count


class Attention(Spec):
    """Softmax attention with separate keys and values: MHA, GQA and MQA, full, sliding or chunked."""

    kind: Literal["attention"] = "attention"
    num_heads: Heads
    num_kv_heads: Heads
    head_dim: Width  # of queries and keys
    v_head_dim: Width
    window: Count | None = None  # tokens a layer can see; None: all of them
    window_kind: Literal["sliding", "chunked"] = "sliding"
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: Literal["none", "head", "width"] = "none"  # a norm over head_dim, or over all heads together
    v_norm: bool = False  # without weights where it exists (Gemma 4), so it counts no parameter
    sinks: bool = False  # one learned logit a query head
    output_gate: bool = False  # a second query-sized projection gates the output
    keys_are_values: bool = False  # one projection feeds both; both are still cached
    shares_kv: bool = False  # reads an earlier layer's cache and has no key or value projection


class LatentAttention(Spec):
    """Multi-head latent attention: one compressed vector a token stands for all keys and values.

    Source: DeepSeek-AI 2024, arXiv:2405.04434, section 2.1.
    """

    kind: Literal["mla"] = "mla"
    num_heads: Heads
    q_lora_rank: Width | None  # None: queries come from the hidden state in one projection
    kv_lora_rank: Width
    qk_nope_head_dim: Width
    qk_rope_head_dim: CountOrNone
    v_head_dim: Width
    output_gate: bool = False
    qkv_bias: bool = False
    indexer: Indexer | None = None
    shared_top_k: Count | None = None  # reads the tokens that an earlier layer's indexer picked


class CompressedAttention(Spec):
    """DeepSeek-V4: a short window of exact entries, and every ``ratio`` older tokens pooled into one entry.

    Keys and values are one shared vector of ``head_dim``. ``ratio`` 0 keeps the window only.
    """

    kind: Literal["compressed"] = "compressed"
    num_heads: Heads
    head_dim: Width
    qk_rope_head_dim: Width
    q_lora_rank: Width
    o_groups: Count
    o_lora_rank: Width
    window: Count
    ratio: CountOrNone
    indexer: Indexer | None = None


class LinearAttention(Spec):
    """Attention whose memory is a constant state: gated delta rule, KDA, or decayed (lightning) attention."""

    kind: Literal["linear"] = "linear"
    rule: Literal["gated_delta", "kda", "lightning"]
    num_key_heads: Heads
    num_value_heads: Heads
    key_head_dim: Width
    value_head_dim: Width
    conv_kernel: CountOrNone  # 0: no short convolution
    full_rank_gate: bool = False


class StateSpace(Spec):
    """Mamba-2 mixer: a state of ``state_size`` for each channel, and a short convolution in front.

    Source: Dao and Gu 2024, arXiv:2405.21060.
    """

    kind: Literal["mamba2"] = "mamba2"
    num_heads: Heads
    head_dim: Width
    state_size: Width
    num_groups: Count
    conv_kernel: Count
    conv_bias: bool = True
    proj_bias: bool = False


class LinearMixer(Spec):
    """One hidden-by-hidden matrix in the place of attention (pruned models)."""

    kind: Literal["matrix"] = "matrix"


Mixer = Annotated[
    Attention | LatentAttention | CompressedAttention | LinearAttention | StateSpace | LinearMixer,
    Field(discriminator="kind"),
]


class Mlp(Spec):
    """Dense MLP. Gated ones (SwiGLU, GeGLU) have three matrices, others two."""

    kind: Literal["dense"] = "dense"
    intermediate_size: Width
    gated: bool = True
    bias: bool = False


class Moe(Spec):
    """Routed experts, of which a token uses ``top_k``, and what every token passes beside them."""

    kind: Literal["moe"] = "moe"
    num_experts: Experts
    top_k: Experts
    expert_intermediate_size: Width
    gated: bool = True
    expert_bias: bool = False
    router_bias: bool = False  # a trained bias; a balancing buffer is no parameter
    router_norm_params: Params = 0  # scales inside the router (Gemma 4)
    shared_intermediate_size: CountOrNone = 0  # all shared experts together
    shared_bias: bool = False  # also of the projections into and out of the expert space
    shared_gate: bool = False
    expert_hidden_size: Width | None = None  # experts work in a narrower space, with a projection in and out
    latent_norm: bool = False
    parallel_dense: Mlp | None = None  # a dense MLP beside the experts, in the same layer


MlpKind = Annotated[Mlp | Moe, Field(discriminator="kind")]


class Layer(Spec):
    """One layer. Either part may be absent: hybrid models stack mixers and MLPs as layers of their own."""

    mixer: Mixer | None = None
    mlp: MlpKind | None = None
    norm_params: Params = 0  # weights and biases of the layer's norms
    extras: tuple[Term, ...] = ()  # whatever else the layer stores, by name

    @property
    def extra_params(self) -> int:
        """Everything in :attr:`extras`. [params]"""
        return sum(params for _, params in self.extras)


class ModelSpec(Spec):
    """A language model's shape. Vision towers and multi-token-prediction modules are not part of it."""

    id: str
    name: str = Field(max_length=120, pattern=r"\S")  # it stands on a button and in sentences
    model_type: str
    hidden_size: Width
    vocab_size: Width
    tie_word_embeddings: bool
    max_position_embeddings: Count
    layers: tuple[Layer, ...] = Field(min_length=1, max_length=4096)
    embedding_size: Width | None = None  # where the embedding is narrower than the residual stream
    position_embeddings: CountOrNone = 0  # rows of a learned position table
    position_embedding_size: CountOrNone | None = None
    lookup_tables: tuple[Term, ...] = ()  # further tables of which a token reads a few rows (per-layer embeddings)
    embedding_extras: tuple[Term, ...] = ()  # embedding norms and projections
    final_norm_params: Params = 0
    final_extras: tuple[Term, ...] = ()
    residual_streams: int = Field(1, gt=0, le=1000)  # above 1: hyper-connections mix them around mixers and MLPs
    lm_head_bias: bool = False
    weight_dtype: str = "bf16"
    notes: tuple[str, ...] = ()  # plain sentences: what was read how, and what is left out

    def __hash__(self) -> int:
        """From a few fields: models are keys of many caches, and hashing every layer takes longer than a formula."""
        return hash((self.id, self.hidden_size, self.vocab_size, len(self.layers)))

    @cached_property
    def layer_counts(self) -> dict[Layer, int]:
        """Each distinct layer and how often it occurs, in order of first appearance."""
        return dict(Counter(self.layers))

    @property
    def embedding_extra_params(self) -> int:
        """Everything in :attr:`embedding_extras` and :attr:`lookup_tables`. [params]"""
        return sum(params for _, params in (*self.embedding_extras, *self.lookup_tables))

    @property
    def final_extra_params(self) -> int:
        """Everything in :attr:`final_extras`. [params]"""
        return sum(params for _, params in self.final_extras)

    @property
    def num_layers(self) -> int:
        """Entries of the layer list, as ``num_hidden_layers`` counts them. [layers]"""
        return len(self.layers)

    @cached_property
    def mixers(self) -> tuple[Any, ...]:
        """The distinct token mixers, in order of first appearance."""
        return tuple(dict.fromkeys(layer.mixer for layer in self.layers if layer.mixer is not None))

    @cached_property
    def num_attention_heads(self) -> int:
        """Query heads of the widest attention layer; 0 for a model without attention. [heads]"""
        return max((getattr(mixer, "num_heads", 0) for mixer in self.mixers if mixer.kind != "mamba2"), default=0)

    @cached_property
    def num_experts(self) -> int:
        """Routed experts of the largest MoE layer; 0 for a dense model. [experts]"""
        return max((layer.mlp.num_experts for layer in self.layer_counts if isinstance(layer.mlp, Moe)), default=0)


def from_hf_config(config: dict[str, Any]) -> ModelSpec:
    """The model that a Hugging Face ``config.json`` describes; see :mod:`core.hf_config`.

    Raises:
        ConfigError: a ValueError that names the field, its value, the rule and a way out.
    """
    from core.hf_config import from_hf_config as read  # here, since the readers build on this module

    return read(config)


def load_models() -> Mapping[str, ModelSpec]:
    """The catalog's models by hub repository id, each read when it is first asked for; former ids resolve too."""
    from core.model_catalog import load_models as load

    return load()
