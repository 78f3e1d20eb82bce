"""Records the two example traces of the trace reader, on GPUs. By hand; needs torch and nothing else.

    python tests/recording/record_traces.py decode --out core/catalog/traces
    torchrun --standalone --nproc-per-node 2 tests/recording/record_traces.py training --out core/catalog/traces

decode: one token at a time through the layers of a 1B model, launched kernel by kernel, so that the host is the limit.
training: data-parallel steps of two wide layers on few tokens, so that the gradients' all-reduce is the limit.

What is written is what the profiler wrote, less what a reader has no use for: flows, metadata, arguments of host
events, paths. How it was made stands in the file, under "recorded".
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, TensorDataset

SKIPPED, WARM_UP, STEPS = 5, 2, 3
KEPT_CATEGORIES = {
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "cuda_runtime",
    "cuda_driver",
    "cpu_op",
    "user_annotation",
    "gpu_user_annotation",
}
KEPT_FIELDS = ("schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds")
HOST_ARGS = ("correlation", "cbid", "External id")


class Layer(nn.Module):
    """A decoder layer of the Llama kind; with a cache it takes one token, without it a whole sequence."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, intermediate: int, cache_len: int = 0) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, hidden // heads
        self.norm1, self.norm2 = nn.RMSNorm(hidden), nn.RMSNorm(hidden)
        self.qkv = nn.Linear(hidden, (heads + 2 * kv_heads) * self.head_dim, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)
        self.gate = nn.Linear(hidden, intermediate, bias=False)
        self.up = nn.Linear(hidden, intermediate, bias=False)
        self.down = nn.Linear(intermediate, hidden, bias=False)
        shape = (1, kv_heads, cache_len, self.head_dim)
        self.keys, self.values = (nn.Buffer(torch.randn(shape) if cache_len else torch.empty(0)) for _ in range(2))

    def forward(self, x: Tensor, position: int | None = None) -> Tensor:
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).split([self.heads * self.head_dim] + [self.kv_heads * self.head_dim] * 2, -1)
        q, k, v = (part.view(batch, length, -1, self.head_dim).transpose(1, 2) for part in (q, k, v))
        if position is not None:
            self.keys[:, :, position : position + 1] = k
            self.values[:, :, position : position + 1] = v
            k, v = self.keys[:, :, : position + 1], self.values[:, :, : position + 1]
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=position is None, enable_gqa=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, -1))
        h = self.norm2(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


def decode(device: str, layers: int, hidden: int, out: Path) -> None:
    """Greedy decoding at batch 1, the shapes of Llama 3.2 1B, random weights."""
    vocabulary, context = 32_000, 1024
    torch.manual_seed(0)
    with torch.device(device):
        embedding = nn.Embedding(vocabulary, hidden)
        stack = nn.ModuleList(
            Layer(hidden, hidden // 64, hidden // 256, 4 * hidden, 2 * context) for _ in range(layers)
        )
        norm, head = nn.RMSNorm(hidden), nn.Linear(hidden, vocabulary, bias=False)
        token = torch.zeros((1, 1), dtype=torch.long)
    for module in (embedding, stack, norm, head):
        module.to(torch.bfloat16)
    position = context

    @torch.inference_mode()
    def one_token() -> None:
        nonlocal token, position
        x = embedding(token)
        for layer in stack:
            x = layer(x, position)
        token = head(norm(x[:, -1:])).argmax(-1)
        token.item()  # as a server that streams its answer: the host needs each token
        position += 1

    about = f"{layers} layers of {hidden}, batch 1, context {context}, bf16, eager"
    record(one_token, device, out / "decode.json.gz", f"decode: {about}")


def training(device_type: str, layers: int, hidden: int, tokens: int, out: Path) -> None:
    """Steps under DistributedDataParallel in bf16. The wider the layers, the less the launches count."""
    rank, backend = int(os.environ["RANK"]), "nccl" if device_type == "cuda" else "gloo"
    device = f"cuda:{rank}" if device_type == "cuda" else "cpu"
    if device_type == "cuda":
        torch.cuda.set_device(rank)
    dist.init_process_group(backend)
    torch.manual_seed(rank)
    with torch.device(device):
        stack = nn.Sequential(*(Layer(hidden, hidden // 128, hidden // 512, 7 * hidden // 2) for _ in range(layers)))
    model = DistributedDataParallel(stack.to(torch.bfloat16), gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, fused=True)
    rows = SKIPPED + WARM_UP + STEPS + 1
    inputs, targets = (torch.randn(rows, tokens, hidden, dtype=torch.bfloat16) for _ in range(2))
    batches = iter(DataLoader(TensorDataset(inputs, targets), batch_size=1))

    def one_step() -> None:
        x, target = (part.to(device) for part in next(batches))
        functional.mse_loss(model(x), target).backward()
        optimizer.step()
        optimizer.zero_grad()

    about = f"{layers} layers of {hidden}, {tokens} tokens a GPU, bf16, SGD"
    name = f"training-rank{rank}.json.gz"
    record(one_step, device_type, out / name, f"training: DDP over {dist.get_world_size()} GPUs, {about}")
    dist.barrier()
    dist.destroy_process_group()


def record(one_step: Callable[[], None], device: str, path: Path, what: str) -> None:
    """Run the steps under the profiler and write the trimmed trace."""
    on_gpu = device.startswith("cuda")
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    plan = schedule(wait=SKIPPED, warmup=WARM_UP, active=STEPS, repeat=1)
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "trace.json"
        ready = lambda profiler: profiler.export_chrome_trace(str(raw))  # noqa: E731
        with profile(activities=activities, schedule=plan, on_trace_ready=ready) as profiler:
            for _ in range(SKIPPED + WARM_UP + STEPS):
                one_step()
                if on_gpu:
                    torch.cuda.synchronize()  # so that a step's GPU work ends inside its own range
                profiler.step()
        trace = json.loads(raw.read_text())
    kept = {field: trace[field] for field in KEPT_FIELDS if field in trace}
    kept["recorded"] = {
        "what": what,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "gpu": torch.cuda.get_device_name() if on_gpu else "",
        "torch": torch.__version__,
        "cuda": torch.version.cuda or "",
        "nccl": ".".join(map(str, torch.cuda.nccl.version())) if on_gpu else "",
        "python": platform.python_version(),
    }
    kept["traceEvents"] = [trimmed(event) for event in trace["traceEvents"] if event.get("cat") in KEPT_CATEGORIES]
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(kept, separators=(",", ":")).encode()
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
    print(f"{path.name}: {len(kept['traceEvents']):,} events, {path.stat().st_size:,} bytes")


def trimmed(event: dict[str, object]) -> dict[str, object]:
    """GPU events as they are, host events with the arguments that join them to the GPU."""
    if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset") or not isinstance(event.get("args"), dict):
        return event
    return {**event, "args": {name: event["args"][name] for name in HOST_ARGS if name in event["args"]}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("decode", "training"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu only tries the script")
    parser.add_argument("--layers", type=int, help="16 for decode, 2 for training")
    parser.add_argument("--hidden", type=int, help="2048 for decode, 8192 for training")
    parser.add_argument("--tokens", type=int, default=128, help="a GPU and step, in training")
    chosen = parser.parse_args()
    if chosen.what == "decode":
        decode(chosen.device, chosen.layers or 16, chosen.hidden or 2048, chosen.out)
    else:
        training(chosen.device, chosen.layers or 2, chosen.hidden or 8192, chosen.tokens, chosen.out)


if __name__ == "__main__":
    main()
