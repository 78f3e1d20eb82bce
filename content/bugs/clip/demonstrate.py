"""Just enough of a model, an optimizer and a scaler: a batch is its own gradient."""

import numpy as np

SCALE = 2.0**16


class Model:
    def __init__(self, width):
        self.gradients, self.weights = np.zeros(width), np.zeros(width)

    def __call__(self, batch):
        return Loss(self, np.asarray(batch, dtype=float))


class Loss:
    def __init__(self, model, gradient):
        self.model, self.gradient = model, gradient

    def __mul__(self, factor):
        return Loss(self.model, self.gradient * factor)

    def backward(self):
        self.model.gradients += self.gradient


class Optimizer:
    """Plain descent at a rate of 1, so the weights show what the step saw."""

    def __init__(self, model):
        self.model = model

    def zero_grad(self):
        self.model.gradients[:] = 0

    def step(self):
        self.model.weights -= self.model.gradients


class Scaler:
    """Divides once per step, by itself if nobody asked for it before."""

    def __init__(self):
        self.unscaled = False

    def scale(self, loss):
        return loss * SCALE

    def unscale_(self, optimizer):
        optimizer.model.gradients /= SCALE
        self.unscaled = True

    def step(self, optimizer):
        if not self.unscaled:
            self.unscale_(optimizer)
        if np.isfinite(optimizer.model.gradients).all():
            optimizer.step()

    def update(self):
        self.unscaled = False


def clip(gradients, max_norm):
    gradients *= min(1.0, max_norm / np.linalg.norm(gradients))


def norm_applied(code, batch):
    """The norm of the gradient that the optimizer saw."""
    model = Model(len(batch))
    code.training_step(model, Optimizer(model), Scaler(), clip, batch)
    return float(np.linalg.norm(model.weights))


def demonstrate(code):
    """A gradient within the limit and one over it."""
    rows = [(name, norm_applied(code, batch)) for name, batch in (("0.5", [0.3, 0.4]), ("5", [3.0, 4.0]))]
    return "\n".join(f"true norm {name}, limit 1: the optimizer sees a norm of {norm:.2g}" for name, norm in rows)
