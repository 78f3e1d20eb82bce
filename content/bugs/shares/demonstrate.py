"""Two ranks and twelve samples, which are their own numbers."""

import numpy as np

WORLD = 2


def seen(code, epoch=0, count=12):
    """The batches of each rank."""
    samples = np.arange(count)
    return [
        [batch.tolist() for batch in code.batches(samples, rank, WORLD, batch_size=2, epoch=epoch)]
        for rank in range(WORLD)
    ]


def demonstrate(code):
    """The first step, and the length of the epoch."""
    by_rank = seen(code)
    first = "; ".join(f"rank {rank} sees {batches[0]}" for rank, batches in enumerate(by_rank))
    distinct = len({sample for batches in by_rank for sample in batches[0]})
    return (
        f"step 1: {first}: {distinct} different samples\n"
        f"12 samples on 2 ranks in batches of 2: {len(by_rank[0])} steps an epoch"
    )
