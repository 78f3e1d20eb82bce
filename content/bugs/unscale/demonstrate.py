"""One step with gradients from large to tiny, at a loss scale of 1,024."""

import numpy as np

GRADIENTS = (1e-2, 1e-5, 2e-8)
SCALE = 1024.0


def moved(code):
    """How far each weight moved at a rate of 1: its gradient, if nothing was lost."""
    scaled = (np.array(GRADIENTS) * SCALE).astype(np.float16)
    weights, _ = code.step(np.zeros(len(GRADIENTS), np.float32), scaled, SCALE, 1.0)
    return np.abs(weights)


def demonstrate(code):
    """What arrives at the weights."""
    rows = zip(GRADIENTS, moved(code), strict=True)
    return "\n".join(f"gradient {gradient:.0e}: the weight moves by {step:.2e}" for gradient, step in rows)
