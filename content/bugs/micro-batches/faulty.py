import numpy as np


def train(weights, batches, gradient, every, rate):
    """Make one step of descent for every so many micro-batches."""
    total = np.zeros_like(weights)
    for number, tokens in enumerate(batches, start=1):
        grad = gradient(weights, tokens)
        total = total + grad / every
        if number % every == 0:
            weights = weights - rate * total
            total = np.zeros_like(weights)
    return weights
