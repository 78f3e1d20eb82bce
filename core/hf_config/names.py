"""The names under which configs give one quantity (``n_embd``, ``d_model``, ``hidden_size``), in the order tried.

Beside them what the number is for, and the largest value that is taken as real.
"""

from __future__ import annotations

from typing import NamedTuple

WIDTH, HEADS, COUNT = 10_000_000, 100_000, 100_000  # far above any published model; refuse typing errors such as 1e30


class Quantity(NamedTuple):
    """What a number is for, the largest value taken as real, and its other names."""

    purpose: str
    maximum: int
    aliases: tuple[str, ...] = ()


NAMES: dict[str, Quantity] = {
    "hidden_size": Quantity("the width of the residual stream", WIDTH, ("n_embd", "n_embed", "d_model", "model_dim")),
    "num_hidden_layers": Quantity("the number of layers", 4096, ("n_layer", "n_layers", "num_layers")),
    "num_attention_heads": Quantity("the number of query heads", HEADS, ("n_head", "n_heads", "num_heads")),
    "num_key_value_heads": Quantity(
        "the number of key/value heads, which sets the KV cache", HEADS, ("num_kv_heads", "n_head_kv", "kv_n_heads")
    ),
    "head_dim": Quantity("the width of one attention head", WIDTH, ("attention_head_dim", "kv_channels")),
    "intermediate_size": Quantity(
        "the width of the MLP", WIDTH, ("ffn_hidden_size", "n_inner", "ffn_dim", "ffn_dim_size")
    ),
    "vocab_size": Quantity("the rows of the embedding and of the output head", WIDTH, ("padded_vocab_size",)),
    "max_position_embeddings": Quantity(
        "the longest sequence",
        10**9,
        ("n_positions", "max_sequence_length", "max_seq_len", "seq_length", "n_ctx", "model_max_length"),
    ),
    "num_experts": Quantity(
        "the number of routed experts of a layer",
        COUNT,
        ("num_local_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts"),
    ),
    "num_experts_per_tok": Quantity(
        "how many routed experts a token uses",
        COUNT,
        ("num_experts_per_token", "experts_per_token", "top_k_experts", "moe_topk", "moe_top_k", "moe_k"),
    ),
    "n_shared_experts": Quantity(
        "the number of shared experts", 1000, ("num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
    ),
    "moe_intermediate_size": Quantity("the width of one routed expert", WIDTH, ("expert_ffn_hidden_size",)),
    "sliding_window": Quantity("the tokens that a sliding layer can see", 10**9, ("sliding_window_size",)),
}
