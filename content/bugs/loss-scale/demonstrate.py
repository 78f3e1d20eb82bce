"""NumPy's half precision: 65,504 is its largest number, as in FP16 on a GPU."""

import numpy as np


def run(code, gradients):
    """Weights and scale after the given gradients, from zeros."""
    with np.errstate(over="ignore", invalid="ignore"):
        return code.train(np.zeros(2, np.float32), [np.asarray(g, np.float32) for g in gradients], rate=0.1)


def demonstrate(code):
    """Three ordinary gradients with one of 2 in between: 2 x 65,536 is beyond FP16."""
    weights, scale = run(code, [[0.01, 0.02], [2.0, 0.02], [0.01, 0.02]])
    shown = ", ".join(f"{weight:.4f}" for weight in weights)
    return f"gradients 0.01, then 2, then 0.01 at a scale of 65,536\nweights {shown}; scale {scale:,.0f}"
