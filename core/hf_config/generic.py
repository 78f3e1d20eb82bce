"""Architectures without a reader of their own: refused where their memory is not modelled, else read like Llama."""

from __future__ import annotations

from core.hf_config import deepseek, llama, qwen
from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.hf_config.parts import gqa, hidden_size, moe
from core.model_spec import Layer, ModelSpec

UNMODELLED = {
    "encoder and decoder with cross attention": (
        "t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "whisper", "switch_transformers", "longt5",
        "t5gemma",
    ),
    "cross attention to image tokens": ("mllama", "mllama_text_model"),
    "a recurrent state of its own shape": ("rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm", "recurrent_gemma"),
    "a Mamba-1 state": ("mamba", "falcon_mamba", "jamba", "zamba"),
    "an encoder without a cache": ("bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert", "electra"),
}  # fmt: skip

# Fields that speak of a memory or a layer pattern that this reader would have to guess.
TELLTALES = (
    "hybrid_override_pattern", "hybrid_layer_pattern", "layers_block_type", "attn_layer_period", "attn_type_list",
    "block_configs", "compress_ratios", "linear_attn_config", "linear_num_value_heads", "full_attention_interval",
    "mamba_num_heads", "mamba_n_heads", "mamba_d_state", "ssm_state_size", "ssm_cfg", "state_size",
    "time_mix_extra_dim", "cross_attention_layers", "num_kv_shared_layers", "attention_chunk_size", "lru_width",
    "index_topk", "conv_L_cache", "use_cla", "global_head_dim", "hc_mult",
)  # fmt: skip


def refuse_unmodelled(f: Fields) -> None:
    """Name an attention whose cache is not modelled, before anything is guessed."""
    kind = f.text("model_type")
    for what, types in UNMODELLED.items():
        if kind in types:
            raise ConfigError(
                f"{f.path}model_type={show(kind)} has {what}, whose memory is not modelled here; "
                "bring a decoder-only model, or set up a model of the same size by hand"
            )
    if f.flag("is_encoder_decoder") or f.flag("add_cross_attention"):
        name = "is_encoder_decoder" if f.flag("is_encoder_decoder") else "add_cross_attention"
        raise ConfigError(
            f"{f.path}{name}=true: cross attention keeps a cache of the encoder's output, which is not modelled here; "
            "bring a decoder-only model"
        )


def unknown(f: Fields) -> ModelSpec:
    """A model type without a reader, from the fields that most decoders share."""
    kind = f.text("model_type")
    for name in TELLTALES:
        if f.raw.get(name) not in (None, False, 0):
            raise ConfigError(
                f"{f.path}model_type={show(kind)} is not known, and {name}={show(f.raw[name])} speaks of layers whose "
                "memory would have to be guessed; set model_type to the known model that it is built like"
            )
    f.note(
        f"The architecture {show(kind)} is not known here: it was read as a decoder with RMSNorm, rotary positions and "
        "gated MLPs, so small terms (norms, biases) may differ."
    )
    if f.has("kv_lora_rank"):
        return deepseek.deepseek(f)
    if not f.has("num_experts"):
        return llama.llama(f)
    width = f.integer("moe_intermediate_size" if f.has("moe_intermediate_size") else "intermediate_size")
    experts = Layer(mlp=moe(f, width=width), norm_params=2 * hidden_size(f))
    return qwen.mix(f, gqa(f), experts)
