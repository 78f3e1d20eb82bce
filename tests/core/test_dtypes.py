"""What an element occupies, against the formats' own specifications."""

import pytest

from core.dtypes import DTYPES, bytes_per_element


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        ("fp32", 32),
        ("bf16", 16),
        ("fp16", 16),
        ("fp8", 8),
        ("int4", 4),
        # OCP Microscaling Formats 1.0, table 1: blocks of 32, one E8M0 scale of 8 bits.
        ("mxfp8", (32 * 8 + 8) / 32),
        ("mxfp6", (32 * 6 + 8) / 32),
        ("mxfp4", 4.25),
        # NVIDIA: 16 values share one 8-bit scale.
        ("nvfp4", 4.5),
        # 128 weights of 4 bits, a scale and a zero point of 16 bits: 68 bytes.
        ("int4-g128", 8 * 68 / 128),
        # Dettmers et al. 2023, section 3: double quantization brings 0.5 bits of constants down to 0.127.
        ("nf4", 4.127),
    ],
)
def test_bits_of_an_element_with_its_share_of_the_scale(dtype, bits):
    assert bytes_per_element(dtype) * 8 == pytest.approx(bits, abs=5e-4)


# The source documents say 37 GB for 70B weights in grouped 4 bits.
def test_70b_in_grouped_4_bit_is_37_gb():
    assert 70e9 * bytes_per_element("int4-g128") == pytest.approx(37.2e9, abs=0.05e9)


# openai/gpt-oss-120b, model card: 4.25 bits a parameter let the MoE weights fit on one 80 GB GPU.
def test_gpt_oss_experts_fit_one_gpu_in_mxfp4():
    experts = 36 * 128 * 3 * 2880 * 2880
    assert experts * bytes_per_element("mxfp4") == pytest.approx(60.9e9, abs=0.05e9)


def test_every_block_format_says_where_its_block_is_printed():
    assert all(dtype.source for dtype in DTYPES.values() if dtype.block_size > 1)
    assert all(DTYPES[name].name == name for name in DTYPES)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"dtype='fp5' is not a known number format; choose one of .*'mxfp4'"):
        bytes_per_element("fp5")
