"""A run of the benchmark on a machine whose kernels take a start and then the longer of two rates, with every kind."""

from __future__ import annotations

import copy
from typing import Any

from core.layer_prediction import ROLES
from core.microbench.result import Result
from core.microbench.vector import OPS, widths
from tests.core.test_own_profile import (
    LLAMA,
    document,
    prefill_attention_s,
    product_s,
    timed,
    vector_s,
)

TRAINED_TOKENS = (2048, 8192)
TRAINED = ((1, 2048), (2, 2048), (1, 8192))
PEAK_BYTES = {"unfused": 64 * 2048**2, "fused": 2**20}


def training_s(batch: int, tokens: int) -> float:
    """Forward and backward of a layer, kernel by kernel as docs/microbench.md counts them."""
    rows = batch * tokens
    products = sum(
        product_s(rows, n, k) + 1.5 * product_s(rows, k, n) + 1.25 * product_s(rows, n, k)
        for n, k in LLAMA.matrices.values()
    )
    attention = batch * prefill_attention_s(tokens, direction="training")
    between = 2 * 3 * vector_s("norm", rows) + 3 * vector_s("heads", rows) + 3 * vector_s("swiglu", rows)
    return products + attention + between + 2 * 3 * vector_s("add", rows) + 2 * vector_s("add", rows)


def whole() -> dict[str, Any]:
    """The document with gradients, backward passes, training steps, copies, transfers and peaks beside the rest."""
    made = document()
    found = made["measurements"]
    found += [
        timed("matmul", factor * product_s(m, *shape), n=n, k=k, m=m, dtype="bf16", role=role)
        for n, k in LLAMA.matrices.values()
        for m in TRAINED_TOKENS
        for role, factor, shape in (("input_gradient", 1.5, (k, n)), ("weight_gradient", 1.25, (n, k)))
        if (role, m) not in {("input_gradient", 2048), ("input_gradient", 8192)}  # those are there already
    ]
    found += [
        {
            **timed(
                "vector", 3 * vector_s(op, t), op=op, direction="training", model=LLAMA.model, tokens=t, dtype="bf16"
            ),
            "bytes": 2 * 2.0 * t * sum(widths(LLAMA)[op]),
        }
        for op in OPS
        for t in (*TRAINED_TOKENS, 16384)
    ]
    found += [
        timed(
            "step",
            training_s(batch, tokens),
            phase="training",
            model=LLAMA.model,
            batch=batch,
            seq_len=tokens,
            mode="eager",
            dtype="bf16",
            weight_bytes=2 * LLAMA.num_weights,
        )
        for batch, tokens in TRAINED
    ]
    steps = [one for one in found if one["kind"] == "step" and one["phase"] == "decode"]
    found += [{**one, "mode": "eager", "time": timed("step", 1e-3)["time"]} for one in steps[:1]]
    found += [
        timed("host_link", size / 50e9, direction="to_device", pinned=pinned, buffer_bytes=size)
        for size in (2**16, 2**26)
        for pinned in (True, False)
    ]
    for one in found:
        if one["kind"] == "attention" and one["direction"] == "forward":
            one["peak_bytes"] = PEAK_BYTES[one["variant"]]
        if one["kind"] == "collective" and one["mode"] == "graph":
            one["op"] = "all_gather"
    made["skipped"] = [
        {"item": "attention unfused forward, 32/8 heads", "reason": "needs 80.0 GB of memory"},
        {"item": "product fp8 4096 x 4096", "reason": "no fp8 here", "settings": {"m": 16}},
        {"item": "product fp8 4096 x 4096", "reason": "no fp8 here", "settings": {"m": 32}},
    ]
    return made


RESULT = Result.model_validate(whole())
ENTRY = RESULT.model_dump()


def changed(**fields: Any) -> dict[str, Any]:
    """The plain document with some fields replaced."""
    return copy.deepcopy(ENTRY) | fields


def without(*kinds: str) -> dict[str, Any]:
    """The plain document without some kinds of measurement."""
    return changed(measurements=[one for one in ENTRY["measurements"] if one["kind"] not in kinds])


assert set(ROLES) == {one["role"] for one in ENTRY["measurements"] if one["kind"] == "matmul"}
