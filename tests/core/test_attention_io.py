"""Attention traffic against the FlashAttention paper, and against the same passes counted one by one."""

import numpy as np
import pytest

from core.attention_io import extra_bytes, hbm_bytes, least_bytes, score_bytes, tile_sizes, tile_visits
from core.operators import model_operators
from core.units import GB
from tests.published_flops import holds, rows
from tests.shapes import gqa


@rows("attention_traffic")
def test_matches_the_traffic_of_the_flash_attention_paper(row):
    holds(hbm_bytes(**row["inputs"], backward=True) / GB, row)


@rows("attention_flops")
def test_matches_the_extra_flops_of_a_tiled_backward(row):
    unfused, tiled = (
        sum(
            o.flops
            for o in model_operators(gqa(24, 16, 64), "training", seq_len=1024, batch=64, fused_attention=fused)
            if o.kind == "attention"
        )
        for fused in (False, True)
    )
    holds(tiled / unfused, row)


@rows("attention_speedup")
def test_the_measured_speedup_is_below_the_ratio_of_traffic(row):
    shape = {"seq_len": 1024, "head_dim": 64, "heads": 16, "batch": 64, "backward": True}
    ratio = hbm_bytes(**shape, tiled=False, dropout=True) / hbm_bytes(**shape, tiled=True)
    measured = row["inputs"]["unfused_ms"] / row["inputs"]["tiled_ms"]
    assert measured == pytest.approx(row["expected"], abs=row["half_digit"])
    holds(ratio, row)
    assert measured < ratio


@rows("attention_memory")
def test_matches_measured_memory(row):
    holds(extra_bytes(**row["inputs"]) / GB, row)


# The size of one head's matrix, which is often taken for the traffic.
@pytest.mark.parametrize(("seq_len", "gigabytes"), [(8192, 0.134), (65_536, 8.59)])
def test_the_size_of_one_heads_scores(seq_len, gigabytes):
    assert score_bytes(seq_len) / GB == pytest.approx(gigabytes, rel=0.002)
    assert score_bytes(8192) / 2 == 67_108_864  # 67M entries


def test_unfused_traffic_is_four_passes_over_the_scores_and_more():
    moved = hbm_bytes(8192, 64, tiled=False)
    assert moved / GB == pytest.approx(0.54, abs=0.005)
    assert moved == 4 * score_bytes(8192) + 4 * 8192 * 64 * 2
    assert hbm_bytes(8192, 64, tiled=False, heads=32, batch=4) == 128 * moved


# Algorithm 3 line by line: dV = P' dO; dP = dO V'; dS = softmax backward of P, dP; dQ = dS K; dK = dS' Q.
def test_the_unfused_backward_counted_line_by_line():
    square, vector = 2 * 512 * 512, 2 * 512 * 64
    lines = [
        (square + vector) + vector,  # P and dO read, dV written
        2 * vector + square,  # dO and V read, dP written
        2 * square + square,  # P and dP read, dS written
        (square + vector) + vector,  # dS and K read, dQ written
        (square + vector) + vector,  # dS and Q read, dK written
    ]
    forward, both = (hbm_bytes(512, 64, tiled=False, backward=backward) for backward in (False, True))
    assert both - forward == sum(lines)


# Algorithm 1 as a loop that counts its loads and stores.
@pytest.mark.parametrize(("seq_len", "head_dim", "sram"), [(1024, 64, 192 * 1024), (1000, 128, 100_000), (8, 64, 1e6)])
def test_the_tiled_forward_counted_tile_by_tile(seq_len, head_dim, sram):
    tiles = tile_sizes(head_dim, sram)
    key_rows, query_rows = int(min(tiles.key_rows, seq_len)), int(min(tiles.query_rows, seq_len))
    moved = 0
    for key in range(0, seq_len, key_rows):
        keys = min(key_rows, seq_len - key)
        moved += 2 * keys * head_dim * 2  # K and V
        for query in range(0, seq_len, query_rows):
            queries = min(query_rows, seq_len - query)
            moved += 3 * queries * head_dim * 2 + 4 * queries * 4  # Q and O read, O written; sum and maximum both
    assert hbm_bytes(seq_len, head_dim, tiled=True, sram_bytes=sram) == moved


# Theorem 2: O(N^2 d^2 / M) for M between d and N d.
def test_tiled_traffic_grows_as_the_theorem_says():
    base = hbm_bytes(65_536, 64, tiled=True, sram_bytes=65_536)
    assert hbm_bytes(131_072, 64, tiled=True, sram_bytes=65_536) / base == pytest.approx(4, rel=0.03)
    assert hbm_bytes(65_536, 128, tiled=True, sram_bytes=65_536) / base == pytest.approx(4, rel=0.05)
    assert hbm_bytes(65_536, 64, tiled=True, sram_bytes=131_072) / base == pytest.approx(0.5, rel=0.03)


def test_tiling_saves_more_the_longer_the_sequence_until_the_tiles_are_many():
    lengths = np.array([256, 1024, 4096, 16_384])
    saved = hbm_bytes(lengths, 64, tiled=False) / hbm_bytes(lengths, 64, tiled=True)
    assert np.all(saved > 1)
    assert saved[1] > saved[0]


def test_tiles_share_the_chip_with_four_operands():
    tiles = tile_sizes(64, [100_000, 192 * 1024])
    assert list(tiles.key_rows) == [196, 384]
    assert list(tiles.query_rows) == [64, 64]
    held = (2 * tiles.key_rows + 2 * tiles.query_rows) * 64 * 2
    assert np.all(held <= np.array([100_000, 192 * 1024]) * 1.01)


def test_masked_tiles_are_skipped_and_masked_scores_are_not():
    whole, half = (hbm_bytes(65_536, 64, tiled=True, causal=causal) for causal in (False, True))
    assert half / whole == pytest.approx(0.5, abs=0.01)
    assert hbm_bytes(4096, 64, tiled=False, causal=True) == hbm_bytes(4096, 64, tiled=False)


def test_shared_key_heads_save_reads_of_keys_alone():
    many, few = (hbm_bytes(4096, 128, tiled=False, heads=64, kv_heads=kv) for kv in (64, 8))
    assert many - few == 2 * 56 * 4096 * 128 * 2


# Latent attention has queries and keys of 192 and values of 128.
def test_values_may_be_narrower_than_keys():
    n, h = 2048, 16
    scores, vectors = 4 * 2 * h * n * n, 2 * h * n * (192 + 192 + 128 + 128)
    assert hbm_bytes(n, 192, heads=h, v_head_dim=128, tiled=False) == scores + vectors
    assert tile_sizes(192, 2 * 640 * 100, v_head_dim=128).key_rows == 100
    for tiled in (False, True):
        same = hbm_bytes(n, 128, heads=h, v_head_dim=128, tiled=tiled, backward=True)
        assert same == hbm_bytes(n, 128, heads=h, tiled=tiled, backward=True)
    visits = tile_visits(n, 192, v_head_dim=128)
    moved = 2 * h * n * ((192 + 128) + visits * (192 + 2 * 128)) + visits * 4 * 4 * h * n
    assert hbm_bytes(n, 192, heads=h, v_head_dim=128, tiled=True) == moved


# Tiles of keys that hold a visible key, counted for each tile of queries.
@pytest.mark.parametrize(("window", "head_dim", "sram"), [(1024, 64, 65_536), (4096, 128, 232_448), (128, 64, 100_000)])
def test_a_window_skips_tiles_counted_one_by_one(window, head_dim, sram):
    n, tiles = 65_536, tile_sizes(head_dim, sram)
    key_rows, query_rows = int(tiles.key_rows), int(tiles.query_rows)
    met = [
        min(start + query_rows, n) // key_rows - max(start - window + 1, 0) // key_rows + 1
        for start in range(0, n, query_rows)
    ]
    visits = tile_visits(n, head_dim, sram_bytes=sram, causal=True, window=window)
    assert visits == pytest.approx(np.mean(met), rel=0.05)
    assert hbm_bytes(n, head_dim, tiled=False, window=window) == hbm_bytes(n, head_dim, tiled=False)


def test_a_window_longer_than_the_sequence_hides_nothing():
    run = {"tiled": True, "causal": True, "backward": True}
    assert hbm_bytes(2048, 64, window=100_000, **run) == hbm_bytes(2048, 64, **run)


def test_rereads_that_a_cache_catches_leave_each_operand_once():
    n, d, h, kv = 4096, 128, 64, 8
    q, k = h * n * d, kv * n * d
    assert least_bytes(n, d, heads=h, kv_heads=kv) == 2 * (2 * q + 2 * k) + 4 * h * n
    both = least_bytes(n, d, heads=h, kv_heads=kv, backward=True)
    assert both - least_bytes(n, d, heads=h, kv_heads=kv) == 2 * (q + 2 * k + 2 * q) + 2 * (q + 2 * k) + 4 * h * n
    for backward in (False, True):
        least = least_bytes([256, 4096, 65_536], d, heads=h, backward=backward)
        assert np.all(least <= hbm_bytes([256, 4096, 65_536], d, heads=h, tiled=True, backward=backward) * 1.001)


def test_memory_is_quadratic_unfused_and_linear_tiled():
    lengths = np.array([8192, 16_384])
    unfused, tiled = (extra_bytes(lengths, 128, heads=32, tiled=tiled) for tiled in (False, True))
    assert unfused[1] / unfused[0] == pytest.approx(4, rel=0.01)
    assert tiled[1] / tiled[0] == 2


def test_lengths_by_heads_give_a_grid():
    assert hbm_bytes([[1024], [2048]], 64, heads=[1, 8, 16], tiled=True).shape == (2, 3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seq_len": 0}, "seq_len=0 must be a whole number"),
        ({"head_dim": 64.5}, "head_dim=64.5 must be a whole number"),
        ({"sram_bytes": 0}, "sram_bytes=0 must be greater than 0"),
        ({"heads": -1}, "heads=-1 must be a whole number"),
    ],
)
def test_a_bad_input_is_refused_in_words(changed, message):
    with pytest.raises(ValueError, match=message):
        hbm_bytes(**({"seq_len": 1024, "head_dim": 64, "tiled": True} | changed))
