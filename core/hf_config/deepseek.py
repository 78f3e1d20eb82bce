"""DeepSeek V2 to V3.2 and those built like them (Kimi K2, GLM-5): latent attention, shared and routed experts."""

from __future__ import annotations

from typing import Any

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, layer_types
from core.hf_config.parts import hidden_size, mlp, moe, num_layers
from core.model_spec import Attention, Indexer, LatentAttention, Layer, ModelSpec, Moe


def latent_attention(f: Fields, *, indexer: Indexer | None = None, output_gate: bool = False) -> LatentAttention:
    """Latent attention; ``q_lora_rank`` null means that queries skip the latent."""
    f.require("q_lora_rank", "the width of the query latent, or null where queries skip it")
    return LatentAttention(
        num_heads=f.integer("num_attention_heads"),
        q_lora_rank=f.integer("q_lora_rank", purpose="the width of the query latent") if f.has("q_lora_rank") else None,
        kv_lora_rank=f.integer("kv_lora_rank", purpose="the width of the key/value latent that is cached"),
        qk_nope_head_dim=f.integer("qk_nope_head_dim", purpose="a query head's width without position"),
        qk_rope_head_dim=f.integer("qk_rope_head_dim", minimum=0, purpose="a query head's width with rotary position"),
        v_head_dim=f.integer("v_head_dim", purpose="the width of a value head"),
        qkv_bias=f.flag("attention_bias"),
        output_gate=output_gate,
        indexer=indexer,
    )


def read_indexer(f: Fields) -> Indexer:
    """The lightning indexer of DeepSeek sparse attention. Source: DeepSeek-AI 2025, DeepSeek-V3.2 report, section 2."""
    return Indexer(
        num_heads=f.integer("index_n_heads", purpose="the number of indexer heads"),
        head_dim=f.integer("index_head_dim", purpose="the width of an indexer key, cached beside the latent"),
        top_k=f.integer("index_topk", purpose="how many cached tokens a query reads"),
    )


def expert_layers(f: Fields) -> list[bool]:
    """Which layers have experts: from ``first_k_dense_replace`` on, every ``moe_layer_freq``-th, or as listed."""
    count = num_layers(f)
    listed = f.items("mlp_layer_types", length=count)
    if listed is not None:
        f.each("mlp_layer_types", listed, ("dense", "sparse", "moe"), "is neither dense nor sparse")
        return [entry != "dense" for entry in listed]
    f.require("first_k_dense_replace", "the number of leading layers without experts")
    first = f.integer("first_k_dense_replace", default=0, minimum=0, purpose="the number of leading dense layers")
    if first > count:
        raise ConfigError(
            f"{f.path}first_k_dense_replace={first} exceeds num_hidden_layers={count}; "
            "dense layers are part of the layers: lower the first or raise the second"
        )
    every = f.integer("moe_layer_freq", default=1, purpose="every how many layers one has experts")
    return [index >= first and index % every == 0 for index in range(count)]


def deepseek_experts(f: Fields, **traits: Any) -> Moe:
    """Routed experts beside ``n_shared_experts`` of the same width."""
    f.require("n_shared_experts", "the number of shared experts, or null for none")
    width = f.integer("moe_intermediate_size")
    return moe(f, width=width, shared=width * f.integer("n_shared_experts", default=0, minimum=0), **traits)


def over_deepseek_mlps(f: Fields, attention: Attention | LatentAttention) -> ModelSpec:
    """One attention over dense MLPs first, then over experts."""

    def layer(sparse: bool) -> Layer:
        part = deepseek_experts(f) if sparse else mlp(f)
        return Layer(mixer=attention, mlp=part, norm_params=2 * hidden_size(f))

    return decoder(f, each_once(expert_layers(f), layer))


def deepseek(f: Fields) -> ModelSpec:
    """DeepSeek-V2, V3, R1 and Kimi K2. Sources: arXiv:2405.04434, section 2; arXiv:2412.19437, section 4.2."""
    layer_types(f, ("full_attention",))
    return over_deepseek_mlps(f, latent_attention(f))


def shares_index(f: Fields) -> list[bool]:
    """Layers that read the tokens which an earlier layer's indexer picked (GLM-5.1): listed, as letters, or by step."""
    count = num_layers(f)
    listed = f.items("indexer_types", length=count)
    letters = f.find("index_topk_pattern")[1]
    if listed is None and letters is not None:
        listed = [{"F": "full", "S": "shared"}.get(letter, letter) for letter in f.text("index_topk_pattern")]
        if len(listed) != count:
            raise f.fail("index_topk_pattern", letters, f"has {len(listed)} letters", f"give {count}, one a layer")
    if listed is not None:
        f.each("indexer_types", listed, ("full", "shared"), "is neither full nor shared")
        return [entry == "shared" for entry in listed]
    every = f.integer("index_topk_freq", default=1, purpose="every how many layers one has an indexer of its own")
    start = f.integer("index_skip_topk_offset", default=2, minimum=0, purpose="the layers before the first that shares")
    return [max(index - start + 1, 0) % every != 0 for index in range(count)]


def deepseek_sparse(f: Fields) -> ModelSpec:
    """DeepSeek-V3.2 and GLM-5: an indexer picks the cached tokens that are read."""
    layer_types(f, ("full_attention", "indexed_attention"))
    indexer = read_indexer(f)
    own = latent_attention(f, indexer=indexer)
    borrowed = own.model_copy(update={"indexer": None, "shared_top_k": indexer.top_k})

    def layer(kind: tuple[bool, bool]) -> Layer:
        shares, sparse = kind
        part = deepseek_experts(f) if sparse else mlp(f)
        return Layer(mixer=borrowed if shares else own, mlp=part, norm_params=2 * hidden_size(f))

    return decoder(f, each_once(zip(shares_index(f), expert_layers(f), strict=True), layer))
