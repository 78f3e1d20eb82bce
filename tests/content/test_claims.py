"""The claims that ship: spread over topics and verdicts, and each number in a reason worked out by the core."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from core.cards.claim import ClaimCard
from core.cards.library import CONTENT, load_cards, read_bank
from core.collectives import bytes_per_rank
from core.float_formats import FLOAT_FORMATS
from core.hardware import load_accelerators
from core.kv_cache import kv_bytes_per_token
from core.model_spec import load_models
from core.parallelism import pipeline_bubble
from core.reliability import young_interval_s
from core.roofline import ridge_point
from core.serving import expected_speculative_tokens
from core.units import GB
from core.zero import zero_memory

CLAIMS = {card.id: card for card in load_cards().values() if isinstance(card, ClaimCard)}
H100 = load_accelerators()["h100-sxm"]
LLAMA_70B = load_models()["meta-llama/Llama-3.1-70B"]


def text(claim_id: str) -> str:
    model = CLAIMS[claim_id].model
    return " ".join([model.claim, model.because, model.when or "", model.say])


def total(ranks: float, stage: int) -> float:
    return float(zero_memory(1.0, ranks, stage=stage).total_bytes)


def test_there_are_claims_on_every_topic():
    assert len(CLAIMS) >= 24
    assert {card.topic for card in CLAIMS.values()} == set(read_bank(CONTENT).topics)


def test_no_verdict_is_a_safe_guess():
    counts = Counter(card.model.verdict for card in CLAIMS.values())
    assert max(counts.values()) / len(CLAIMS) < 0.5
    assert min(counts.values()) / len(CLAIMS) > 0.2


@pytest.mark.parametrize("card", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_is_a_sentence_and_so_is_what_to_say(card: ClaimCard):
    for sentence in (card.model.claim, card.model.say, *([card.model.when] if card.model.when else [])):
        assert sentence.endswith(".")
        assert len(sentence.split()) <= 40
    assert card.model.claim.lower() != card.model.say.lower()


def bytes_of_four_bits(scale_bits: float) -> str:
    return f"{70e9 * (4 + scale_bits / 128) / 8 / GB:.1f} GB"


NUMBERS = {
    "c-bottleneck-recompute": lambda: [f"{35 * 4 / 3:.1f}%"],
    "c-bottleneck-memory-bound": lambda: [f"{float(ridge_point(H100, 'bf16')):.0f} FLOP/B"],
    "c-bottleneck-amdahl": lambda: [f"{1 / (1 - 0.3):.2f}"],
    "c-hardware-sparse": lambda: [f"{H100.peak_flops_per_s('bf16') / 1e12:.0f} TFLOP/s"],
    "c-hardware-aggregate": lambda: [
        f"{4 * H100.hbm_bytes_per_s / 1e12:.1f} TB/s",
        f"{1e3 * 140e9 / (4 * H100.hbm_bytes_per_s):.1f} ms",
        f"need {1e3 * 140e9 / H100.hbm_bytes_per_s:.0f}",
    ],
    "c-training-memory-zero1": lambda: [
        f"{total(1, 0) / total(2, 1):.1f} on 2 GPUs",
        f"{total(1, 0) / total(8, 1):.1f} on 8",
        f"{total(1, 0) / total(64, 1):.1f} on 64",
    ],
    "c-parallelism-bubble": lambda: [
        f"{float(pipeline_bubble(8, 25).of_total):.0%} of the step with 25",
        f"{float(pipeline_bubble(8, 100).of_total):.1%} with 100",
    ],
    "c-parallelism-megatron": lambda: [f"{163 / 312:.0%}", f"{163 / 312 * 3 / 4:.0%}"],
    "c-communication-ring": lambda: [
        f"{float(bytes_per_rank('all_reduce', 1.0, 8)):.2f} of it with 8",
        f"{float(bytes_per_rank('all_reduce', 1.0, 64)):.2f} with 64",
    ],
    "c-attention-kernels-traffic": lambda: [f"{2 * 8192**2 / 1e6:.0f} MB", f"{4 * 2 * 8192**2 / 1e6:.0f} MB"],
    "c-precision-four-bits": lambda: [bytes_of_four_bits(16), bytes_of_four_bits(32)],
    "c-precision-linear-rule": lambda: [f"{np.sqrt(2):.2f} times"],
    "c-kv-cache-gqa": lambda: [
        f"{float(kv_bytes_per_token(LLAMA_70B, 4096)) / 1e6:.2f} MB",
        f"{8 * float(kv_bytes_per_token(LLAMA_70B, 4096)) / 1e6:.1f} MB",
    ],
    "c-kv-cache-eight-bits": lambda: [
        f"{4096 * float(kv_bytes_per_token(LLAMA_70B, 4096)) / GB:.1f} GB",
        f"{(1.342 / 2) / 141.342:.1%}",
    ],
    "c-serving-phases": lambda: [f"{float(ridge_point(H100, 'bf16')):.0f} tokens"],
    "c-serving-speculation": lambda: [
        f"{float(expected_speculative_tokens(0.8, 4)):.1f} that stay",
        f"{float(expected_speculative_tokens(0.8, 4)) / (5 + 4 * 0.05):.2f} of the speed",
    ],
    "c-serving-batch": lambda: [f"{32 * 1.342:.0f} GB", f"{32 * 141.342 / (140 + 32 * 1.342):.1f} times"],
    "c-moe-rl-reads": lambda: [f"{1 - (1 - 8 / 256) ** 64:.0%}"],
    "c-moe-rl-flops": lambda: [f"{2 * 37} GFLOP"],
    "c-reliability-data-often": lambda: [
        f"{54 * 24 / 419:.1f} hours",
        f"{float(young_interval_s(60, 54 * 86_400 / 419)) / 60:.0f} minutes",
    ],
    "c-product-cost-tail": lambda: [f"{1 - 0.99**100:.0%}"],
    "c-product-cost-cascade": lambda: [f"{0.1 + 0.5:.1f} of the cost"],
}


@pytest.mark.parametrize("claim_id", NUMBERS)
def test_numbers_in_a_reason_come_out_of_the_core(claim_id: str):
    said = text(claim_id)
    assert [number for number in NUMBERS[claim_id]() if number not in said] == []


def test_four_times_the_failures_halve_the_interval():
    assert CLAIMS["c-reliability-data-four"].model.verdict == "true"
    assert float(young_interval_s(60, 1e4) / young_interval_s(60, 4e4)) == pytest.approx(0.5)


def test_formats_are_as_the_claims_on_precision_say():
    bf16, fp16 = FLOAT_FORMATS["bf16"], FLOAT_FORMATS["fp16"]
    assert (bf16.mantissa_bits, fp16.mantissa_bits) == (7, 10)
    assert "7 stored mantissa bits against 10" in text("c-precision-bf16-digits")
    assert "8 exponent bits" in text("c-precision-needs-scaling")
    assert bf16.exponent_bits == 8
