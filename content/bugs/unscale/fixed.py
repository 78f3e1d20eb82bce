import numpy as np


def step(weights, scaled, scale, rate):
    """One step on FP32 weights; returns them and the next scale."""
    if not np.isfinite(scaled).all():
        return weights, scale / 2
    gradient = scaled.astype(np.float32) / np.float32(scale)
    weights = weights - rate * gradient.astype(np.float32)
    return weights, scale
