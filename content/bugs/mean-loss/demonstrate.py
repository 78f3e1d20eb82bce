"""Two ranks as two threads that wait for each other in every collective."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

WORLD, PATIENCE_S = 2, 5.0


class World:
    """Collectives among threads: all write, all wait, all read."""

    def __init__(self):
        self.barrier = Barrier(WORLD, timeout=PATIENCE_S)
        self.given = [0.0] * WORLD

    def all_reduce_sum(self, rank, number):
        self.given[rank] = number
        self.barrier.wait()
        total = sum(self.given)
        self.barrier.wait()  # nobody writes again before everybody has read
        return total


def losses_of(code, by_rank):
    """What each rank gets for the given losses and masks."""
    world = World()

    def one(rank):
        losses, mask = by_rank[rank]
        return float(code.step_loss(losses, mask, lambda number: world.all_reduce_sum(rank, number), WORLD))

    with ThreadPoolExecutor(WORLD) as ranks:
        return list(ranks.map(one, range(WORLD)))


def example():
    """Rank 0 has 90 real tokens with a loss of 2, rank 1 has 10 with a loss of 4; both are padded to 100."""
    real = np.arange(100)
    return [(np.full(100, 2.0), real < 90), (np.full(100, 4.0), real < 10)]


def demonstrate(code):
    """The loss on both ranks."""
    first, second = losses_of(code, example())
    return f"90 tokens with loss 2, 10 with loss 4: rank 0 reports {first:.2f}, rank 1 reports {second:.2f}"
