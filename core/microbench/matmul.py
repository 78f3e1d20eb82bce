"""Matrix products over M, for the matrices of a model's layer and each dtype that the card multiplies.

A product reads its weights from memory: calls go through copies that together are larger than the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from core.microbench.bench import ELEMENT_BYTES, Bench, Tensor, fp8_of, powers, relative_error
from core.microbench.item import Item, Measured, Point, Unsupported, refuse_wrong

# Largest |product - reference| / |reference|: rounding of inputs is in the reference too, so these are the rounding of
# the output and of the sum (tf32 also rounds inputs; fp8 sums keep fewer bits). A wrong product is off by about 1.
LIMITS = {"fp32": 1e-4, "tf32": 2e-3, "bf16": 1e-2, "fp16": 2e-3, "fp8": 2e-2, "int8": 0.0}
OUTPUT = {"fp8": "bf16", "int8": "fp32"}  # what a product is written as; int8 gives int32, of fp32's size
LEAST_INT8_ROWS = 17  # torch._int_mm on CUDA takes no fewer
CHECKED_ROWS = 32  # of the result, spread evenly, and as many columns
GPU_M = powers(1, 8192)
CPU_M = powers(1, 256, 4)
ROLES = ("forward", "input_gradient", "weight_gradient")


@dataclass(frozen=True, slots=True)
class Matrix:
    """One weight matrix: n outputs, k inputs, in one dtype, and what is made of it.

    With M tokens, forward is (M, k) by (k, n); input_gradient (M, n) by (n, k); weight_gradient (n, M) by (M, k).
    """

    n: int
    k: int
    dtype: str
    role: str = "forward"

    def flops(self, m: int) -> float:
        """A multiplication and an addition for each of M n k. [FLOP]"""
        return 2.0 * m * self.n * self.k

    def num_bytes(self, m: int) -> float:
        """Both inputs read and the output written, each once. [bytes]"""
        size, out = ELEMENT_BYTES[self.dtype], ELEMENT_BYTES[OUTPUT.get(self.dtype, self.dtype)]
        tokens_in, tokens_out, weights = m * self.k, m * self.n, self.n * self.k
        if self.role == "input_gradient":
            return float(size * (tokens_out + weights) + out * tokens_in)
        if self.role == "weight_gradient":
            return float(size * (tokens_out + tokens_in) + out * weights)
        return float(size * (tokens_in + weights) + out * tokens_out)


def item(bench: Bench, matrix: Matrix, ms: tuple[int, ...]) -> Item:
    """The products of one matrix over rising M."""
    weights = ELEMENT_BYTES[matrix.dtype] * matrix.n * matrix.k
    # Random weights are drawn as fp32 or the dtype itself and then rounded, one copy at a time.
    held = weights * bench.copies(weights) + 4 * matrix.n * matrix.k + 6 * ms[-1] * (matrix.n + matrix.k)
    name = f"product {matrix.dtype} {matrix.n} x {matrix.k}"
    if matrix.role != "forward":
        name = f"{name}, {matrix.role.replace('_', ' ')}"
    lacks = bench.device.lacks(matrix.dtype)
    return Item(name, "matmul", partial(_points, bench, matrix, ms), len(ms), needs_bytes=held, lacks=lacks)


def _points(bench: Bench, matrix: Matrix, ms: tuple[int, ...]) -> Iterator[Point]:
    import torch

    torch.set_float32_matmul_precision("high" if matrix.dtype == "tf32" else "highest")
    n, k = matrix.n, matrix.k
    size = ELEMENT_BYTES[matrix.dtype] * n * k
    weights = [
        _operand(bench, matrix.dtype, n, k)
        for _ in range(1 if matrix.role == "weight_gradient" else bench.copies(size))
    ]
    inputs = _operand(bench, matrix.dtype, ms[-1], k)
    output_gradients = inputs if matrix.role == "forward" else _operand(bench, matrix.dtype, ms[-1], n)
    for m in ms:
        pairs = {
            "forward": lambda m=m: [(inputs[:m], weight.t()) for weight in weights],
            "input_gradient": lambda m=m: [(output_gradients[:m], weight) for weight in weights],
            "weight_gradient": lambda m=m: [(output_gradients[:m].t(), inputs[:m])],
        }[matrix.role]()
        settings = {"n": n, "k": k, "m": m, "dtype": matrix.dtype, "role": matrix.role}
        yield Point(settings, partial(_measure, bench, matrix, m, pairs))


def _measure(bench: Bench, matrix: Matrix, m: int, pairs: list[tuple[Tensor, Tensor]]) -> Measured:
    multiply = _multiply(bench, matrix.dtype, *pairs[0])
    left, right = pairs[0]
    error = refuse_wrong(_error(multiply(left, right), left, right), LIMITS[matrix.dtype], "the product")
    timing = bench.timer.time([partial(multiply, left, right) for left, right in pairs])
    return Measured(timing, flops=matrix.flops(m), num_bytes=matrix.num_bytes(m), error=error)


def _operand(bench: Bench, dtype: str, rows: int, columns: int) -> Tensor:
    import torch

    if dtype == "int8":
        bench.torch_dtype(dtype)
        return torch.randint(-128, 128, (rows, columns), device=bench.device.torch_name, dtype=torch.int8)
    if dtype == "fp8":
        bench.torch_dtype(dtype)
        return fp8_of(bench.random(rows, columns, dtype=torch.bfloat16))
    return bench.random(rows, columns, dtype=bench.torch_dtype(dtype))


def _multiply(bench: Bench, dtype: str, left: Tensor, right: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """How torch multiplies this dtype, into an output made once where it takes one."""
    import torch

    m = left.shape[0]
    if dtype == "int8":
        if bench.device.kind == "cuda" and m < LEAST_INT8_ROWS:
            raise Unsupported(f"torch multiplies int8 from {LEAST_INT8_ROWS} rows on")
        return torch._int_mm  # type: ignore[no-any-return]
    if dtype == "fp8":
        one = torch.ones((), device=bench.device.torch_name)
        return partial(torch._scaled_mm, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    out = torch.full((m, right.shape[1]), float("nan"), dtype=left.dtype, device=left.device)
    return partial(torch.mm, out=out)


def _error(product: Tensor, left: Tensor, right: Tensor) -> float:
    """Error on some rows and columns, against the exact product of the same inputs in float64."""
    import torch

    rows, columns = product.shape[0], product.shape[1]
    some = (slice(None, None, rows // CHECKED_ROWS + 1), slice(None, None, columns // CHECKED_ROWS + 1))
    # By way of fp32, which holds every value of the narrower dtypes and which float8 converts to.
    exact = left[some[0]].to(torch.float32).double() @ right[:, some[1]].to(torch.float32).double()
    return relative_error(product[some[0]][:, some[1]], exact)
