"""The config of a Llama 3 70B."""

CONFIG = {"num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64, "num_key_value_heads": 8}
TOKENS = 4096


def demonstrate(code):
    """Bytes of a token, and of a request of 4,096."""
    token = code.kv_bytes_per_token(CONFIG)
    return f"{token:,} bytes per token, {token * TOKENS / 1e9:.2f} GB for a request of 4,096"
