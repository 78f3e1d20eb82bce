"""KV bytes of real models worked out by hand, of papers, and of inputs that made other tools wrong."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.kv_cache import kv_bytes, kv_bytes_per_token, kv_parts, max_batch, state_bytes
from core.model_spec import from_hf_config, load_models
from core.units import GB, GIB, KB, KIB, TB
from tests.hand_counts import KV_BYTES, LONG
from tests.published import as_printed
from tests.published_serving import serving_rows
from tests.shapes import DEEPSEEK_V4_FLASH, GPT_OSS_120B, INDEXER, LLAMA_70B, QWEN_27B, attention, gqa, mla, stack

CONFIGS = Path(__file__).parents[1] / "data/configs"


@pytest.mark.parametrize("name", KV_BYTES)
def test_real_configs_match_the_hand_count(name):
    model = from_hf_config(json.loads((CONFIGS / f"{name}.json").read_text()))
    assert kv_bytes(model, [1, LONG]).tolist() == list(KV_BYTES[name])


def test_every_real_config_has_a_hand_count():
    assert {path.stem for path in CONFIGS.glob("*.json")} == set(KV_BYTES)


# Published figures, each with the source that prints it.
def test_deepseek_v2_keeps_34_6_and_15_6_thousand_elements_a_token():
    # arXiv:2405.04434, table 9
    assert kv_bytes_per_token(mla(60), 1) / 2 / KB == pytest.approx(34.6, abs=0.05)
    assert kv_bytes_per_token(mla(27), 1) / 2 / KB == pytest.approx(15.6, abs=0.05)


def test_latents_equal_two_and_a_quarter_groups():
    # arXiv:2405.04434, section 2.1.4: 576 / (2 x 128)
    assert kv_bytes(mla(1), 1) / kv_bytes(gqa(1, 1, 128), 1) == 2.25


def test_the_93_3_percent_of_deepseek_v2_needs_six_bit_latents():
    # arXiv:2405.04434, abstract, against DeepSeek 67B (95 layers, 8 KV heads); section 3.2.3: 6 bits on average.
    # In bf16 on both sides the architecture alone saves 82.2%.
    deepseek_67b = kv_bytes(gqa(95, 8, 128), 1)
    assert 1 - kv_bytes(mla(60), 1) / deepseek_67b == pytest.approx(0.822, abs=5e-4)
    assert 1 - kv_bytes(mla(60), 1) * (6 / 16) / deepseek_67b == pytest.approx(0.933, abs=5e-4)


def test_deepseek_v3_keeps_70_272_kb_a_token():
    assert kv_bytes(mla(61), 1) / KB == 70.272  # arXiv:2505.09343, table 1


def test_opt_13b_takes_1_6_gb_a_request():
    # arXiv:2309.06180, section 3: 2,048 tokens; the printed GB are GiB, 1.5625
    assert kv_bytes(gqa(40, 40, 128), 2048) / GIB == pytest.approx(1.6, abs=0.05)


def requests_at_once(inputs, tokens, page_tokens):
    budget = inputs["budget_gib"] * GIB
    return max_batch(load_models()[inputs["model"]], tokens, free_bytes=budget, page_tokens=page_tokens)


@serving_rows("largest_batch")
def test_matches_the_batch_of_whole_reservations(row):
    assert requests_at_once(row["inputs"], row["inputs"]["tokens"], row["inputs"]["page_tokens"]) == as_printed(row)


@serving_rows("batch_ratio")
def test_matches_the_batch_that_pages_gain_over_whole_reservations(row):
    inputs = row["inputs"]
    paged = requests_at_once(inputs, inputs["tokens"], inputs["page_tokens"])
    assert paged / requests_at_once(inputs, inputs["reserved"], 1) == as_printed(row)


def test_palm_with_48_heads_needs_3_tb():
    # Pope et al. 2022, arXiv:2211.05102, section 2.1: batch 512, context 2,048
    palm = gqa(118, 48, 128)
    assert kv_bytes(palm, 1) / KB == pytest.approx(2900, abs=0.5)
    assert kv_bytes(palm, 2048, batch=512) / TB == pytest.approx(3, abs=0.5)


def test_palm_with_one_head_reaches_43_000_tokens():
    # arXiv:2211.05102, table 1: 30% of 64 chips with 32 GiB, split over the batch of 128
    budget = 0.3 * 64 * 32 * GIB
    assert budget / (128 * kv_bytes_per_token(gqa(118, 1, 256), 1)) == pytest.approx(43_000, abs=500)


def test_kipply_52b_and_the_scaling_book():
    assert kv_bytes(gqa(64, 64, 128), 1) == 2_097_152  # kipply, Transformer Inference Arithmetic (2022)
    assert kv_bytes(LLAMA_70B, 1, kv_dtype="int8") / KIB == 160  # JAX scaling book, part 8; its kB are KiB


# Inputs that users reported because a tool got them wrong.
def test_grouped_heads_are_charged_once_not_per_query_head():
    assert kv_bytes(LLAMA_70B, 4096) / GB == pytest.approx(1.342, abs=5e-4)  # LLM-Viewer 12 printed 10.737


def test_the_head_width_is_its_own_field():
    assert kv_bytes(gqa(36, 8, 128, heads=32), 1) == 147_456  # LMCache 688, Qwen3-4B: not 2560 / 32 = 80
    assert kv_bytes(gqa(42, 8, 256, heads=16), 1) == 344_064  # Gemma 2 9B: not 3584 / 16 = 224


def test_mla_latent_and_expanded_are_both_right_and_named():
    # gguf-parser-go 8, DeepSeek-V3 at 65,536 tokens
    assert kv_bytes(mla(61), 65_536) / GIB == pytest.approx(4.29, abs=5e-3)
    assert kv_bytes(mla(61), 1, layout="expanded") == 4_997_120 == 61 * 128 * (128 + 64 + 128) * 2
    assert kv_bytes(mla(61), 65_536, layout="expanded") / GIB == pytest.approx(305, abs=0.5)


def test_sliding_layers_count_at_short_context():
    # hf-mem 60, gpt-oss-120b; the vLLM log says 78,384 tokens in 5.38 GiB
    assert kv_bytes(GPT_OSS_120B, 1) == 73_728
    assert 5.38 * GIB / kv_bytes(GPT_OSS_120B, 1) == pytest.approx(78_384, rel=1e-3)
    assert kv_bytes(GPT_OSS_120B, 78_384, reservation="uniform") / GIB == pytest.approx(5.38, abs=5e-3)


def test_linear_attention_layers_hold_no_keys():
    # lmstudio-bug-tracker 1862, Qwen3.6-27B at 262,144 tokens: 16,384 MiB in the engine's log, not 64 GiB
    assert kv_bytes(QWEN_27B, 1) == 65_536
    assert kv_bytes(QWEN_27B, 262_144) == 16 * GIB


def test_multi_head_7b_takes_half_a_mebibyte_a_token():
    assert kv_bytes(gqa(32, 32, 128), 1, kv_dtype="fp16") == 524_288  # vllm-fit 2 and 14: not 4,194,304


def test_keys_and_values_are_two_and_split_over_gpus():
    # EleutherAI cookbook, calc_transformer_mem.py: no factor 2, no grouped heads, no tensor parallelism
    gpt3 = gqa(96, 96, 128)
    assert kv_bytes(gpt3, 2049) / GIB == pytest.approx(9.00, abs=5e-3)
    assert kv_bytes(gpt3, 2049, tensor_parallel=8) / GIB == pytest.approx(1.126, abs=5e-4)
    assert kv_bytes(LLAMA_70B, 4097, tensor_parallel=8) / GIB == pytest.approx(0.156, abs=5e-4)


def test_the_budget_is_per_gpu():
    # vLLM 13061, Qwen 14B distill on two GPUs, 131,072 tokens
    qwen_14b = gqa(48, 8, 128, heads=40)
    assert kv_bytes_per_token(qwen_14b, 1, tensor_parallel=2) == 98_304
    assert kv_bytes(qwen_14b, 131_072, tensor_parallel=2) / GIB == 12.0
    assert 8.69 * GIB / kv_bytes_per_token(qwen_14b, 1, tensor_parallel=2) == pytest.approx(94_900, abs=50)
    assert max_batch(qwen_14b, 131_072, free_bytes=8.69 * GIB, tensor_parallel=2) == 0
    assert max_batch(qwen_14b, 81_536, free_bytes=8.69 * GIB, tensor_parallel=2) == 1


# Conventions.
def test_index_keys_are_a_part_of_their_own():
    deepseek_v32 = mla(61, indexer=INDEXER)
    parts = kv_parts(deepseek_v32, 1000, indexer="included", indexer_dtype="fp8")
    assert parts.keys_values_bytes == 70_272_000
    assert parts.indexer_bytes == 61 * 128 * 1000
    assert kv_bytes(deepseek_v32, 1) == 70_272, "the usual figure leaves them out"
    assert kv_bytes(deepseek_v32, 1, indexer="included") == 61 * (576 + 128) * 2


def test_the_usual_rate_of_deepseek_v4_counts_index_keys():
    # 21 layers pool 4 tokens into 512 + 128 elements, 20 pool 128 into 512: 6,880 bytes a token beyond the window
    assert kv_bytes_per_token(DEEPSEEK_V4_FLASH, 1000) == 21 * 640 * 2 / 4 + 20 * 512 * 2 / 128 == 6880
    assert kv_bytes_per_token(DEEPSEEK_V4_FLASH, 1000, indexer="excluded") == 21 * 512 * 2 / 4 + 20 * 512 * 2 / 128


def test_heads_are_split_until_each_gpu_holds_one_and_then_copied():
    gpus = np.array([1, 2, 4, 8, 16, 64])
    per_gpu = kv_bytes(LLAMA_70B, 1, tensor_parallel=gpus)
    assert (per_gpu / kv_bytes(LLAMA_70B, 1)).tolist() == [1, 1 / 2, 1 / 4, 1 / 8, 1 / 8, 1 / 8]


def test_latents_and_shared_keys_lie_on_every_gpu():
    for model in (mla(61, indexer=INDEXER), DEEPSEEK_V4_FLASH):
        assert (
            kv_bytes(model, 500, tensor_parallel=[1, 8], indexer="included") == kv_bytes(model, 500, indexer="included")
        ).all()
    assert kv_bytes(mla(61), 1, layout="expanded", tensor_parallel=8) == 61 * 16 * 320 * 2


def test_uniform_pages_charge_windows_for_every_token():
    assert kv_bytes(GPT_OSS_120B, 10_000, reservation="uniform") == 73_728 * 10_000
    assert kv_bytes(GPT_OSS_120B, 10_000) == 36_864 * 10_000 + 36_864 * 128
    assert kv_bytes(LLAMA_70B, 10_000, reservation="uniform") == kv_bytes(LLAMA_70B, 10_000)


def test_pages_round_tokens_up():
    assert kv_bytes(LLAMA_70B, [1, 16, 17], page_tokens=16).tolist() == [327_680 * 16, 327_680 * 16, 327_680 * 32]
    assert kv_bytes(GPT_OSS_120B, 1000, page_tokens=16) == 36_864 * 1008 + 36_864 * 128


def test_block_scales_are_paid_for():
    assert kv_bytes(LLAMA_70B, 1, kv_dtype="mxfp8") == 163_840 * (1 + 1 / 32)


# Shape and growth.
MODELS = {
    "full": LLAMA_70B,
    "window": GPT_OSS_120B,
    "chunk": stack((36, attention(8, 128, window=8192, window_kind="chunked")), (12, attention(8, 128))),
    "latent": mla(61, indexer=INDEXER),
    "compressed": DEEPSEEK_V4_FLASH,
    "hybrid": QWEN_27B,
}
every_kind = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@every_kind
def test_lengths_by_batches_give_a_grid_that_equals_single_calls(model):
    lengths, batches = np.array([1, 3, 128, 129, 5000]), np.array([1, 7])
    grid = kv_bytes(model, lengths, batch=batches[:, None], indexer="included")
    assert grid.shape == (2, 5)
    for row, batch in zip(grid, batches, strict=True):
        assert row.tolist() == [kv_bytes(model, int(n), batch=int(batch), indexer="included") for n in lengths]


@every_kind
@pytest.mark.parametrize("reservation", ["ideal", "uniform"])
def test_the_cache_never_shrinks_and_ideal_never_exceeds_uniform(model, reservation):
    lengths = np.arange(1, 20_000)
    held = kv_bytes(model, lengths, reservation=reservation)
    assert (np.diff(held) >= 0).all()
    assert (held <= kv_bytes(model, lengths, reservation="uniform")).all()


@every_kind
@pytest.mark.parametrize("reservation", ["ideal", "uniform"])
def test_marginal_tokens_add_up_to_the_cache(model, reservation):
    lengths = np.arange(1, 16_385)  # whole pools of 128
    options = {"reservation": reservation, "indexer": "included"}
    assert kv_bytes_per_token(model, lengths, **options).sum() == kv_bytes(model, 16_384, **options)


@pytest.mark.parametrize("name", ["full", "window", "chunk", "latent", "hybrid"])
def test_the_marginal_token_is_the_difference(name):
    lengths = np.arange(1, 10_000)
    held = kv_bytes(MODELS[name], lengths)
    assert (kv_bytes_per_token(MODELS[name], lengths[1:]) == np.diff(held)).all()
    assert kv_bytes_per_token(MODELS[name], 1) == held[0]


def test_a_window_stops_growing_when_it_is_full():
    only_windows = gqa(18, 8, 64, window=128)
    assert kv_bytes_per_token(only_windows, [1, 128, 129, 10**6]).tolist() == [36_864, 36_864, 0, 0]
    assert kv_bytes(only_windows, 10**6) == kv_bytes(only_windows, 128)


def test_layers_that_share_a_cache_add_nothing():
    owner, reader = attention(8, 128), attention(8, 128, shares_kv=True)
    assert kv_bytes(stack((4, owner), (4, reader), (4, None)), 100) == kv_bytes(stack((4, owner)), 100)


# Batch.
@every_kind
def test_the_largest_batch_fits_and_one_more_does_not(model):
    lengths, free = np.array([1, 100, 4096, 131_072]), np.array([[1e9], [80e9], [1e12]])
    batch = max_batch(model, lengths, free_bytes=free)
    each = kv_bytes(model, lengths) + state_bytes(model)
    assert batch.shape == (3, 4)
    assert batch.dtype == np.int64
    assert (batch * each <= free).all()
    assert ((batch + 1) * each > free).all()


def test_exactly_full_memory_holds_the_whole_batch():
    assert max_batch(LLAMA_70B, 4096, free_bytes=32 * kv_bytes(LLAMA_70B, 4096)) == 32
    assert max_batch(LLAMA_70B, 4096, free_bytes=32 * kv_bytes(LLAMA_70B, 4096) - 1) == 31


def test_no_room_holds_no_sequence():
    assert max_batch(LLAMA_70B, 4096, free_bytes=[-5e9, 0, 1e9]).tolist() == [0, 0, 0]


def test_the_state_takes_its_share_of_the_batch():
    each = kv_bytes(QWEN_27B, 1) + state_bytes(QWEN_27B)
    assert max_batch(QWEN_27B, 1, free_bytes=10 * each) == 10


# Bad input.
@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), 1e30, 0.5, [4096, 0], "many"])
@pytest.mark.parametrize("call", [kv_bytes, kv_bytes_per_token, lambda model, n: max_batch(model, n, free_bytes=1e9)])
def test_lengths_that_are_none_are_refused_by_name(call, bad):
    with pytest.raises(ValueError, match=r"seq_len=.*(whole number|finite number|not a number)"):
        call(LLAMA_70B, bad)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), 1e30, 1.5])
@pytest.mark.parametrize("name", ["batch", "tensor_parallel", "page_tokens"])
def test_counts_that_are_none_are_refused_by_name(name, bad):
    with pytest.raises(ValueError, match=rf"{name}=.*(whole number|finite number)"):
        kv_bytes(LLAMA_70B, 4096, **{name: bad})


@pytest.mark.parametrize("name", ["kv_dtype", "layout", "reservation", "indexer", "indexer_dtype"])
def test_unknown_words_are_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match="choose one of"):
        kv_bytes(LLAMA_70B, 4096, **{name: "other"})


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="page_tokens"):
        kv_bytes(LLAMA_70B, 4096, pages=16)


def test_memory_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="free_bytes=nan"):
        max_batch(LLAMA_70B, 4096, free_bytes=float("nan"))


def test_a_model_that_keeps_nothing_has_no_largest_batch():
    with pytest.raises(ValueError, match="keeps nothing"):
        max_batch(stack((2, None)), 4096, free_bytes=1e9)
