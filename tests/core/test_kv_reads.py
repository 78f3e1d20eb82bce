"""What a decode step reads against what is held, printed cache sizes and hand counts of sparse layers."""

import numpy as np
import pytest

from core.kv_cache import kv_bytes, state_bytes
from core.kv_reads import kv_read_bytes, picks_tokens, state_traffic_bytes
from core.model_spec import LatentAttention, load_models
from core.paged_attention import num_blocks
from core.units import GB
from tests.published import as_printed
from tests.published_serving import serving_rows
from tests.shapes import (
    DEEPSEEK_V4_FLASH,
    GPT_OSS_120B,
    INDEXER,
    LLAMA_70B,
    QWEN_27B,
    attention,
    gqa,
    mla,
    stack,
)


def shape(inputs):
    return gqa(inputs["layers"], inputs["kv_heads"], inputs["head_dim"])


@serving_rows("kv")
def test_matches_printed_cache_sizes(row):
    read = kv_read_bytes(shape(row["inputs"]), row["inputs"]["tokens"], kv_dtype=row["inputs"].get("kv_dtype", "bf16"))
    assert read / GB == as_printed(row)


@serving_rows("slots")
def test_matches_printed_token_slots(row):
    rate = kv_read_bytes(shape(row["inputs"]), 1)
    assert num_blocks(row["inputs"]["budget_bytes"], rate, block_tokens=1) / 1000 == as_printed(row)


# LLM-Viewer issue 12: each KV head is read once for the 8 query heads that share it, not once for each.
def test_query_heads_of_a_group_share_one_read():
    assert kv_read_bytes(LLAMA_70B, 4096) == 327_680 * 4096 == pytest.approx(1.342 * GB, abs=0.0005 * GB)


@pytest.mark.parametrize("model", [LLAMA_70B, GPT_OSS_120B, mla(61), QWEN_27B], ids=lambda model: model.model_type)
def test_without_sparse_layers_the_whole_cache_is_read(model):
    tokens = np.array([1, 100, 5000, 131_072])
    options = {"kv_dtype": "fp8", "batch": 32, "tensor_parallel": 4}
    assert kv_read_bytes(model, tokens, **options) == pytest.approx(kv_bytes(model, tokens, **options))


# DeepSeek-V3.2: 61 layers keep 576 elements and an index key of 128 a token, and read 2,048 tokens of the first.
def test_sparse_attention_reads_chosen_latents_and_every_index_key():
    read = kv_read_bytes(mla(61, indexer=INDEXER), [1000, 131_072], indexer_dtype="fp8")
    assert list(read) == [61 * 1000 * (576 * 2 + 128), 61 * (2048 * 576 * 2 + 131_072 * 128)]


# Layers that reuse an earlier indexer's choice read as few latents, and no index keys.
def test_a_layer_that_shares_a_choice_reads_no_index_keys():
    mixer = mla(1).layers[0].mixer.model_copy(update={"shared_top_k": 2048})
    assert isinstance(mixer, LatentAttention)
    assert picks_tokens(mixer)
    assert kv_read_bytes(stack((2, mixer)), 131_072) == 2 * 2048 * 576 * 2


# DeepSeek-V4-Flash at 131,072 tokens: a window of 128 everywhere; 21 layers choose top_k of 32,768 pooled entries, 20
# read all 1,024.
def test_compressed_attention_reads_its_window_and_chosen_pools():
    window = 43 * 128 * 512 * 2
    pools = 21 * 2048 * 512 * 2 + 20 * 1024 * 512 * 2
    index = 21 * 32_768 * 128 * 2
    assert kv_read_bytes(DEEPSEEK_V4_FLASH, 131_072) == window + pools + index


def test_a_layer_that_shares_a_cache_reads_it_all_the_same():
    own, shared = attention(8, 128), attention(8, 128, shares_kv=True)
    model = stack((10, own), (20, shared))
    assert kv_bytes(model, 100) == 10 * 100 * 8 * 256 * 2
    assert kv_read_bytes(model, 100) == 30 * 100 * 8 * 256 * 2


def test_states_are_read_and_written_back():
    assert state_traffic_bytes(QWEN_27B, batch=4) == 2 * state_bytes(QWEN_27B, batch=4)
    assert state_traffic_bytes(LLAMA_70B, batch=4) == 0


def test_batch_by_length_by_gpus_gives_a_grid():
    read = kv_read_bytes(
        LLAMA_70B, np.array([1024, 4096])[:, None], batch=np.array([[1]]), tensor_parallel=np.array([1, 2, 8, 16])
    )
    assert read.shape == (2, 4)
    assert read[1, 0] == 8 * read[1, 2] == 8 * read[1, 3], "a KV head that cannot be split is copied"


def test_every_model_of_the_catalog_reads_no_more_than_it_holds_but_for_shared_caches():
    for model in load_models().values():
        shares = any(getattr(mixer, "shares_kv", False) for mixer in model.mixers)
        held = kv_bytes(model, [100, 100_000], indexer="included")
        assert shares or np.all(kv_read_bytes(model, [100, 100_000]) <= held), model.id


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seq_len": 0}, "seq_len=0 must be a whole number from 1"),
        ({"batch": 1.5}, "batch=1.5 must be a whole number"),
        ({"kv_dtype": "fp3"}, "is not a known number format"),
        ({"layout": "flat"}, "layout='flat' is not known"),
    ],
)
def test_a_bad_input_is_refused_in_words(changed, message):
    with pytest.raises(ValueError, match=message):
        kv_read_bytes(LLAMA_70B, **({"seq_len": 4096} | changed))
