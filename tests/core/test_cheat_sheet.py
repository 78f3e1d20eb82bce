"""The sheet's numbers are the published ones, or the same quantity counted by hand."""

from __future__ import annotations

import pytest

from core.cheat_sheet import tables

GB_SHEET = {table.title: table for table in tables("GB")}
TABLES = [*GB_SHEET.values()]


def cell(title: str, row: str, column: str) -> str:
    table = GB_SHEET[title]
    (found,) = [line for line in table.rows if line[0] == row]
    return found[table.head.index(column)]


# Title, row, column, value, and where it is printed or how it is counted.
KNOWN = [
    # Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1.
    ("Model states in training", "Adam, 16-bit gradients", "bytes a parameter", "2 + 2 + 12 = 16"),
    # 70,553,706,496 parameters of Meta's checkpoint x 16.
    ("Model states in training", "Adam, 16-bit gradients", "Llama 3.1 70B", "1,129 GB"),
    # (4 + 12/8) / 16, (2 + 14/64) / 16, 1/64.
    ("What ZeRO leaves on a GPU", "ZeRO-1", "of 8 ranks", "34.4%"),
    ("What ZeRO leaves on a GPU", "ZeRO-2", "of 64", "13.9%"),
    ("What ZeRO leaves on a GPU", "ZeRO-3", "of 64", "1.56%"),
    # ZeRO, section 7: stages up to 2 send as much as plain data parallelism, stage 3 half as much again.
    ("What ZeRO leaves on a GPU", "ZeRO-2", "elements sent", "2 P"),
    ("What ZeRO leaves on a GPU", "ZeRO-3", "elements sent", "3 P"),
    # Data sheets: 989.4 / 3.35, 312 / 2.039, 989.4 / 4.8.
    ("Accelerators: peak, memory, ridge", "H100 SXM", "ridge", "295 FLOP/B"),
    ("Accelerators: peak, memory, ridge", "A100 SXM 80GB", "ridge", "153 FLOP/B"),
    ("Accelerators: peak, memory, ridge", "H200 SXM", "ridge", "206 FLOP/B"),
    # 2 x 80 x 8 x 128 x 2; 2 x 96 x 96 x 128 x 2; 61 x (512 + 64) x 2.
    ("KV cache in 16 bits", "Llama 3.1 70B", "a token", "327,680 B"),
    ("KV cache in 16 bits", "GPT-3 175B", "a token", "4,718,592 B"),
    ("KV cache in 16 bits", "DeepSeek-V3", "a token", "70,272 B"),
    # 2 (n - 1) / n.
    ("Ring all-reduce", "8", "sent by each", "1.750 x"),
    ("Ring all-reduce", "1,024", "sent by each", "1.998 x"),
    # 7/8, 7/39, 7/64.
    ("Bubble of 8 pipeline stages", "8", "of the ideal time", "87.5%"),
    ("Bubble of 8 pipeline stages", "32", "of the whole time", "17.9%"),
    ("Bubble of 8 pipeline stages", "32", "of the ideal, 2 chunks a stage", "10.9%"),
    # 2 x 65,536^2: a size, not a traffic.
    ("One head's scores, if they were written out", "65,536", "scores, 16 bits", "8.59 GB"),
    # NVIDIA: 900 GB/s both ways.
    ("Links, one way, a GPU", "NVLink 4", "rate", "450 GB/s"),
    ("GB or GiB", "1 GiB", "number", "1.0737 GB"),
    ("GB or GiB", "H100 SXM, sold as 80 GB", "number", "85.5 GB = 79.6 GiB"),
]


@pytest.mark.parametrize(("title", "row", "column", "value"), KNOWN)
def test_the_number_is_the_known_one(title, row, column, value):
    assert cell(title, row, column) == value


# 2 bytes of all weights but the looked-up embedding, and 4,096 tokens of cache, over 8 x 3.35 TB/s.
def test_the_decode_floor_is_bytes_over_bandwidth():
    embedding = 128_256 * 8192
    seconds = (2 * (70_553_706_496 - embedding) + 4096 * 327_680) / (8 * 3.35e12)
    assert cell("Floors of Llama 3.1 70B in bf16", "8 x H100 SXM", "a token, batch 1") == f"{1e3 * seconds:.2f} ms"


def test_the_time_of_a_run_is_flops_over_what_the_gpus_do():
    (row,) = [row for row in GB_SHEET["FLOPs of Llama 3.1 70B"].rows if row[0].startswith("1T tokens")]
    days = 433.3e9 * 1e12 / (1024 * 989.4e12 * 0.4) / 86_400
    assert row[1] == f"{days:.1f} days"


def test_the_recompute_ceiling_is_just_below_four_thirds():
    (row,) = [row for row in GB_SHEET["FLOPs of Llama 3.1 70B"].rows if row[0].startswith("HFU")]
    assert 1.3 < float(row[1].split(";")[0]) < 4 / 3


@pytest.mark.parametrize("table", TABLES, ids=GB_SHEET)
def test_every_row_fills_its_columns_and_every_table_says_where_it_is_from(table):
    assert {len(row) for row in table.rows} == {len(table.head)}
    assert all(all(row) for row in table.rows)
    assert table.formula
    assert table.source


def test_memory_follows_the_unit():
    sheet = {table.title: table for table in tables("GiB")}
    (row,) = [row for row in sheet["Weights alone"].rows if row[0] == "bf16"]
    assert row[2] == f"{2 * 70_553_706_496 / 2**30:.0f} GiB"
