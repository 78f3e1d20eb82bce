"""Numbers worth knowing by heart, each computed by the module that the pages use, with its formula and its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.attention_io import score_bytes
from core.collectives import bytes_per_rank, collective_time, zero_traffic
from core.display import digits, show_bytes, show_count, show_percent, show_rate, show_seconds
from core.flops import recompute_ceiling, train_flops_per_token
from core.hardware import Accelerator, load_accelerators, load_links
from core.kv_cache import kv_bytes_per_token
from core.model_spec import ModelSpec, load_models
from core.parallelism import pipeline_bubble
from core.params import count_params
from core.precision import weight_bytes
from core.roofline import crossover_batch, ridge_point
from core.serving import decode_floor_s, prefill_floor_s
from core.units import GB, GIB
from core.zero import RECIPES, largest_model, zero_memory

LLAMA = "meta-llama/Llama-3.1-70B"
CARDS = ("a100-sxm-80gb", "h100-sxm", "h200-sxm", "b200-sxm")
KV_MODELS = (
    "meta-llama/Llama-3.1-8B",
    LLAMA,
    "meta-llama/Llama-3.1-405B",
    "openai/gpt-3-175b",
    "Qwen/Qwen3-32B",
    "deepseek-ai/DeepSeek-V3",
)
LINKS = ("nvlink-3", "nvlink-4", "nvlink-5", "pcie-5-x16", "infiniband-ndr")
CONTEXT = 4096  # tokens, wherever a sequence is needed


@dataclass(frozen=True, slots=True)
class Table:
    """A few numbers of one kind: the first column names them, and the rest are numbers as text."""

    title: str
    topic: str  # of the page that explains them
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    formula: str
    source: str


def tables(unit: str) -> tuple[Table, ...]:
    """The whole sheet, memory in GB or GiB."""
    return tuple(make(unit) for make in _TABLES)


def _model(name: str = LLAMA) -> ModelSpec:
    return load_models()[name]


def _card(name: str = "h100-sxm") -> Accelerator:
    return load_accelerators()[name]


def _states(unit: str) -> Table:
    chosen = ("adam", "adam-fp32-grads", "adam-8bit", "adam-bf16")
    params = count_params(_model()).total
    hbm = float(_card().hbm_bytes)

    def rows() -> Iterator[tuple[str, ...]]:
        for name in chosen:
            recipe = RECIPES[name]
            parts = (recipe.weight_bytes, recipe.gradient_bytes, recipe.optimizer_bytes)
            most = float(largest_model(hbm, 1, stage=0, optimizer=recipe))
            yield (
                recipe.label,
                f"{' + '.join(f'{part:.3g}' for part in parts)} = {recipe.total_bytes:.4g}",
                show_bytes(recipe.total_bytes * params, unit),
                show_count(most),
            )

    return Table(
        "Model states in training",
        "partition",
        ("recipe", "bytes a parameter", "Llama 3.1 70B", "most on one H100"),
        tuple(rows()),
        "weights + gradients + optimizer states; activations come on top",
        "arXiv:1910.02054, section 3.1; Megatron-LM, distributed optimizer",
    )


def _zero(unit: str) -> Table:
    full = float(zero_memory(1, 1, stage=0).total_bytes)

    def row(stage: int) -> tuple[str, ...]:
        shares = [float(zero_memory(1, ranks, stage=stage).total_bytes) / full for ranks in (8, 64, 1024)]
        sent = float(zero_traffic(1, 64, stage=stage).elements)
        return (f"ZeRO-{stage}" if stage else "none", *(show_percent(share) for share in shares), f"{sent:.0f} P")

    return Table(
        "What ZeRO leaves on a GPU",
        "partition",
        ("stage", "of 8 ranks", "of 64", "of 1,024", "elements sent"),
        tuple(row(stage) for stage in range(4)),
        "16 P; 4 P + 12 P/N; 2 P + 14 P/N; 16 P/N. Sent in a step of one micro-batch",
        "arXiv:1910.02054, figure 1 and section 7",
    )


def _cards(unit: str) -> Table:
    def row(card: Accelerator) -> tuple[str, ...]:
        return (
            card.name,
            show_rate(card.peak_flops_per_s("bf16"), "FLOP"),
            show_bytes(card.hbm_bytes, unit),
            show_rate(card.hbm_bytes_per_s, "B"),
            f"{ridge_point(card, 'bf16'):.0f} FLOP/B",
            f"{float(crossover_batch(card, 'bf16')):.0f}",
        )

    return Table(
        "Accelerators: peak, memory, ridge",
        "bottleneck",
        ("card", "bf16, dense", "memory", "bandwidth", "ridge", "batch at the ridge"),
        tuple(row(_card(name)) for name in CARDS),
        "ridge = peak / bandwidth; a 16-bit matrix does about one FLOP a byte for each sequence of the batch",
        "vendors' data sheets, sparse peaks halved; doi:10.1145/1498765.1498785",
    )


def _kv(unit: str) -> Table:
    def row(model: ModelSpec) -> tuple[str, ...]:
        token = float(kv_bytes_per_token(model, CONTEXT))
        return model.name, f"{token:,.0f} B", show_bytes(token * CONTEXT, unit)

    return Table(
        "KV cache in 16 bits",
        "batch",
        ("model", "a token", f"{CONTEXT:,} tokens"),
        tuple(row(_model(name)) for name in KV_MODELS),
        "2 x layers x KV heads x head size x 2 bytes; latent attention: layers x (latent + rotary part) x 2 bytes",
        "each model's config.json; arXiv:2005.14165, table 2.1",
    )


def _weights(unit: str) -> Table:
    def row(dtype: str, name: str) -> tuple[str, ...]:
        return name, *(show_bytes(float(weight_bytes(_model(model), dtype)), unit) for model in (KV_MODELS[0], LLAMA))

    return Table(
        "Weights alone",
        "batch",
        ("format", "Llama 3.1 8B", "Llama 3.1 70B"),
        (row("bf16", "bf16"), row("fp8", "fp8"), row("int4-g128", "int4, groups of 128")),
        "parameters x bytes, scales included; embedding and head stay in 16 bits where the format leaves them",
        "config.json; one 16-bit scale a group",
    )


def _decode(unit: str) -> Table:
    def row(name: str, gpus: int) -> tuple[str, ...]:
        card = _card(name)
        one = float(decode_floor_s(_model(), card, CONTEXT, tensor_parallel=gpus))
        prompt = float(prefill_floor_s(_model(), card, CONTEXT, tensor_parallel=gpus))
        return f"{gpus} x {card.name}", show_seconds(one), f"{digits(1 / one)} tokens/s", show_seconds(prompt)

    return Table(
        "Floors of Llama 3.1 70B in bf16",
        "batch",
        ("GPUs", "a token, batch 1", "so at most", f"prompt of {CONTEXT:,}"),
        (row("a100-sxm-80gb", 8), row("h100-sxm", 4), row("h100-sxm", 8), row("b200-sxm", 8)),
        "token: (weights + cache) / bandwidth of all. Prompt: FLOPs / peak. Floors: measured times are longer",
        "arXiv:2211.05102, section 2",
    )


def _ring(unit: str) -> Table:
    link = {name: load_links()[name] for name in ("nvlink-4", "infiniband-ndr")}
    gradients = 2.0 * count_params(_model()).total

    def row(ranks: int) -> tuple[str, ...]:
        factor = float(bytes_per_rank("all_reduce", 1.0, ranks))
        small, large = (
            float(collective_time("all_reduce", size, ranks, link[name]))
            for size, name in ((GB, "nvlink-4" if ranks <= 8 else "infiniband-ndr"), (gradients, "infiniband-ndr"))
        )
        return f"{ranks:,}", f"{factor:.3f} x", show_seconds(small), show_seconds(large)

    return Table(
        "Ring all-reduce",
        "communication",
        ("ranks", "sent by each", "1 GB", "bf16 gradients of a 70B, by network"),
        tuple(row(ranks) for ranks in (2, 8, 64, 1024)),
        "bytes = 2 (n - 1)/n x size; time = bytes / rate + 2 (n - 1) latencies. 1 GB over NVLink 4 up to 8 ranks, "
        "beyond over 50 GB/s ports. Floors",
        "Thakur et al. 2005; nccl-tests, PERFORMANCE.md",
    )


def _links(unit: str) -> Table:
    base = load_links()[LINKS[-1]].bytes_per_s

    def row(name: str) -> tuple[str, ...]:
        link = load_links()[name]
        return link.name, show_rate(link.bytes_per_s, "B"), f"{digits(link.bytes_per_s / base, 2)} x"

    return Table(
        "Links, one way, a GPU",
        "communication",
        ("link", "rate", "of one NDR port"),
        tuple(row(name) for name in LINKS),
        "a data sheet's NVLink figure counts both ways; 400 Gbit/s are 50 GB/s",
        "vendors' data sheets",
    )


def _bubble(unit: str) -> Table:
    def row(micro: int) -> tuple[str, ...]:
        plain, halves = (pipeline_bubble(8, micro, virtual_stages=chunks) for chunks in (1, 2))
        values = (plain.of_ideal, plain.of_total, halves.of_ideal)
        return (f"{micro}", *(show_percent(float(value)) for value in values))

    return Table(
        "Bubble of 8 pipeline stages",
        "communication",
        ("micro-batches", "of the ideal time", "of the whole time", "of the ideal, 2 chunks a stage"),
        tuple(row(micro) for micro in (8, 32, 128)),
        "(p - 1)/(v m) of the ideal time; (p - 1)/(v m + p - 1) of the whole",
        "arXiv:2104.04473, section 2.2",
    )


def _flops(unit: str) -> Table:
    model = _model()
    count = count_params(model)
    token = float(train_flops_per_token(model, CONTEXT, causal=True))
    tokens, gpus, used = 1e12, 1024, 0.4
    days = token * tokens / (gpus * _card().peak_flops_per_s("bf16") * used)
    ceiling = float(recompute_ceiling(model, CONTEXT, causal=True))
    return Table(
        "FLOPs of Llama 3.1 70B",
        "bottleneck",
        ("what", "number"),
        (
            (
                f"training, a token of {CONTEXT:,} (causal)",
                f"{digits(token / 1e9)} GFLOP = {token / count.total:.3g} x parameters",
            ),
            ("forward alone", f"a third of it: {digits(token / 3e9)} GFLOP"),
            ("HFU over MFU, everything recomputed", f"{ceiling:.3f}; never above 4/3 = {4 / 3:.3f}"),
            (f"1T tokens on 1,024 H100 at MFU {used:.0%}", show_seconds(days)),
        ),
        "6 x parameters + attention; 8 x with everything recomputed; time = FLOPs / (GPUs x peak x MFU)",
        "arXiv:2204.02311, appendix B; arXiv:2104.04473, equation 3",
    )


def _scores(unit: str) -> Table:
    def row(tokens: int) -> tuple[str, ...]:
        return f"{tokens:,}", show_bytes(float(score_bytes(tokens)), unit), show_bytes(2.0 * 2 * tokens * 128, unit)

    return Table(
        "One head's scores, if they were written out",
        "attention",
        ("tokens", "scores, 16 bits", "its keys and values"),
        tuple(row(tokens) for tokens in (4096, 8192, 65_536)),
        "2 n^2 bytes a head and sequence: the size. An unfused forward pass moves it 4 times, a tiled one never",
        "arXiv:2205.14135, algorithms 0 and 1; heads of 128",
    )


def _units(unit: str) -> Table:
    card = _card()
    return Table(
        "GB or GiB",
        "partition",
        ("what", "number"),
        (
            ("1 GiB", f"{GIB / GB:.4f} GB"),
            (
                f"{card.name}, sold as {card.hbm_label}",
                f"{card.hbm_bytes / GB:.1f} GB = {card.hbm_bytes / GIB:.1f} GiB",
            ),
        ),
        "GB = 10^9 bytes: papers, rates. GiB = 2^30 bytes: drivers, allocators",
        "IEC 80000-13; the driver's total",
    )


_TABLES: tuple[Callable[[str], Table], ...] = (
    _states,
    _zero,
    _cards,
    _kv,
    _weights,
    _decode,
    _ring,
    _links,
    _bubble,
    _flops,
    _scores,
    _units,
)
