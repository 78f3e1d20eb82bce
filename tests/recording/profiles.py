"""Build core/catalog/profiles and tests/data/held_out_kernels.json from NVIDIA AIConfigurator's system data.

    python -m tests.recording.profiles FOLDER

FOLDER is the unpacked wheel of the Python package ``aiconfigurator-core`` 0.12.0 (Apache-2.0, released 2026-09-01; 82
MB, so it is not kept here): ``pip download aiconfigurator-core==0.12.0 --no-deps``, then unzip. The tables lie below
``aiconfigurator_core/systems/data/<system>/<kind>/<framework>/<version>/*.parquet``. Needs pandas and pyarrow.

Kept: a grid of sizes that shapes of models fall between. Rows that repeat a cell (collectives under several versions
of the library) become their median. Four significant digits. Held out for tests: sizes between those of the grid.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
RELEASED = "2026-09-01"


class System(NamedTuple):
    """A folder of the package, and the catalog's id."""

    folder: str
    accelerator: str
    vllm: str = "0.24.0"
    link: str = "nccl"


SYSTEMS = (
    System("a100_sxm", "a100-sxm-80gb", "0.14.0"),
    System("h100_sxm", "h100-sxm"),
    System("h200_sxm", "h200-sxm"),
    System("b200_sxm", "b200-sxm"),
    System("b300_sxm", "b300-sxm"),
    System("gb200", "gb200"),
    System("gb300", "gb300"),
    System("l40s", "l40s"),
    System("rtx_pro_6000_server", "rtx-pro-6000-server"),
    System("b60", "arc-pro-b60", "0.26.0", "oneccl"),
)
DTYPES = {"bfloat16": "bf16", "fp8": "fp8", "nvfp4": "fp4"}
OPS = {
    "all_gather": "all_gather",
    "all_reduce": "all_reduce",
    "alltoall": "all_to_all",
    "reduce_scatter": "reduce_scatter",
}

M = [2**power for power in range(16)]
N = [64, 256, 512, 1024, 2048, 4096, 6144, 8192, 10240, 12288, 16384, 65536]
K = [64, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384, 65536]
CONTEXTS = [1, 31, 127, 511, *(2**power - 1 for power in range(10, 18))]
DECODE_BATCHES = [2**power for power in range(12)]
PREFILL_BATCHES = [1, 4, 16, 64]
# Query heads, key and value heads, width of a head. Other splits of the same groups are read from these.
DECODE_HEADS = [
    *((heads, 8, 128) for heads in (8, 16, 32, 40, 64, 96)),
    *((heads, 1, 128) for heads in (1, 4, 8, 16)),
    *((8, 8, 64), (64, 8, 64), (8, 1, 64)),
    *((8, 2, 256), (16, 1, 256), (16, 2, 256)),
]
PREFILL_HEADS = [
    *((heads, 8, 128) for heads in (16, 32, 64)),
    *((8, 1, 128), (8, 8, 128), (32, 32, 128)),
    *((64, 8, 64), (16, 16, 64), (16, 2, 256)),
]
# Experts: formats in the order in which they are taken; blocks of 128 x 128 are how fp8 models store theirs. Every
# system has this routing, which favours some experts.
EXPERT_DTYPES = {"bf16": ["bfloat16"], "fp8": ["fp8_block", "fp8"], "nvfp4": ["nvfp4"], "mxfp4": ["w4a16_mxfp4"]}
ROUTING = "power_law_1.01"
EXPERT_TOKENS = [2**power for power in range(15)]
EXPERT_GPUS = [1, 2, 4, 8]
EXPERTS = ["hidden_size", "inter_size", "num_experts", "topk"]
# Between the grid's sizes: what the profiles do not hold, for tests of what lies between.
HELD_OUT_SHAPES = [(5120, 5120), (7168, 2048), (3072, 7168), (1536, 3584), (51200, 5120), (4096, 10240)]
HELD_OUT_ROWS = [1, 48, 96, 192, 768, 3072, 12288]  # systems that have fewer give fewer
HELD_OUT_DECODE = [((24, 8, 128), (4, 32)), ((16, 4, 128), (8, 64)), ((4, 4, 128), (16, 64)), ((16, 4, 64), (8, 64))]
HELD_OUT_CONTEXTS = [255, 511, 4095, 16383]
HELD_OUT_PREFILL = [((24, 8, 128), (2,)), ((16, 2, 128), (4,)), ((48, 8, 128), (1, 8))]
HELD_OUT_TOKENS = [256, 1536, 6144]
HELD_OUT_EXPERT_TOKENS = [48, 192, 768, 3072, 12288]  # of the bf16 experts with 2,048 channels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    data = parser.parse_args().folder / "aiconfigurator_core/systems/data"
    held_out = []
    for system in SYSTEMS:
        profile, rows = build(data / system.folder, system)
        path = ROOT / f"core/catalog/profiles/{system.accelerator}.json"
        path.write_text(text_of(profile))
        held_out.append({"profile": system.accelerator, **rows})
        print(f"{path.stat().st_size:9,} bytes  {path.name}")
    about = (
        "Kernels at sizes that core/catalog/profiles does not hold, for tests of what lies between. System data of "
        "NVIDIA AIConfigurator 0.12.0 (Apache-2.0), made by tests/recording/profiles.py. matmul: dtype, n, k, m, "
        "seconds; attention: kv_dtype, heads, kv_heads, head_dim, batch, tokens, seconds; "
        "experts: dtype, hidden and intermediate size, experts, top k, GPUs, tokens, seconds."
    )
    (ROOT / "tests/data/held_out_kernels.json").write_text(text_of({"about": about, "rows": held_out}))


def build(folder: Path, system: System) -> tuple[dict[str, Any], dict[str, Any]]:
    """A profile and its held-out rows."""
    products = pd.read_parquet(folder / f"gemm/vllm/{system.vllm}/gemm_perf.parquet")
    decode, prefill = (
        pd.read_parquet(folder / f"attention/vllm/{system.vllm}/{phase}_attention_perf.parquet")
        for phase in ("generation", "context")
    )
    experts = pd.read_parquet(folder / f"moe/vllm/{system.vllm}/moe_perf.parquet")
    messages = {
        path.parent.name: pd.read_parquet(path) for path in sorted(folder.glob(f"comm/{system.link}/*/*.parquet"))
    }
    profile = {
        "format": "measured-profile/1",
        "id": system.accelerator,
        "accelerator": system.accelerator,
        "device": products.device.iloc[0],
        "source": f"NVIDIA AIConfigurator 0.12.0, system data: kernels through vLLM {system.vllm}",
        "source_url": "https://github.com/ai-dynamo/aiconfigurator",
        "licence": "Apache-2.0",
        "dated": RELEASED,
        "versions": {"vllm": system.vllm, system.link: ", ".join(messages)},
        "note": "The date is that of publication. Collectives are medians over the versions of their library.",
        "matmul": [
            matmul_table(products, name, dtype) for name, dtype in DTYPES.items() if name in set(products.gemm_dtype)
        ],
        "attention": [
            *attention_tables(decode, "decode", DECODE_HEADS, DECODE_BATCHES, CONTEXTS),
            *attention_tables(prefill, "prefill", PREFILL_HEADS, PREFILL_BATCHES, sorted(set(prefill.isl))),
        ],
        "experts": list(expert_tables(experts)),
        "collectives": collective_rows(pd.concat(messages.values())),
    }
    return profile, {
        "matmul": held_out_products(products),
        "decode": held_out_attention(decode, "step", HELD_OUT_DECODE, HELD_OUT_CONTEXTS),
        "prefill": held_out_attention(prefill, "isl", HELD_OUT_PREFILL, HELD_OUT_TOKENS),
        "experts": held_out_experts(experts),
    }


def matmul_table(frame: pd.DataFrame, name: str, dtype: str) -> dict[str, Any]:
    """One dtype over n, k and m."""
    mine = frame[frame.gemm_dtype == name]
    times = mine.groupby(["n", "k", "m"]).latency.median()
    rows = [m for m in M if m <= mine.m.max()]
    grid = [[[seconds(times.get((n, k, m))) for m in rows] for k in K] for n in N]
    return {"dtype": dtype, "kernel": kernels(mine), "n": N, "k": K, "m": rows, "seconds": grid}


def attention_tables(
    frame: pd.DataFrame, phase: str, shapes: list[tuple[int, int, int]], batches: list[int], tokens: list[int]
) -> Iterable[dict[str, Any]]:
    """One table for each shape of heads that was measured, and format of the cache."""
    length = "step" if phase == "decode" else "isl"
    frame = full(frame)
    for name in ("bfloat16", "fp8"):
        for heads, kv_heads, head_dim in shapes:
            mine = of_heads(frame, name, heads, kv_heads, head_dim)
            if mine.empty:
                continue
            times = mine.groupby(["batch_size", length]).latency.median()
            there = [batch for batch in batches if batch in set(mine.batch_size)]
            columns = [n for n in tokens if n in set(mine[length])]
            grid = [[seconds(times.get((batch, n))) for n in columns] for batch in there]
            yield {
                "phase": phase,
                "kv_dtype": DTYPES[name],
                "kernel": kernels(mine),
                "heads": heads,
                "kv_heads": kv_heads,
                "head_dim": head_dim,
                "batch": there,
                "tokens": columns,
                "seconds": grid,
            }


def expert_tables(frame: pd.DataFrame) -> Iterable[dict[str, Any]]:
    """One table for each shape and format of experts that a GPU holds all of."""
    whole = frame[(frame.moe_ep_size == 1) & (frame.distribution == ROUTING) & frame.moe_tp_size.isin(EXPERT_GPUS)]
    for dtype, names in EXPERT_DTYPES.items():
        for shape, mine in whole[whole.moe_dtype.isin(names)].groupby(EXPERTS):
            name = next(name for name in names if name in set(mine.moe_dtype))
            chosen = mine[mine.moe_dtype == name]
            times = chosen.groupby(["moe_tp_size", "num_tokens"]).latency.median()
            degrees = [gpus for gpus in EXPERT_GPUS if gpus in set(chosen.moe_tp_size)]
            tokens = [count for count in EXPERT_TOKENS if count in set(chosen.num_tokens)]
            hidden, inner, experts, top_k = map(int, shape)
            yield {
                "dtype": dtype,
                "kernel": f"{name}: {kernels(chosen)}",
                "routing": ROUTING,
                "hidden_size": hidden,
                "intermediate_size": inner,
                "num_experts": experts,
                "top_k": top_k,
                "tensor_parallel": degrees,
                "tokens": tokens,
                "seconds": [[seconds(times.get((gpus, count))) for count in tokens] for gpus in degrees],
            }


def collective_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """16-bit collectives. The library's size of an all-to-all is one rank's share; ours is all of them together."""
    found = []
    for (op, ranks), mine in frame[frame.nccl_dtype == "half"].groupby(["op_name", "num_gpus"]):
        times = mine[mine.message_size <= 2**28].groupby("message_size").latency.median()
        whole = 2 * (int(ranks) if op == "alltoall" else 1)
        found.append(
            {
                "op": OPS[op],
                "ranks": int(ranks),
                "num_bytes": [int(size) * whole for size in times.index],
                "seconds": [seconds(time) for time in times],
            }
        )
    return found


def held_out_products(frame: pd.DataFrame) -> list[list[Any]]:
    times = frame.groupby(["gemm_dtype", "n", "k", "m"]).latency.median()
    return [
        [dtype, n, k, m, seconds(times[name, n, k, m])]
        for name, dtype in DTYPES.items()
        for n, k in HELD_OUT_SHAPES
        for m in HELD_OUT_ROWS
        if (name, n, k, m) in times.index
    ]


def held_out_attention(frame: pd.DataFrame, length: str, shapes: list[Any], tokens: list[int]) -> list[list[Any]]:
    found = []
    for (heads, kv_heads, head_dim), batches in shapes:
        mine = of_heads(full(frame), "bfloat16", heads, kv_heads, head_dim)
        times = mine.groupby(["batch_size", length]).latency.median()
        found += [
            ["bf16", heads, kv_heads, head_dim, batch, n, seconds(times[batch, n])]
            for batch in batches
            for n in tokens
            if (batch, n) in times.index
        ]
    return found


def held_out_experts(frame: pd.DataFrame) -> list[list[Any]]:
    mine = frame[
        (frame.moe_ep_size == 1)
        & (frame.distribution == ROUTING)
        & frame.moe_tp_size.isin(EXPERT_GPUS)
        & (frame.moe_dtype == "bfloat16")
        & (frame.hidden_size == 2048)
        & frame.num_tokens.isin(HELD_OUT_EXPERT_TOKENS)
    ]
    times = mine.groupby([*EXPERTS, "moe_tp_size", "num_tokens"]).latency.median()
    return [["bf16", *map(int, cell), seconds(time)] for cell, time in times.items()]


def full(frame: pd.DataFrame) -> pd.DataFrame:
    """Attention without a window."""
    return frame[frame.window_size == 0] if "window_size" in frame else frame


def of_heads(frame: pd.DataFrame, kv_dtype: str, heads: int, kv_heads: int, head_dim: int) -> pd.DataFrame:
    return frame[
        (frame.kv_cache_dtype == kv_dtype)
        & (frame.num_heads == heads)
        & (frame.num_key_value_heads == kv_heads)
        & (frame.head_dim == head_dim)
    ]


def kernels(frame: pd.DataFrame) -> str:
    return ", ".join(sorted(set(frame.kernel_source)))


def seconds(milliseconds: float | None) -> float | None:
    """Four significant digits; None where nothing was measured."""
    return None if milliseconds is None else float(f"{milliseconds * 1e-3:.4g}")


def text_of(value: Any, depth: int = 0) -> str:
    """JSON with one line for each list of numbers, and short exponents."""
    pad, inner = " " * depth, " " * (depth + 1)
    end = "\n" if depth == 0 else ""
    if isinstance(value, dict):
        items = [f"{inner}{json.dumps(key)}: {text_of(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{pad}}}{end}"
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        return "[\n" + ",\n".join(f"{inner}{text_of(item, depth + 1)}" for item in value) + f"\n{pad}]{end}"
    if isinstance(value, list):
        return "[" + ",".join(number(item) for item in value) + "]"
    return json.dumps(value)


def number(value: Any) -> str:
    """As short as the four digits allow: 3.49e-5 and not 3.49e-05."""
    return json.dumps(value).replace("e-0", "e-") if isinstance(value, float) else json.dumps(value)


if __name__ == "__main__":
    main()
