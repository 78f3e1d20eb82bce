"""Architectures without a reader of their own: refused where their memory is not modelled, else read like Llama."""

from __future__ import annotations

from core.hf_config import deepseek, qwen
from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.hf_config.frame import by_window, decoder, uniform, windows
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.model_spec import Layer, MlpKind, ModelSpec, Moe

UNMODELLED = {
    "encoder and decoder with cross attention": (
        *("t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "whisper", "switch_transformers", "longt5"),
        *("t5gemma", "t5gemma2", "m2m_100", "nllb-moe", "blenderbot", "fsmt", "prophetnet"),
    ),
    "cross attention to image tokens": ("mllama", "mllama_text_model", "idefics"),
    "a recurrent state of its own shape": ("rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm", "recurrent_gemma"),
    "a Mamba-1 state": ("mamba", "falcon_mamba", "jamba", "zamba"),
    "an encoder without a cache": ("bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert", "electra"),
}

UNGATED = ("relu", "relu2", "gelu", "gelu_new", "gelu_fast", "xielu")

# Parts of field names that speak of a memory or a layer pattern which this reader would have to guess.
TELLTALES = (
    *("mamba", "ssm", "rwkv", "lru_", "recurrent", "state_size", "conv_", "_conv", "delta", "linear_attn"),
    *("linear_num", "linear_key", "linear_head", "hybrid", "index_", "indexer", "compress", "cross_attention"),
    *("swa_", "local_layer", "sliding_attention_heads", "kv_shared", "kv_source", "use_cla", "block_configs"),
    *("layer_group", "hc_", "attn_layer", "attn_type", "full_attn", "full_attention_interval", "attention_chunk"),
    *("global_head_dim", "zero_expert", "per_layer", "attn_res", "type_vocab_size"),
)


def refuse_unmodelled(f: Fields) -> None:
    """Name an attention whose cache is not modelled, before anything is guessed."""
    kind = f.text("model_type")
    for what, types in UNMODELLED.items():
        if kind in types:
            raise ConfigError(
                f"{f.path}model_type={show(kind)} has {what}, whose memory is not modelled here; "
                "bring a decoder-only model, or set up a model of the same size by hand"
            )
    for name in ("is_encoder_decoder", "add_cross_attention"):
        if f.flag(name):
            raise ConfigError(
                f"{f.path}{name}=true: cross attention keeps a cache of the encoder's output, which is not modelled "
                "here; bring a decoder-only model"
            )


def refuse_guesses(f: Fields, kind: str) -> None:
    """Name the first field that speaks of layers whose memory is not plain attention."""
    for name, value in f.raw.items():
        if value in (None, False, 0, "", [], {}) or not isinstance(name, str):
            continue
        if any(part in name for part in TELLTALES):
            raise ConfigError(
                f"{f.path}model_type={show(kind)} is not known, and {name}={show(value)} speaks of layers whose memory "
                "would have to be guessed; set model_type to the known model that it is built like"
            )


def _gated(f: Fields) -> bool:
    """SiLU and the tanh form of GELU stand in gated MLPs, squared ReLU and the older GELUs mostly not."""
    name = next((name for name in ("hidden_act", "hidden_activation", "activation_function") if f.has(name)), None)
    gated = name is None or f.text(name) not in UNGATED
    if not gated:
        f.note(f"{name}={show(f.raw.get(name or ''))} was read as an MLP without a gate: two matrices.")
    return gated


def _mlp(f: Fields) -> MlpKind:
    """Experts where the fields speak of them, beside shared ones, or a dense MLP."""
    if not f.has("num_experts"):
        return mlp(f, bias=f.flag("mlp_bias"), gated=_gated(f))
    own = "moe_intermediate_size"
    width = f.integer(own if f.has(own) else "intermediate_size")
    shared = f.integer("n_shared_experts", default=0, minimum=0) * width
    whole = "shared_expert_intermediate_size"
    if f.has(whole):
        shared = f.integer(whole, minimum=0, purpose="the width of the shared expert")
    return moe(f, width=width, shared=shared)


def unknown(f: Fields) -> ModelSpec:
    """A model type without a reader, from the fields that most decoders share.

    Raises:
        ConfigError: one of them is missing, or another field speaks of layers that would have to be guessed.
    """
    kind = f.text("model_type")
    refuse_guesses(f, kind)
    f.note(
        f"The architecture {show(kind)} is not known here: it was read as a decoder with RMSNorm, rotary positions and "
        "no special parts, so small terms (norms, biases) may differ."
    )
    if f.has("sliding_window") and not f.has("layer_types"):
        window = show(f.find("sliding_window")[1])
        f.note(f"sliding_window={window} is given without layer_types: all layers were read as seeing everything.")
    if f.has("kv_lora_rank") and f.has("num_experts"):
        return deepseek.deepseek(f)
    if f.has("kv_lora_rank"):
        latent = Layer(mixer=deepseek.latent_attention(f), mlp=_mlp(f), norm_params=2 * hidden_size(f))
        return decoder(f, uniform(f, latent))
    bias = f.flag("attention_bias")
    attention = gqa(f, qkv_bias=bias, output_bias=bias)
    part = _mlp(f)
    norms = 2 * hidden_size(f)
    if not isinstance(part, Moe):
        return decoder(f, by_window(f, attention, windows(f), mlp=part, norm_params=norms))
    leading = f.integer("first_k_dense_replace", default=0, minimum=0, purpose="the number of leading dense layers")
    if leading:
        sparse, dense = (Layer(mixer=attention, mlp=either, norm_params=norms) for either in (part, mlp(f)))
        return decoder(f, [dense if index < leading else sparse for index in range(num_layers(f))])
    return qwen.mix(f, attention, part)
