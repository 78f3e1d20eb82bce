"""What step 4 says was measured is what the recorded run of the same card and shape holds."""

import re
from pathlib import Path

import pytest

from core.microbench.recorded import recorded

TEXT = (Path(__file__).parents[2] / "content/steps/attention.md").read_text().partition("## Measured")[2]
H200 = recorded("h200-full")
ROUNDED = 0.05  # two digits are printed; a run recorded again moves by less
NUMBER = r"([0-9.]+)"


def said(words: str) -> list[float]:
    """The numbers of the one place in the text that reads so."""
    found = re.findall(words.replace("#", NUMBER), TEXT)
    assert len(found) == 1, words
    return [float(number) for number in ([found[0]] if isinstance(found[0], str) else found[0])]


def attention(variant: str):
    return next(
        one
        for one in H200.measurements
        if one.kind == "attention"
        and (one.variant, one.direction, one.batch, one.seq_len, one.dtype) == (variant, "forward", 1, 8192, "bf16")
        and (one.num_heads, one.num_kv_heads, one.head_dim) == (32, 8, 128)
    )


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("unfused", "unfused, with scaled and masked scores written out, # ms and # GB of extra memory"),
        ("fused", "flash kernel # ms and # GB"),
    ],
)
def test_times_and_memory_of_attention_are_the_recorded_ones(variant, words):
    one = attention(variant)
    assert said(words) == pytest.approx([one.time.median_s * 1e3, one.peak_bytes / 1e9], rel=ROUNDED)


def test_launches_are_the_recorded_ones():
    took = {one.mode: one.time.median_s * 1e6 for one in H200.measurements if one.kind == "launch"}
    told = said("launched on its own took # us, inside a CUDA graph # us")
    assert told == pytest.approx([took["eager"], took["graph"]], rel=ROUNDED)


def test_card_and_version_are_the_recorded_ones():
    assert "on one NVIDIA H200, PyTorch 2.11, bf16, forward, 8,192 tokens, 32 heads over 8 of 128" in TEXT
    assert H200.system.name == "NVIDIA H200"
    assert H200.system.torch.startswith("2.11.")
