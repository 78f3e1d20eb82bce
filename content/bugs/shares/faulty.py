import numpy as np


def batches(samples, rank, world, *, batch_size, epoch, seed=0):
    """Batches of one rank for one epoch."""
    rng = np.random.default_rng(seed + epoch)
    order = rng.permutation(len(samples))
    order = order[: len(order) - len(order) % (batch_size * world)]
    for start in range(0, len(order), batch_size):
        yield samples[order[start : start + batch_size]]
