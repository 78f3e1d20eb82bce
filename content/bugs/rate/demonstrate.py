"""A 70B in 16 bits on four H100, requests of 4,096 tokens."""

WEIGHTS_GB, KV_GB, CAPACITY_GB, BANDWIDTH_GB_PER_S = 140, 1.342, 320, 4 * 3350


def rate(code, batch):
    return code.most_tokens_per_s(WEIGHTS_GB, KV_GB, batch, CAPACITY_GB, BANDWIDTH_GB_PER_S)


def demonstrate(code):
    """The bound at batches of 1, 32 and 128."""
    return "\n".join(f"batch {batch}: at most {rate(code, batch):,.0f} tokens/s" for batch in (1, 32, 128))
