"""Nemotron-H and Nemotron 3: Mamba-2, attention, MLP and expert blocks, each a layer of its own."""

from __future__ import annotations

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.hf_config.frame import decoder, each_once, layer_types
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.model_spec import Layer, ModelSpec, Moe, StateSpace

LETTERS = {"M": "mamba", "E": "moe", "*": "attention", "-": "mlp"}
SPELLINGS = {"linear_attention": "mamba", "full_attention": "attention", **{kind: kind for kind in LETTERS.values()}}


def blocks(f: Fields) -> list[str]:
    """Kind of each block, from the letters of ``hybrid_override_pattern`` or from a list."""
    name = next((name for name in ("layers_block_type", "layer_types") if f.has(name)), None)
    if name:
        return [
            SPELLINGS[entry]
            for entry in layer_types(f, tuple(SPELLINGS), name=name, any_length=not f.has("num_hidden_layers")) or ()
        ]
    if not f.has("hybrid_override_pattern"):
        raise f.missing("hybrid_override_pattern", "the kind of each block: M Mamba-2, * attention, - MLP, E experts")
    letters = f.text("hybrid_override_pattern")
    count = num_layers(f) if f.has("num_hidden_layers") else len(letters)  # newer files leave it to the list of blocks
    if len(letters) != count:
        raise ConfigError(
            f"{f.path}hybrid_override_pattern has {len(letters)} letters but num_hidden_layers={count}; "
            "give one letter a layer"
        )
    for index, letter in enumerate(letters):
        if letter not in LETTERS:
            raise ConfigError(
                f"{f.path}hybrid_override_pattern[{index}]={show(letter)} is a kind of block whose memory is not "
                f"modelled; known: {' '.join(LETTERS)}"
            )
    return [LETTERS[letter] for letter in letters]


def mamba2(f: Fields) -> StateSpace:
    """Mamba-2 mixer. Source: Dao and Gu 2024, arXiv:2405.21060, section 7."""
    heads = f.integer("mamba_num_heads", purpose="the heads of a Mamba-2 block, one state each")
    groups = f.integer("n_groups", purpose="the groups of heads that share B and C")
    if heads % groups:
        raise ConfigError(f"{f.path}n_groups={groups} does not divide mamba_num_heads={heads}; choose a divisor")
    return StateSpace(
        num_heads=heads,
        head_dim=f.integer("mamba_head_dim", purpose="the channels of a Mamba-2 head"),
        state_size=f.integer("ssm_state_size", purpose="the state kept for each channel"),
        num_groups=groups,
        conv_kernel=f.integer("conv_kernel", purpose="the tokens that the short convolution keeps"),
        conv_bias=f.flag("use_conv_bias", default=True),
        proj_bias=f.flag("use_bias"),
    )


def experts(f: Fields) -> Moe:
    """Ungated experts, in Nemotron 3 Super within a narrower space, beside one shared expert."""
    shared = "moe_shared_expert_intermediate_size"
    space = "moe_latent_size"
    bias = f.flag("mlp_bias")
    return moe(
        f,
        gated=False,
        shared=f.integer(shared, minimum=0, purpose="the width of the shared expert"),
        shared_bias=bias,
        expert_hidden_size=f.integer(space, purpose="the width in which experts work") if f.has(space) else None,
    )


def nemotron_h(f: Fields) -> ModelSpec:
    """Nemotron-H 8B to 56B and Nemotron 3. Source: NVIDIA 2025, arXiv:2504.03624, table 1."""
    f.with_defaults("Nemotron-H", head_dim=128)
    kinds = blocks(f)
    if not kinds:
        raise f.fail("hybrid_override_pattern", "", "names no block", "give one letter a layer")
    norm = hidden_size(f)

    def layer(kind: str) -> Layer:
        if kind == "mamba":
            return Layer(mixer=mamba2(f), norm_params=norm)
        if kind == "attention":
            return Layer(mixer=gqa(f), norm_params=norm)
        part = experts(f) if kind == "moe" else mlp(f, gated=False, bias=f.flag("mlp_bias"))
        return Layer(mlp=part, norm_params=norm)

    return decoder(f, each_once(kinds, layer))
