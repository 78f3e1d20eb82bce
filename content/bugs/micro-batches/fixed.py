import numpy as np


def train(weights, batches, gradient, every, rate):
    """Make one step of descent for every so many micro-batches."""
    total, count = np.zeros_like(weights), 0
    for number, tokens in enumerate(batches, start=1):
        grad = gradient(weights, tokens)
        total, count = total + grad * len(tokens), count + len(tokens)
        if number % every == 0 or number == len(batches):
            weights = weights - rate * total / count
            total, count = np.zeros_like(weights), 0
    return weights
