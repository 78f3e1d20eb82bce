"""Weights of the token mixer of a layer: every kind of attention, linear attention, state space."""

from __future__ import annotations

from core.model_spec import (
    Attention,
    CompressedAttention,
    Indexer,
    LatentAttention,
    LinearAttention,
    LinearMixer,
    Mixer,
    StateSpace,
    Term,
)


def mixer_label(mixer: Mixer) -> str:
    """A short name for people."""
    if isinstance(mixer, Attention):
        return f"{mixer.window_kind} attention" if mixer.window else "full attention"
    if isinstance(mixer, LinearAttention):
        return {"gated_delta": "gated delta rule", "kda": "Kimi delta attention", "lightning": "lightning attention"}[
            mixer.rule
        ]
    if isinstance(mixer, CompressedAttention):
        return f"attention compressed {mixer.ratio}:1" if mixer.ratio else "windowed shared key/value attention"
    if isinstance(mixer, LatentAttention):
        return "latent attention"
    return "Mamba-2" if isinstance(mixer, StateSpace) else "linear mixer"


def attention_terms(mixer: Attention, hidden_size: int) -> list[Term]:
    """Query, key, value and output projections, with the small parts that some families add."""
    queries = mixer.num_heads * mixer.head_dim
    keys = mixer.num_kv_heads * mixer.head_dim
    values = mixer.num_kv_heads * mixer.v_head_dim
    outputs = mixer.num_heads * mixer.v_head_dim
    asked = queries * (2 if mixer.output_gate else 1)  # the gate is a second set of queries in the same projection
    made = 0 if mixer.shares_kv else keys + (0 if mixer.keys_are_values else values)
    terms = [
        ("query projection", hidden_size * asked),
        ("key and value projections", hidden_size * made),
        ("output projection", outputs * hidden_size),
    ]
    if mixer.qkv_bias:
        terms.append(("biases of queries, keys and values", asked + made))
    if mixer.output_bias:
        terms.append(("bias of the output", hidden_size))
    if mixer.qk_norm != "none":
        head = mixer.qk_norm == "head"
        key_norm = 0 if mixer.shares_kv else (mixer.head_dim if head else keys)
        terms.append(("norms of queries and keys", (mixer.head_dim if head else queries) + key_norm))
    if mixer.sinks:
        terms.append(("sinks", mixer.num_heads))
    return terms


def indexer_terms(indexer: Indexer, hidden_size: int, query_width: int) -> list[Term]:
    """DeepSeek sparse attention: queries from the query latent, one key, a weight a head; its key norm has a bias."""
    queries = query_width * indexer.num_heads * indexer.head_dim
    keys = hidden_size * indexer.head_dim + 2 * indexer.head_dim
    return [("indexer", queries + keys + hidden_size * indexer.num_heads)]


def latent_terms(mixer: LatentAttention, hidden_size: int) -> list[Term]:
    """Down to the latents, up to the heads, and back: DeepSeek-V2, arXiv:2405.04434, equations 37 to 47."""
    head = mixer.qk_nope_head_dim + mixer.qk_rope_head_dim
    rank = mixer.q_lora_rank
    queries = mixer.num_heads * head
    latent = mixer.kv_lora_rank + mixer.qk_rope_head_dim
    expanded = mixer.num_heads * (mixer.qk_nope_head_dim + mixer.v_head_dim)
    outputs = mixer.num_heads * mixer.v_head_dim
    terms = [
        ("queries", hidden_size * queries if rank is None else hidden_size * rank + rank + rank * queries),
        ("key/value latent", hidden_size * latent + mixer.kv_lora_rank),  # with its norm
        ("keys and values from the latent", mixer.kv_lora_rank * expanded),
        ("output projection", outputs * hidden_size),
    ]
    if mixer.output_gate:
        terms.append(("output gate", hidden_size * outputs))
    if mixer.qkv_bias:  # on the projections from and to the residual stream
        terms.append(("biases", (rank or 0) + latent + hidden_size))
    if mixer.indexer:
        terms += indexer_terms(mixer.indexer, hidden_size, rank or hidden_size)
    return terms


def compressor_params(hidden_size: int, width: int, ratio: int, *, norm: int) -> int:
    """Weights that pool ``ratio`` tokens into one entry: contents, pooling weights, a bias a position, a norm."""
    return 2 * hidden_size * width + ratio * width + norm


def compressed_terms(mixer: CompressedAttention, hidden_size: int) -> list[Term]:
    """DeepSeek-V4: low-rank queries, one shared key/value vector, grouped low-rank output, and the compressor."""
    queries = mixer.num_heads * mixer.head_dim
    rank = mixer.q_lora_rank
    # Each of o_groups groups of heads has its own matrix to o_lora_rank, so together heads x head_dim x o_lora_rank.
    output = queries * mixer.o_lora_rank + mixer.o_groups * mixer.o_lora_rank * hidden_size
    terms = [
        ("queries", hidden_size * rank + rank + rank * queries),
        ("shared key/value", hidden_size * mixer.head_dim + mixer.head_dim),
        ("output projection", output),
        ("sinks", mixer.num_heads),
    ]
    if mixer.ratio:
        # Where an indexer chooses among entries, neighbouring groups overlap: two sets of contents and weights.
        overlap = 2 if mixer.indexer else 1
        pool = compressor_params(hidden_size, overlap * mixer.head_dim, mixer.ratio, norm=mixer.head_dim)
        terms.append(("compressor", pool))
    if mixer.indexer:
        key = mixer.indexer.head_dim
        chooser = compressor_params(hidden_size, 2 * key, mixer.ratio, norm=key)
        chooser += rank * mixer.indexer.num_heads * key + hidden_size * mixer.indexer.num_heads
        terms.append(("indexer", chooser))
    return terms


def linear_terms(mixer: LinearAttention, hidden_size: int) -> list[Term]:
    """Linear attention: projections, short convolution, decay and gates."""
    keys = mixer.num_key_heads * mixer.key_head_dim
    values = mixer.num_value_heads * mixer.value_head_dim
    terms = [
        ("query, key and value projections", hidden_size * (2 * keys + values)),
        ("output projection", values * hidden_size),
        ("short convolution", (2 * keys + values) * mixer.conv_kernel),
    ]
    if mixer.rule == "gated_delta":  # a step size and a decay a head, a full gate; A_log and dt_bias a head
        small = 2 * hidden_size * mixer.num_value_heads + 2 * mixer.num_value_heads
        return [*terms, ("output gate", hidden_size * values), ("decay and norm", small + mixer.value_head_dim)]
    if mixer.rule == "kda":  # decay for each channel through a rank-head_dim matrix pair, a step size a head
        low_rank = hidden_size * mixer.value_head_dim + mixer.value_head_dim * values
        decay = low_rank + keys + hidden_size * mixer.num_key_heads + mixer.num_key_heads
        gate = hidden_size * values if mixer.full_rank_gate else low_rank
        return [*terms, ("output gate", gate), ("decay and norm", decay + mixer.value_head_dim)]
    return [*terms, ("output gate", hidden_size * values), ("norm", values)]  # lightning: decay is fixed by the head


def state_space_terms(mixer: StateSpace, hidden_size: int) -> list[Term]:
    """Mamba-2: one projection to gate, input, B, C and step size; convolution over the middle three."""
    inner = mixer.num_heads * mixer.head_dim
    convolved = inner + 2 * mixer.num_groups * mixer.state_size
    projected = inner + convolved + mixer.num_heads
    bias = projected + hidden_size if mixer.proj_bias else 0
    return [
        ("input projection", hidden_size * projected),
        ("short convolution", convolved * (mixer.conv_kernel + mixer.conv_bias)),
        ("A, D, step bias and norm", 3 * mixer.num_heads + inner),
        ("output projection", inner * hidden_size + bias),
    ]


def mixer_terms(mixer: Mixer, hidden_size: int) -> list[Term]:
    """What a mixer stores, by name. [params]"""
    match mixer:
        case Attention():
            return attention_terms(mixer, hidden_size)
        case LatentAttention():
            return latent_terms(mixer, hidden_size)
        case CompressedAttention():
            return compressed_terms(mixer, hidden_size)
        case LinearAttention():
            return linear_terms(mixer, hidden_size)
        case StateSpace():
            return state_space_terms(mixer, hidden_size)
        case LinearMixer():
            return [("matrix", hidden_size * hidden_size)]
