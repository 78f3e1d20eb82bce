"""Number formats and what one element of each really occupies, block scales included."""

from dataclasses import dataclass

from core.units import BITS_PER_BYTE


@dataclass(frozen=True, slots=True)
class Dtype:
    """A storage format: ``block_size`` elements share ``scale_bits`` of scale (and zero point)."""

    name: str
    element_bits: float
    block_size: int = 1
    scale_bits: float = 0.0
    source: str = ""

    @property
    def bytes_per_element(self) -> float:
        """Bytes an element occupies with its share of the block scale. [bytes]"""
        return (self.element_bits + self.scale_bits / self.block_size) / BITS_PER_BYTE


_OCP_MX = "OCP Microscaling Formats (MX) Specification 1.0, section 5: 32 elements share one 8-bit E8M0 scale"
_NVFP4 = (
    "NVIDIA, Introducing NVFP4 (2025-06): 16 elements share one FP8 E4M3 scale; the FP32 scale per tensor is left out"
)
_NF4 = "Dettmers et al. 2023, arXiv:2305.14314, section 3: 64 weights share an 8-bit constant, 256 of those an fp32 one"

DTYPES: dict[str, Dtype] = {
    dtype.name: dtype
    for dtype in (
        Dtype("fp32", 32),
        Dtype("tf32", 32),  # stored as fp32; only the multiplier rounds
        Dtype("bf16", 16),
        Dtype("fp16", 16),
        Dtype("fp8", 8),
        Dtype("int8", 8),
        Dtype("fp4", 4),
        Dtype("int4", 4),
        Dtype("mxfp8", 8, block_size=32, scale_bits=8, source=_OCP_MX),
        Dtype("mxfp6", 6, block_size=32, scale_bits=8, source=_OCP_MX),
        Dtype("mxfp4", 4, block_size=32, scale_bits=8, source=_OCP_MX),
        Dtype("nvfp4", 4, block_size=16, scale_bits=8, source=_NVFP4),
        Dtype(
            "int4-g128",
            4,
            block_size=128,
            scale_bits=32,
            source=(
                "torchao's int4 layout (scales_and_zeros): a 16-bit scale and a 16-bit zero point per 128 weights; "
                "GPTQ and AWQ files pack the zero point into 4 bits, which makes 4.16"
            ),
        ),
        Dtype(
            "nf4",
            4,
            block_size=64,
            scale_bits=8 + 32 / 256,
            source=_NF4,
        ),
    )
}


def bytes_per_element(dtype: str) -> float:
    """Bytes that one element of a named format occupies, its share of block scales included. [bytes]

    Raises:
        ValueError: the name is unknown; the message lists the known ones.
    """
    try:
        return DTYPES[dtype].bytes_per_element
    except KeyError:
        raise ValueError(f"{dtype=} is not a known number format; choose one of {sorted(DTYPES)}") from None
