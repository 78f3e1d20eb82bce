import math
import re
from datetime import date

import pytest
from pydantic import ValidationError

from core import hardware
from core.hardware import CUSTOM_ID, PEAK_DTYPES, Accelerator, Link, load_accelerators, load_links
from core.units import GB, GIB, MIB, TB, TFLOP

ACCELERATORS = load_accelerators()
LINKS = load_links()
H100 = ACCELERATORS["h100-sxm"]
every_accelerator = pytest.mark.parametrize("accelerator", ACCELERATORS.values(), ids=ACCELERATORS.keys())
every_link = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS.keys())


@pytest.mark.parametrize("row", [*ACCELERATORS.values(), *LINKS.values()], ids=[*ACCELERATORS, *LINKS])
def test_every_row_says_where_it_is_from_and_when_it_was_checked(row):
    assert len(row.source) > 10
    assert date(2026, 1, 1) <= row.checked
    assert row.id != CUSTOM_ID


# Dense bf16 as sheets and their correctors print it; the sparse figure doubles it. H100 and H200 sheets: 1979, 1513 and
# 1671 "with sparsity". qoofyk/LLM_Sizing_Guide #3, meta-pytorch/tritonbench #78, allenai/OLMo-core PR #614,
# stas00/ml-engineering #100 are catalogs that mixed the two.
@pytest.mark.parametrize(
    ("id_", "dense_tflops"),
    [
        ("h100-sxm", 989.4),
        ("h200-sxm", 989.4),
        ("gh200-96gb", 989.4),
        ("h100-pcie", 756.5),
        ("h100-nvl", 835.5),
        ("a100-sxm-80gb", 312),
        ("b200-sxm", 2250),
        ("gb200", 2500),
        ("mi300x", 1307.4),
        ("rtx-4090", 165.2),
        ("rtx-3090", 71),
    ],
)
def test_the_bf16_peak_is_the_dense_one(id_, dense_tflops):
    assert ACCELERATORS[id_].peak_flops_per_s("bf16") == pytest.approx(dense_tflops * TFLOP, rel=1e-12)


# Counted from the silicon: SMs x FLOP per clock x GHz of the matrix units, FP32 accumulation.
@pytest.mark.parametrize(
    ("id_", "num_sms", "flops_per_clock", "ghz"),
    [
        ("h100-sxm", 132, 4096, 1.830),
        ("h100-pcie", 114, 4096, 1.620),
        ("a100-sxm-80gb", 108, 2048, 1.410),
        ("rtx-3090", 82, 512, 1.695),
        ("rtx-4090", 128, 512, 2.520),
        ("rtx-pro-6000-workstation", 188, 1024, 2.617),
        ("rtx-pro-6000-server", 188, 1024, 2.430),
        ("mi300x", 304, 2048, 2.100),
        ("mi355x", 256, 4096, 2.400),
        ("mi350x", 256, 4096, 2.200),
    ],
)
def test_the_16_bit_peak_is_what_the_units_and_the_clock_give(id_, num_sms, flops_per_clock, ghz):
    accelerator = ACCELERATORS[id_]
    assert accelerator.num_sms == num_sms
    assert accelerator.peak_flops_per_s("bf16") == pytest.approx(num_sms * flops_per_clock * ghz * 1e9, rel=0.003)


@pytest.mark.parametrize(("id_", "ridge"), [("h100-sxm", 295), ("a100-sxm-80gb", 153), ("h200-sxm", 206)])
def test_the_bf16_ridge_is_where_the_field_puts_it(id_, ridge):
    accelerator = ACCELERATORS[id_]
    assert accelerator.peak_flops_per_s("bf16") / accelerator.hbm_bytes_per_s == pytest.approx(ridge, abs=0.5)


@every_accelerator
def test_formats_of_one_accelerator_keep_their_ratios(accelerator):
    bf16, fp16 = accelerator.bf16_flops_per_s, accelerator.fp16_flops_per_s
    if bf16 and fp16:
        assert bf16 == fp16
    if bf16 and accelerator.tf32_flops_per_s and accelerator.vendor == "NVIDIA":
        # B200's 2.2 PFLOP/s on the sheet is rounded; L40S prints 183 beside 362.05
        assert accelerator.tf32_flops_per_s / bf16 == pytest.approx(0.5, rel=0.03)
    if bf16 and accelerator.fp8_flops_per_s:
        # none on v5p and v6e, one rate on Gaudi 3; Trainium 3 and Rubin widen their narrow units instead
        ratio = accelerator.fp8_flops_per_s / bf16
        if accelerator.id in ("tpu-v5p", "tpu-v6e", "gaudi-3"):
            assert ratio == 1
        elif accelerator.id not in ("trainium-3", "rubin"):
            assert ratio == pytest.approx(2, rel=0.03)


@every_accelerator
def test_the_driver_reports_no_more_than_the_label_in_gib(accelerator):
    number, unit = accelerator.hbm_label.split()
    assert unit in ("GB", "GiB")
    assert accelerator.hbm_label_bytes == float(number) * GIB
    assert accelerator.hbm_bytes <= accelerator.hbm_label_bytes
    # ECC on GDDR6 takes a sixteenth of L4, L40S and T4; B300 holds the most back
    assert accelerator.hbm_bytes > 0.92 * accelerator.hbm_label_bytes


# nvidia-smi totals. [MiB]
@pytest.mark.parametrize(
    ("id_", "mib"),
    [("h100-sxm", 81_559), ("a100-sxm-80gb", 81_157), ("h200-sxm", 143_771), ("b200-sxm", 183_359), ("gb300", 284_208)],
)
def test_capacity_is_the_drivers_total_where_one_is_known(id_, mib):
    assert ACCELERATORS[id_].hbm_bytes_basis == "driver"
    assert ACCELERATORS[id_].hbm_bytes == mib * MIB


def test_eighty_gigabytes_on_the_label_are_neither_80_gb_nor_80_gib():
    assert 80 * GB < H100.hbm_bytes < 80 * GIB


@every_accelerator
def test_a_scale_up_rate_is_that_of_the_link_it_names(accelerator):
    if accelerator.scale_up_link is None:
        return
    link = LINKS[accelerator.scale_up_link]
    assert accelerator.scale_up_bytes_per_s == link.bytes_per_s
    if accelerator.scale_up_domain and link.max_domain:
        assert accelerator.scale_up_domain <= link.max_domain


@every_link
def test_a_link_is_at_most_the_sum_of_its_parts(link):
    if link.num_links and link.bytes_per_s_per_peer and link.kind == "mesh":
        assert link.num_links * link.bytes_per_s_per_peer == pytest.approx(link.bytes_per_s)
    if link.latency_s and link.bulk_latency_s:
        assert link.latency_s < link.bulk_latency_s


# Printed both ways: NVLink 4 900 GB/s, NVLink 5 1.8 TB/s; InfiniBand NDR 400 Gb/s each way.
@pytest.mark.parametrize(
    ("id_", "one_way"),
    [("nvlink-4", 450 * GB), ("nvlink-5", 0.9 * TB), ("infiniband-ndr", 50 * GB), ("pcie-5-x16", 64 * GB)],
)
def test_link_rates_are_one_way_and_in_bytes(id_, one_way):
    assert LINKS[id_].bytes_per_s == pytest.approx(one_way)


@every_accelerator
@pytest.mark.parametrize("dtype", PEAK_DTYPES)
def test_a_peak_is_a_positive_number_or_missing_and_says_so(accelerator, dtype):
    if dtype in accelerator.peak_dtypes:
        assert 1 * TFLOP < accelerator.peak_flops_per_s(dtype) < math.inf
    else:
        assert getattr(accelerator, f"{dtype}_flops_per_s") is None
        with pytest.raises(ValueError, match=re.escape(accelerator.id)):
            accelerator.peak_flops_per_s(dtype)


@pytest.mark.parametrize("id_", ["v100-sxm2-32gb", "v100-pcie-32gb", "t4"])
def test_cards_before_ampere_have_no_bf16_and_point_to_fp16(id_):
    assert ACCELERATORS[id_].half_dtype == "fp16"
    with pytest.raises(ValueError, match=r"has no bf16 peak; its 16-bit matrix format is fp16"):
        ACCELERATORS[id_].peak_flops_per_s("bf16")


def test_hopper_has_no_fp4_and_lists_what_it_has():
    with pytest.raises(
        ValueError, match=r"H100 SXM \(h100-sxm\) has no fp4 peak; choose one of \['fp32', 'tf32', 'bf16'"
    ):
        H100.peak_flops_per_s("fp4")


def test_a_storage_format_is_not_a_compute_format():
    with pytest.raises(ValueError, match=r"dtype='nf4' is not a compute format; choose one of"):
        H100.peak_flops_per_s("nf4")


def test_a_machine_without_any_confirmed_peak_keeps_its_capacity_and_bandwidth():
    apple = ACCELERATORS["apple-m4-max"]
    assert apple.half_dtype is None
    assert apple.hbm_bytes_per_s == 546 * GB
    with pytest.raises(ValueError, match="use its capacity and bandwidth only"):
        apple.peak_flops_per_s("bf16")


def test_announced_hardware_is_marked():
    assert ACCELERATORS["rubin"].status == "announced"
    assert LINKS["nvlink-6"].status == "announced"


@every_accelerator
def test_edited_rows_are_marked_and_lose_no_other_number(accelerator):
    edited = accelerator.edited(hbm_bytes_per_s=1.5 * TB)
    assert (edited.id, edited.name) == (CUSTOM_ID, f"{accelerator.name} (edited)")
    assert edited.source.startswith("edited by hand: hbm_bytes_per_s; the rest from ")
    assert edited.hbm_bytes_per_s == 1.5 * TB
    assert "hbm_bytes_per_s" not in edited.unverified_fields
    marks = {"id", "name", "source", "hbm_bytes_per_s", "unverified_fields"}
    assert edited.model_dump(exclude=marks) == accelerator.model_dump(exclude=marks)


def test_an_edit_that_changes_nothing_gives_the_row_itself():
    assert H100.edited(hbm_bytes_per_s=H100.hbm_bytes_per_s) is H100


def test_editing_twice_marks_the_name_once():
    assert H100.edited(tdp_w=500).edited(num_sms=100).name == "H100 SXM (edited)"


def test_an_edited_number_drops_what_was_printed_beside_it():
    bigger = H100.edited(hbm_bytes=200 * GIB)
    assert (bigger.hbm_bytes_basis, bigger.hbm_label, bigger.hbm_label_bytes) == ("edited by hand", None, None)
    assert H100.edited(scale_up_bytes_per_s=1 * GB).scale_up_link is None
    slower = LINKS["nvlink-4"].edited(bytes_per_s=100 * GB)
    assert (slower.id, slower.effective_bytes_per_s) == (CUSTOM_ID, None)
    assert LINKS["nvlink-6"].edited(latency_s=1e-6).latency_source == "edited by hand"


def test_a_peak_can_be_taken_away():
    assert "fp8" not in H100.edited(fp8_flops_per_s=None).peak_dtypes


@pytest.mark.parametrize(
    "changes",
    [
        {"hbm_bytes": 0},
        {"hbm_bytes": -1},
        {"hbm_bytes_per_s": 0.0},
        {"hbm_bytes_per_s": math.inf},
        {"bf16_flops_per_s": math.nan},
        {"bf16_flops_per_s": 0},
        {"num_sms": 1.5},
        {"status": "rumoured"},
        {"source_url": "http://example.com"},
        {"sparse_bf16_flops_per_s": 1979e12},
        {"scale_up_link": "nvlink-99"},
        {"scale_up_link": "nvlink-5"},
        {"hbm_label_bytes": 80 * GB},
        {"hbm_label": None},
        {"unverified_fields": ("fp4_flops_per_s",)},
    ],
)
def test_a_wrong_value_is_refused(changes):
    with pytest.raises(ValidationError):
        H100.edited(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"bytes_per_s": 0},
        {"latency_s": -1e-6},
        {"kind": "telepathy"},
        {"gbps": 400},
        {"effective_bytes_per_s": 451 * GB},
    ],
)
def test_a_wrong_link_is_refused(changes):
    with pytest.raises(ValidationError):
        LINKS["nvlink-4"].edited(**changes)


def test_a_latency_needs_its_source():
    with pytest.raises(ValidationError, match="latency_source"):
        Link.model_validate(LINKS["nvlink-4"].model_dump() | {"latency_source": None})


def test_a_misspelt_field_is_refused():
    with pytest.raises(ValidationError, match="hbm_gb"):
        Accelerator.model_validate(H100.model_dump() | {"hbm_gb": 80})


def test_rows_are_frozen_and_hashable_and_a_caller_cannot_spoil_the_catalog():
    with pytest.raises(ValidationError):
        H100.hbm_bytes = 1
    assert len({*ACCELERATORS.values()}) == len(ACCELERATORS)
    load_accelerators().clear()
    assert load_accelerators()["h100-sxm"] is H100


def test_two_rows_with_one_id_are_refused(tmp_path, monkeypatch):
    row = LINKS["nvlink-4"].model_dump_json()
    (tmp_path / "links.json").write_text(f"[{row}, {row}]")
    monkeypatch.setattr(hardware, "CATALOG", tmp_path)
    with pytest.raises(ValueError, match="'nvlink-4' is taken"):
        hardware._links.__wrapped__()


@pytest.mark.parametrize(
    ("field", "value"), [("hbm_bytes_per_s", 1e25), ("hbm_bytes_per_s", 1e-3), ("bf16_flops_per_s", 1e300)]
)
def test_a_rate_that_no_page_could_write_out_is_refused(field, value):
    with pytest.raises(ValidationError, match=field):
        load_accelerators()["h100-sxm"].edited(**{field: value})


def test_a_latency_lies_between_a_picosecond_and_an_hour():
    link = load_links()["nvlink-4"]
    for wrong in (1e-15, 1e6):
        with pytest.raises(ValidationError, match="latency_s"):
            link.edited(latency_s=wrong)
    assert link.edited(latency_s=1e-12).latency_s == 1e-12
