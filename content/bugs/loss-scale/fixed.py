import numpy as np

GROWTH_INTERVAL = 2000


def train(weights, gradients, rate, scale=2.0**16):
    """Descend along FP16 gradients with a dynamic loss scale."""
    clean = 0
    for gradient in gradients:
        scaled = (gradient * scale).astype(np.float16)
        unscaled = scaled.astype(np.float32) / scale
        if not np.isfinite(unscaled).all():
            scale, clean = scale / 2, 0
            continue
        weights = weights - rate * unscaled
        clean += 1
        if clean == GROWTH_INTERVAL:
            scale, clean = scale * 2, 0
    return weights, scale
