"""Our own benchmark's result as a profile: each kind in its table, steps never read, and predicted from the kernels."""

import copy

import numpy as np
import pytest
from pydantic import ValidationError

from core.hardware import load_accelerators
from core.measured_curves import products_over_rows
from core.measured_estimate import measured_decode, measured_prefill
from core.measured_profile import Profile, load_profile
from core.microbench.attention import PRODUCTS
from core.microbench.recorded import recorded
from core.microbench.result import Result
from core.microbench.shapes import SHAPES
from core.microbench.vector import widths
from core.model_spec import load_models
from core.own_profile import card_of, join, profile_of

# A machine whose kernels take a start and then the longer of two rates, so that every time is known.
START, FLOPS, BYTES = 3e-6, 700e12, 4e12
LLAMA = SHAPES[0]
ROWS, BATCHES, CONTEXTS, LENGTHS = (
    [2**i for i in range(14)],
    (1, 4, 16, 64, 256),
    (512, 2048, 8192, 32768),
    (512, 2048, 8192),
)
SYSTEM = {
    "device": "cuda",
    "name": "NVIDIA H200",
    "count": 1,
    "capability": "9.0",
    "num_sms": 132,
    "memory_bytes": 150_000_000_000,
    "free_bytes": 149_000_000_000,
    "cache_bytes": 52_428_800,
    "is_slice": False,
    "driver": "580.65",
    "power_limit_w": 700.0,
    "max_clock_hz": 1.98e9,
    "torch": "2.11.0",
    "cuda": "13.0",
    "rocm": None,
    "nccl": "2.29.2",
    "python": "3.11.9",
    "os": "Linux 6.8",
    "machine": "x86_64",
    "cpu_count": 16,
    "cpu_threads": 16,
}
RUN = {
    "set": "full",
    "command": "python -m core.microbench",
    "started": "2026-11-30T01:00:00Z",
    "seconds": 300.0,
    "commit": None,
    "code_sha256": "0" * 64,
    "dtype": "bf16",
    "ranks": 1,
    "models": [LLAMA.as_dict()],
}


def takes(flops, num_bytes):
    return START + max(flops / FLOPS, num_bytes / BYTES)


def product_s(m, n, k):
    return takes(2 * m * n * k, 2 * (n * k + m * (n + k)))


def decode_attention_s(batch, context):
    heads, kv_heads, width = LLAMA.num_heads, LLAMA.num_kv_heads, LLAMA.head_dim
    return takes(4 * batch * heads * context * width, 4 * batch * kv_heads * width * context)


def prefill_attention_s(length, *, direction="forward"):
    passes = PRODUCTS[direction, True] / 2
    return takes(passes * 2 * LLAMA.num_heads * length**2 * LLAMA.head_dim, 0)


def vector_s(op, tokens):
    return takes(0, 2 * tokens * sum(widths(LLAMA)[op]))


def timed(kind, seconds, **settings):
    time = {"median_s": seconds, "p10_s": seconds, "p90_s": seconds, "samples": 9, "calls": 3, "method": "events"}
    return {"kind": kind, **settings, "time": time}


def step_s(batch, tokens, attention):
    """A layer's kernels, one after the other: as core.microbench.layer runs them."""
    products = sum(product_s(batch * tokens, n, k) for n, k in LLAMA.matrices.values())
    vectors = 2 * vector_s("norm", batch * tokens) + 2 * vector_s("add", batch * tokens)
    return products + attention + vectors + vector_s("heads", batch * tokens) + vector_s("swiglu", batch * tokens)


def document():
    heads = {"num_heads": 32, "num_kv_heads": 8, "head_dim": 128, "dtype": "bf16"}
    found = [
        timed("matmul", product_s(m, n, k), n=n, k=k, m=m, dtype="bf16", role="forward")
        for n, k in LLAMA.matrices.values()
        for m in ROWS
    ]
    found += [
        timed("matmul", 1.5 * product_s(m, k, n), n=n, k=k, m=m, dtype="bf16", role="input_gradient")
        for n, k in LLAMA.matrices.values()
        for m in (2048, 8192)
    ]
    found += [
        timed("attention_decode", decode_attention_s(b, c), batch=b, context=c, **heads)
        for b in BATCHES
        for c in CONTEXTS
    ]
    found += [
        timed(
            "attention",
            (9 if variant == "unfused" else 1) * prefill_attention_s(n, direction=direction),
            variant=variant,
            direction=direction,
            batch=1,
            seq_len=n,
            **heads,
        )
        for n in LENGTHS
        for direction in ("forward", "training")
        for variant in ("fused", "unfused")
    ]
    found += [
        {
            **timed("vector", vector_s(op, t), op=op, direction="forward", model=LLAMA.model, tokens=t, dtype="bf16"),
            "bytes": 2.0 * t * sum(widths(LLAMA)[op]),
        }
        for op in widths(LLAMA)
        for t in (1, 16, 256, 2048, 16384)
    ]
    found += [
        {**timed("copy", 2 * size / BYTES, op="copy", buffer_bytes=size), "bytes": 2.0 * size}
        for size in (2**20, 2**32)
    ]
    found += [timed("launch", 9e-6, mode="eager"), timed("launch", 1.2e-6, mode="graph")]
    found += [
        timed(
            "collective",
            (1 if mode == "eager" else 2) * (8e-6 + size / 300e9),
            op="all_reduce",
            ranks=2,
            backend="nccl",
            mode=mode,
            tensor_bytes=size,
            dtype="bf16",
        )
        for size in (4096, 2**20, 2**28)
        for mode in ("eager", "graph")
    ]
    found += [
        timed(
            "step",
            step_s(b, 1, decode_attention_s(b, c)) + vector_s("append", b),
            phase="decode",
            model=LLAMA.model,
            batch=b,
            seq_len=c,
            mode="graph",
            dtype="bf16",
            weight_bytes=2 * LLAMA.num_weights,
        )
        for b in (1, 8, 32, 128)
        for c in (1024, 4096, 16384)
    ]
    return {
        "format": "microbench/1",
        "status": "complete",
        "stopped": None,
        "run": RUN,
        "system": SYSTEM,
        "notes": [],
        "measurements": found,
        "skipped": [],
    }


DOCUMENT = Result.model_validate(document()).model_dump()
PROFILE = profile_of(DOCUMENT)
MODEL = load_models()["meta-llama/Llama-3.1-8B"]


def test_products_attention_and_messages_are_read_as_they_were_measured():
    assert PROFILE.matmul_s(64, 6144, 4096).seconds == pytest.approx(product_s(64, 6144, 4096))
    gradient = PROFILE.matmul_s(2048, 6144, 4096, role="input_gradient")
    assert gradient.seconds == pytest.approx(1.5 * product_s(2048, 4096, 6144))
    assert gradient.inside
    # The new token is among the context, and not among what is cached before it.
    heads = {"heads": 32, "kv_heads": 8}
    assert PROFILE.attention_s("decode", 16, 2047, **heads).seconds == pytest.approx(decode_attention_s(16, 2048))
    assert PROFILE.attention_s("prefill", 1, 2048, **heads).seconds == pytest.approx(prefill_attention_s(2048))
    both = PROFILE.attention_s("training", 1, 2048, **heads)
    assert both.seconds == pytest.approx(prefill_attention_s(2048, direction="training"))
    assert PROFILE.collective_s("all_reduce", 2**20, 2).seconds == pytest.approx(8e-6 + 2**20 / 300e9)


def test_rates_launches_source_and_date_come_along():
    file = PROFILE.file
    assert (file.memory_bytes_per_s, file.launch_s, file.graph_launch_s) == (BYTES, 9e-6, 1.2e-6)
    assert PROFILE.is_own
    assert PROFILE.accelerator.id == "h200-sxm"
    assert PROFILE.citation.startswith("measured with this app's own benchmark on NVIDIA H200; torch 2.11.0")
    assert PROFILE.citation.endswith("2026-11-30")


def test_a_layers_decode_step_is_predicted_from_its_kernels():
    steps = [one for one in DOCUMENT["measurements"] if one["kind"] == "step"]
    batch, length = (np.array([one[name] for one in steps]) for name in ("batch", "seq_len"))
    predicted = measured_decode(PROFILE, MODEL, length, batch=batch).layers_s / MODEL.num_layers
    measured = np.array([one["time"]["median_s"] for one in steps])
    assert predicted == pytest.approx(measured, rel=0.08)


def test_a_layers_prefill_is_predicted_from_its_kernels():
    for length in (1024, 4096):
        predicted = measured_prefill(PROFILE, MODEL, length).layers_s / MODEL.num_layers
        measured = step_s(1, length, prefill_attention_s(length))
        assert predicted == pytest.approx(measured + vector_s("append", length), rel=0.08)


def test_the_prediction_never_sees_a_measured_step():
    edited = copy.deepcopy(DOCUMENT)
    for one in edited["measurements"]:
        if one["kind"] == "step":
            one["time"]["median_s"] *= 1000
    assert profile_of(edited).file == PROFILE.file


def test_our_run_and_open_data_lie_over_each_other_with_the_difference_stated():
    curves = products_over_rows([load_profile("h200-sxm"), PROFILE], 4096, 4096)
    assert [curve.name for curve in curves.curves] == ["H200 SXM, open data", "H200 SXM, own run"]
    (difference,) = curves.differences
    assert (difference.low, difference.high) == (1, 8192)
    assert "H200 SXM, own run takes" in difference.in_words


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("NVIDIA H200", "h200-sxm"),
        ("NVIDIA H200 NVL", "h200-nvl"),
        ("NVIDIA H20", "h20"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"),
        ("NVIDIA GB200", "gb200"),
        ("NVIDIA B200", "b200-sxm"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA A10G", "a10g"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),
        ("AMD EPYC 7763", None),
    ],
)
def test_a_card_is_known_by_its_drivers_name(name, card):
    assert card_of(name) == card
    assert card is None or card in load_accelerators()


def test_a_card_that_the_catalog_does_not_have_keeps_its_measurements():
    unknown = DOCUMENT | {"system": DOCUMENT["system"] | {"name": "Some Accelerator 9"}}
    profile = profile_of(unknown)
    assert profile.accelerator is None
    assert profile.file.id == "own-some-accelerator-9"
    assert profile_of(unknown, accelerator="h200-sxm").accelerator.id == "h200-sxm"


def test_a_partial_run_is_marked():
    partial = DOCUMENT | {"status": "partial", "stopped": "cancelled"}
    assert profile_of(partial).file.note == "A partial run: cancelled."


def test_another_format_or_a_result_without_kernels_is_refused_in_words():
    with pytest.raises(ValueError, match="microbench/2"):
        profile_of(DOCUMENT | {"format": "microbench/2"})
    with pytest.raises(ValueError, match="run the quick or full set"):
        profile_of(DOCUMENT | {"measurements": [m for m in DOCUMENT["measurements"] if m["kind"] == "step"]})


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), 1e300, 0.0])
def test_a_hand_edited_time_is_refused(seconds):
    edited = copy.deepcopy(DOCUMENT)
    edited["measurements"][0]["time"]["median_s"] = seconds
    with pytest.raises(ValidationError):
        profile_of(edited)


def test_runs_on_one_device_join_and_no_table_mixes_them():
    full, links = (profile_of(recorded(name).model_dump()) for name in ("h200-full", "h200-x2-collectives"))
    both = join([full, links])
    assert not full.messages
    assert both.messages.keys() == links.messages.keys()
    assert both.file.matmul == full.file.matmul
    assert both.file.attention == full.file.attention
    assert both.file.vectors == full.file.vectors
    assert (both.memory_bytes_per_s, both.file.launch_s) == (full.memory_bytes_per_s, full.file.launch_s)
    assert (both.accelerator, both.citation) == (full.accelerator, full.citation)
    # The first counts: of two runs with products, the second's are not looked at.
    assert join([full, scaled(full)]).file.matmul == full.file.matmul
    assert join([scaled(full), full]).file.matmul == scaled(full).file.matmul


def scaled(profile):
    """The same run with one product fewer."""
    return Profile(profile.file.model_copy(update={"matmul": profile.file.matmul[:-1]}))


def test_other_versions_and_notes_are_kept_beside_each_other():
    full = profile_of(recorded("h200-full").model_dump())
    other = full.file.model_copy(
        update={"versions": full.file.versions | {"torch": "2.12.0"}, "note": "A partial run: cancelled."}
    )
    both = join([full, Profile(other)])
    assert both.file.versions["torch"] == "2.11.0+cu130, 2.12.0"
    assert both.file.versions["cuda"] == "13.0"
    assert both.file.note == "A partial run: cancelled."


def test_runs_on_different_devices_do_not_join():
    h200, cpu = (profile_of(recorded(name).model_dump()) for name in ("h200-full", "cpu-quick"))
    with pytest.raises(ValueError, match="runs on 'NVIDIA H200' and on 'AMD EPYC' cannot be one profile"):
        join([h200, cpu])
    with pytest.raises(ValueError, match="at least one"):
        join([])
