"""Which items a set holds, on a GPU and on a CPU, the most telling first: a time bound cuts off what comes last."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Literal

from core.microbench import (
    attention,
    attention_decode,
    copy,
    decode,
    host_link,
    launch,
    prefill,
    reference,
    train,
    vector,
)
from core.microbench import matmul as product
from core.microbench.bench import Bench
from core.microbench.device import DTYPES
from core.microbench.item import Item
from core.microbench.matmul import Matrix
from core.microbench.shapes import LayerShape

SetName = Literal["quick", "full", "collectives"]
SETS: tuple[SetName, ...] = ("quick", "full", "collectives")
MAX_SECONDS: dict[str, float] = {"quick": 50.0, "full": 600.0, "collectives": 240.0}
GRADIENT_M = (2048, 4096, 8192)
OTHER_DTYPES_M = (1, 16, 32, 128, 1024, 4096)
REFERENCE_GPU = (4 * 2**30, (8192, 8192, 8192))  # bytes copied; m, n, k
REFERENCE_CPU = (64 * 2**20, (256, 1024, 1024))


def items(bench: Bench, name: SetName, shapes: list[LayerShape]) -> list[Item]:
    """The items of a set for one device.

    Args:
        bench: the device.
        name: quick or full; collectives need a group and have :func:`core.microbench.collectives.items`.
        shapes: whose layers are measured. The first stands for all where one is enough.
    """
    if bench.device.kind == "cpu":
        return _on_cpu(bench, shapes, full=name == "full")
    return _full(bench, shapes) if name == "full" else _quick(bench, shapes)


def _quick(bench: Bench, shapes: list[LayerShape]) -> list[Item]:
    first = shapes[0]
    o = first.matrices["o"]
    return [
        *copy.items(bench, copy.GPU_SIZES[::2], ("copy", "read")),
        *launch.items(bench),
        *_products(bench, shapes, (1, 8, 64, 512, 4096), REFERENCE_GPU[1]),
        *attention_decode.items(bench, first, (1, 16, 64), (512, 8192)),
        *vector.items(bench, first, (1, 64, 2048), ()),
        *decode.items(bench, first, (1, 32), (1024, 4096)),
        *attention.items(bench, first, (512, 2048, 8192)),
        *prefill.items(bench, first, ((1, 2048),)),
        *train.items(bench, first, ((1, 2048),)),
        *host_link.items(bench, (64 * 2**10, 64 * 2**20)),
        *(product.item(bench, Matrix(*o, dtype), (32, 4096)) for dtype in _other_dtypes(bench)),
        *reference.items(bench, 2**30, REFERENCE_GPU[1]),
    ]


def _full(bench: Bench, shapes: list[LayerShape]) -> list[Item]:
    first = shapes[0]
    heads = list({(shape.num_heads, shape.num_kv_heads, shape.head_dim): shape for shape in shapes}.values())
    return [
        *copy.items(bench, copy.GPU_SIZES),
        *launch.items(bench),
        *reference.items(bench, *REFERENCE_GPU),
        *_products(bench, shapes, product.GPU_M, REFERENCE_GPU[1]),
        *_each(
            attention_decode.items(bench, s, attention_decode.GPU_BATCHES, attention_decode.GPU_CONTEXTS) for s in heads
        ),
        *_each(vector.items(bench, s, vector.GPU_TOKENS, vector.GPU_TRAINED_TOKENS) for s in shapes),
        *_each(decode.items(bench, s, decode.GPU_BATCHES, decode.GPU_CONTEXTS) for s in shapes),
        *attention.items(bench, first, attention.GPU_SEQ_LENS),
        *_each(attention.items(bench, s, attention.GPU_SEQ_LENS[1:], ("fused",)) for s in heads if s is not first),
        *_each(prefill.items(bench, s, prefill.GPU_SIZES) for s in shapes),
        *_gradient_products(bench, shapes, GRADIENT_M),
        *_each(train.items(bench, s, train.GPU_SIZES) for s in shapes),
        *host_link.items(bench),
        *(
            product.item(bench, Matrix(*matrix, dtype), OTHER_DTYPES_M)
            for dtype in _other_dtypes(bench)
            for matrix in first.matrices.values()
        ),
    ]


def _on_cpu(bench: Bench, shapes: list[LayerShape], *, full: bool) -> list[Item]:
    """The same kinds at sizes that a CPU can take; full has more of them."""
    first = shapes[0]
    return [
        *copy.items(bench, copy.CPU_SIZES if full else copy.CPU_SIZES[::2]),
        *launch.items(bench),
        *reference.items(bench, *REFERENCE_CPU),
        *_products(bench, shapes, product.CPU_M if full else (1, 16, 128), REFERENCE_CPU[1]),
        *attention_decode.items(bench, first, attention_decode.CPU_BATCHES, attention_decode.CPU_CONTEXTS),
        *vector.items(bench, first, vector.CPU_TOKENS, (256,)),
        *decode.items(bench, first, decode.CPU_BATCHES, decode.CPU_CONTEXTS),
        *attention.items(bench, first, attention.CPU_SEQ_LENS),
        *prefill.items(bench, first, prefill.CPU_SIZES),
        *_gradient_products(bench, shapes, (128, 256)),
        *train.items(bench, first, train.CPU_SIZES),
        *(
            product.item(bench, Matrix(*first.matrices["o"], dtype), (1, 32, 128) if full else (32,))
            for dtype in _other_dtypes(bench)
        ),
    ]


def _products(bench: Bench, shapes: list[LayerShape], ms: tuple[int, ...], marked: tuple[int, int, int]) -> list[Item]:
    """Each distinct matrix of the shapes once, and the (m, n, k) that plain calls are measured at."""
    rows = dict.fromkeys(chain.from_iterable(shape.matrices.values() for shape in shapes), ms)
    m, n, k = marked
    rows[n, k] = tuple(sorted({*rows.get((n, k), ()), m}))
    return [product.item(bench, Matrix(n, k, bench.dtype), ms) for (n, k), ms in rows.items()]


def _gradient_products(bench: Bench, shapes: list[LayerShape], ms: tuple[int, ...]) -> list[Item]:
    distinct = dict.fromkeys(chain.from_iterable(shape.matrices.values() for shape in shapes))
    roles = ("input_gradient", "weight_gradient")
    return [product.item(bench, Matrix(n, k, bench.dtype, role), ms) for n, k in distinct for role in roles]


def _other_dtypes(bench: Bench) -> list[str]:
    return [dtype for dtype in DTYPES if dtype != bench.dtype]


def _each(lists: Iterable[list[Item]]) -> list[Item]:
    return list(chain.from_iterable(lists))
