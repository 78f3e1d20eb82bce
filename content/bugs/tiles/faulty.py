import numpy as np


def attention(query, keys, values, tile):
    """softmax(query . keys / sqrt(d)) times the values."""
    top, total = -np.inf, 0.0
    out = np.zeros(values.shape[1])
    for start in range(0, len(keys), tile):
        scores = keys[start : start + tile] @ query / np.sqrt(len(query))
        new_top = max(top, scores.max())
        weights = np.exp(scores - new_top)
        total = total * np.exp(top - new_top) + weights.sum()
        out = out + weights @ values[start : start + tile]
        top = new_top
    return out / total
