def kv_bytes_per_token(config, element_bytes=2):
    """Bytes of keys and values that one token leaves in the cache."""
    head_dim = config["hidden_size"] // config["num_attention_heads"]
    heads = config["num_attention_heads"]
    per_layer = 2 * heads * head_dim * element_bytes
    return config["num_hidden_layers"] * per_layer
