"""Llama-Nemotron, pruned by architecture search: each block says what is left of its attention and its MLP."""

from __future__ import annotations

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.hf_config.frame import decoder
from core.hf_config.parts import gqa, hidden_size, mlp, num_layers
from core.model_spec import Attention, Layer, LinearMixer, Mlp, ModelSpec

ROUND_TO = 256  # MLP widths are rounded up to a multiple of it


def attention(block: Fields, f: Fields) -> Attention | LinearMixer | None:
    """Attention of one block: kept with fewer key/value heads, replaced by one matrix, or dropped."""
    if block.flag("no_op"):
        return None
    if block.flag("replace_with_linear"):
        return LinearMixer()
    for name in ("sparsify", "num_sink_tokens"):
        if block.has(name):
            raise ConfigError(
                f"{block.path}{name}={show(block.raw[name])} changes what attention keeps in a way that is not modelled"
            )
    heads = f.integer("num_attention_heads")
    group = block.integer("n_heads_in_group", purpose="the query heads that share a key/value head")
    if heads % group:
        raise ConfigError(
            f"{block.path}n_heads_in_group={group} does not divide num_attention_heads={heads}; choose a divisor"
        )
    window = block.integer("window_length", purpose="the window of this block") if block.has("window_length") else None
    return gqa(f, kv_heads=heads // group, window=window, qkv_bias=f.flag("attention_bias"))


def channel_mlp(block: Fields, f: Fields) -> Mlp | LinearMixer | None:
    """MLP of one block: two thirds of ``ffn_mult`` hidden sizes, rounded up; replaced by one matrix; or dropped."""
    if block.flag("no_op"):
        return None
    if block.flag("replace_with_linear"):
        return LinearMixer()
    if block.has("intermediate_size"):
        return mlp(f, width=block.integer("intermediate_size"))
    name, mult = block.find("ffn_mult")
    if mult is None:
        raise block.missing(name, "the MLP's width as a multiple of the hidden size")
    number = isinstance(mult, int | float) and not isinstance(mult, bool)
    if not number or not 0 < mult <= 1000:  # NaN compares false
        raise block.fail(name, mult, "is not a positive number", "it multiplies the hidden size: give up to 1000")
    width = int(2 * mult * hidden_size(f) / 3)
    return mlp(f, width=-(-width // ROUND_TO) * ROUND_TO)


def nemotron_nas(f: Fields) -> ModelSpec:
    """Llama-3.1-Nemotron-51B, Llama-3.3-Nemotron-Super-49B, Ultra-253B. Source: arXiv:2411.19146, section 2."""
    listed = f.items("block_configs", length=num_layers(f))
    if listed is None:
        raise f.missing("block_configs", "what each block keeps of attention and MLP")
    hidden = hidden_size(f)
    made: dict[str, Layer] = {}
    layers = []
    for index, entry in enumerate(listed):
        key = repr(entry)
        if key not in made:
            block = Fields({"block": entry}, path=f"block_configs[{index}].", notes=f.notes).section("block")
            first, second = (block.section(name) if block else None for name in ("attention", "ffn"))
            if first is None or second is None:
                raise ConfigError(f"{f.path}block_configs[{index}] lacks attention or ffn; each block names both")
            mixer, part = attention(first, f), channel_mlp(second, f)
            norms = hidden * ((mixer is not None) + (part is not None))
            extras = (("linear MLP", hidden * hidden),) if isinstance(part, LinearMixer) else ()
            dense = None if isinstance(part, LinearMixer) else part
            made[key] = Layer(mixer=mixer, mlp=dense, norm_params=norms, extras=extras)
        layers.append(made[key])
    return decoder(f, layers)
