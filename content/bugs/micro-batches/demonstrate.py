"""Descent on the mean of (weight - token)^2 / 2, whose gradient is the weight less the mean token."""

import numpy as np

RATE = 1.0


def gradient(weights, tokens):
    return weights - np.mean(tokens)


def stepped(code, batches, every):
    """The weight after all micro-batches, from 0. At a rate of 1 a step goes to the mean token of its group."""
    return float(code.train(np.zeros(1), batches, gradient, every, RATE)[0])


def demonstrate(code):
    """One group of two unequal micro-batches; then five equal ones in groups of four."""
    unequal = [np.full(900, 1.0), np.full(100, 0.0)]
    odd = [np.full(10, value) for value in (0.0, 0.0, 0.0, 0.0, 8.0)]
    return (
        f"900 tokens of 1 and 100 of 0: mean {np.concatenate(unequal).mean():.1f}, "
        f"the step goes to {stepped(code, unequal, 2):.1f}\n"
        f"5 micro-batches in groups of 4, the fifth has tokens of 8: the weight ends at {stepped(code, odd, 4):.1f}"
    )
