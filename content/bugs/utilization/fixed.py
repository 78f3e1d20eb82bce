PEAK_FLOPS_PER_S = 989e12  # H100 SXM, BF16, dense


def mfu(tokens_per_s, gpus, *, params=8.03e9, layers=32, hidden=4096, seq_len=8192):
    """Share of the cards' peak that the model's own arithmetic takes."""
    weights = 6 * params
    attention = 12 * layers * hidden * seq_len
    needed = (weights + attention) * tokens_per_s
    return needed / (gpus * PEAK_FLOPS_PER_S)
