def most_tokens_per_s(weights_gb, kv_gb, batch, capacity_gb, bandwidth_gb_per_s):
    """Bound on the tokens per second of all requests together."""
    if weights_gb + batch * kv_gb > capacity_gb:
        return 0.0
    read_gb = weights_gb + batch * kv_gb
    step_s = read_gb / bandwidth_gb_per_s
    return batch / step_s
