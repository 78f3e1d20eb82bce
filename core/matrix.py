"""The unit of a model's work: matrices of one shape, from which FLOPs, weights and activations follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.checks import Floats

Size = Floats | float  # a share of one GPU, so not always whole; an array over tensor-parallel degrees


@dataclass(frozen=True, slots=True)
class Matrix:
    """``stored`` matrices of one shape, of which a token passes ``used``: heads of a batched product, or experts."""

    label: str
    inputs: Size  # [elements]
    outputs: Size  # [elements]
    stored: Size = 1.0
    used: Size = 1.0
    kind: str = "projection"

    @property
    def params(self) -> Floats:
        """Weights of all of them. [params]"""
        return np.asarray(self.inputs * self.outputs * self.stored, dtype=np.float64)

    @property
    def flops(self) -> Floats:
        """A multiplication and an addition for each weight that a token meets. [FLOP per token]"""
        return np.asarray(2 * self.inputs * self.outputs * self.used, dtype=np.float64)
