"""What real kernels and links reach of their peaks, and what hides behind what: the assumptions of every estimate.

Each default says where it comes from. They are for large, well-run jobs; a measured value is always better.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from core.collective_time import LinkEfficiency
from core.hardware import Accelerator


@dataclass(frozen=True, slots=True)
class Overlap:
    """Share of each axis's traffic that can run behind work, before the work runs out; reasons in REASONS. [-]"""

    tensor: float = 0.0
    tensor_regather: float = 1.0
    context: float = 1.0
    expert: float = 0.0
    pipeline: float = 1.0
    data: float = 1.0


# Why each default is what it is, for a page to say.
REASONS: dict[str, str] = {
    "tensor": "The next product needs the sum, so nothing can run meanwhile. Splitting both into chunks hides a part.",
    "tensor_regather": "An input kept as a shard is gathered beside other work: arXiv:2205.05198, section 4.2.2.",
    "context": "Attention works on one shard of keys and values while the next arrives: arXiv:2310.01889.",
    "expert": "Experts need their tokens first. A schedule such as DualPipe hides it: arXiv:2412.19437, section 3.2.1.",
    "pipeline": "Between fill and drain a stage works on other micro-batches while one travels: arXiv:2104.04473.",
    "data": "Gradients leave in buckets during the backward pass, weights arrive during the forward pass. One bucket "
    "of each has nothing to hide behind: arXiv:2006.15704.",
}


# Median share of the dense bf16 peak over products of 4,096 to 16,384 tokens and matrices of 2,048 and wider, in the
# system data of NVIDIA AIConfigurator 0.12 (Apache-2.0): 0.89 on A100; 0.81, 0.77, 0.75 on H100; 0.83, 0.75, 0.73 on
# H200 (long runs lose clock); 0.70, 0.74, 0.69 on B200; 0.62, 0.58, 0.59 on L40S.
MATMUL_SHARES = {"Ampere": 0.87, "Hopper": 0.77, "Blackwell": 0.71, "Blackwell Ultra": 0.71, "Ada": 0.60}


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Shares of peaks. [-]"""

    matmul_share: float = 0.75  # of an architecture not among MATMUL_SHARES
    # Tiled causal attention, masked half not counted: 0.5 to 0.6 forward at 4,096 to 8,192 tokens on A100, H100 and
    # B200 (same data); its backward pass reaches about 0.8 of that (Shah et al. 2024, arXiv:2407.08608, figures 5, 6).
    attention_share: float = 0.5
    # Reads of weights by a thin product on H200: 134 MB in 35 us (same data), 3.8 of 4.8 TB/s.
    bandwidth_share: float = 0.8
    # Times that each kept activation passes the memory: written and read once forward, read once backward and its
    # gradient written. By hand for a Llama layer: 138 h bytes a token where 33.5 h are kept.
    forward_passes: float = 2.0
    backward_passes: float = 2.0
    # Kernels in a job run slower than alone: less power each, units lent to communication, gaps between launches.
    # Fitted to the eight iteration times of Korthikanti et al. 2022, arXiv:2205.05198, table 5.
    job_share: float = 0.8
    link: LinkEfficiency = field(default_factory=LinkEfficiency)
    overlap: Overlap = field(default_factory=Overlap)

    @classmethod
    def of(cls, accelerator: Accelerator) -> Efficiency:
        """The defaults for one accelerator."""
        default = cls()
        return replace(default, matmul_share=MATMUL_SHARES.get(accelerator.architecture, default.matmul_share))
