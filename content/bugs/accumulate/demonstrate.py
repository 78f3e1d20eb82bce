"""Two ranks of data parallelism in one process: gradients by rank, reduced in the backward pass unless told not to."""

from contextlib import contextmanager

import numpy as np

RANKS, WIDTH, BYTES = 2, 1000, 2


class Model:
    """A linear loss, so that a micro-batch is its own gradient; `reduced` counts all-reduces."""

    def __init__(self):
        self.weights = np.zeros((RANKS, WIDTH))
        self.gradients = np.zeros((RANKS, WIDTH))
        self.reduced, self.syncs = 0, True

    @contextmanager
    def no_sync(self):
        self.syncs = False
        yield
        self.syncs = True

    def __call__(self, batch):
        return Loss(self, batch, self.syncs)  # like DDP: the forward pass decides


class Loss:
    """A loss by rank, which knows its gradient."""

    def __init__(self, model, gradient, syncs):
        self.model, self.gradient, self.syncs = model, gradient, syncs

    def __truediv__(self, number):
        return Loss(self.model, self.gradient / number, self.syncs)

    def backward(self):
        self.model.gradients += self.gradient
        if self.syncs:
            self.model.gradients[:] = self.model.gradients.mean(axis=0)
            self.model.reduced += 1


class Optimizer:
    """Plain descent on each rank."""

    def __init__(self, model):
        self.model, self.steps = model, 0

    def step(self):
        self.model.weights -= self.model.gradients
        self.steps += 1

    def zero_grad(self):
        self.model.gradients[:] = 0


def trained(code, count=8, every=4):
    """Model and optimizer after so many micro-batches."""
    batches = np.random.default_rng(0).normal(size=(count, RANKS, WIDTH))
    model = Model()
    optimizer = Optimizer(model)
    code.train(model, optimizer, batches, every)
    return model, optimizer, batches


def demonstrate(code):
    """Eight micro-batches in groups of four."""
    model, optimizer, batches = trained(code)
    wanted = -batches.sum(axis=0).mean(axis=0) / 4
    same = np.allclose(model.weights, wanted)
    sent = model.reduced * WIDTH * BYTES
    return (
        f"8 micro-batches, {optimizer.steps} steps: {model.reduced} all-reduces of {sent:,} bytes in all\n"
        f"weights as from {optimizer.steps} large batches: {'yes' if same else 'no'}"
    )
