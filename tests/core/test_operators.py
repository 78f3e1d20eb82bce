"""Operators add up to what other modules count in another way: FLOPs, weights, KV bytes, states."""

import time

import numpy as np
import pytest

from core.flops import decode_flops_per_token, forward_flops_per_token, forward_parts, train_flops_per_token
from core.hardware import load_accelerators
from core.kv_cache import kv_bytes, kv_parts, state_bytes
from core.kv_reads import kv_read_bytes
from core.model_spec import load_models
from core.operators import held_params, model_operators, time_floor_s
from core.params import count_params
from core.work import Work, merged
from tests.configs import CONFIGS, model_of

LLAMA_70B = load_models()["meta-llama/Llama-3.1-70B"]
H100 = load_accelerators()["h100-sxm"]
SPARSE = {"deepseek-ai--DeepSeek-V3.2", "deepseek-ai--DeepSeek-V4-Flash", "zai-org--GLM-5"}


def total(operators, field):
    return sum(getattr(operator, field) for operator in operators)


def model_flops(operators):
    return sum(operator.flops for operator in operators if not operator.on_vector_units)


def one(operators, label):
    (found,) = (operator for operator in operators if operator.label == label)
    return found


def latents(name):
    return "absorbed" if name in SPARSE else "expanded"


@pytest.mark.parametrize("name", CONFIGS)
def test_flops_of_prefill_are_the_forward_pass_with_one_row_of_logits(name):
    model, lengths = model_of(name), np.array([1, 1000, 8192])
    ours = model_flops(model_operators(model, "prefill", seq_len=lengths, batch=3))
    forward = 3 * lengths * forward_flops_per_token(model, lengths, causal=True, latents=latents(name))
    head = forward_parts(model, 1, view="last").head
    assert ours == pytest.approx(forward - 3 * (lengths - 1) * head, rel=1e-12)


@pytest.mark.parametrize("name", CONFIGS)
def test_flops_of_decode_are_those_of_the_last_token(name):
    model, lengths = model_of(name), np.array([1, 1000, 100_000])
    ours = model_flops(model_operators(model, "decode", seq_len=lengths, batch=7))
    assert ours == pytest.approx(7 * decode_flops_per_token(model, lengths), rel=1e-12)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("name", CONFIGS)
def test_flops_of_training_are_the_training_passes(name, recompute):
    model, options = model_of(name), {"latents": "expanded", "recompute": recompute, "fused_attention": False}
    ours = model_flops(model_operators(model, "training", seq_len=4096, batch=2, **options))
    assert ours == pytest.approx(2 * 4096 * train_flops_per_token(model, 4096, causal=True, recompute=recompute))


# Dao et al. 2022, arXiv:2205.14135, figure 2: 75.2 GFLOP for 66.6; by products, 7 for 6.
def test_a_tiled_backward_makes_the_scores_again():
    unfused, tiled = (
        one(model_operators(LLAMA_70B, "training", seq_len=1024, fused_attention=fused), "full attention").flops
        for fused in (False, True)
    )
    assert tiled / unfused == pytest.approx(7 / 6)
    assert tiled / unfused == pytest.approx(75.2 / 66.6, rel=0.05)


@pytest.mark.parametrize("phase", ["prefill", "decode", "training"])
@pytest.mark.parametrize("name", CONFIGS)
def test_every_weight_is_read_once_a_pass_but_for_looked_up_tables(name, phase):
    model, count = model_of(name), count_params(model_of(name))
    operators = model_operators(model, phase, seq_len=4096, batch=100_000)  # so many tokens hit every expert
    read = sum(o.weight_bytes for o in operators if o.kind not in ("embedding", "optimizer"))
    tables = count.position_embedding + count.lookup_tables + (0 if model.tie_word_embeddings else count.embedding)
    assert read == pytest.approx(2 * (count.total - tables) * (3 if phase == "training" else 1), rel=1e-12)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_optimizer_steps_over_every_parameter(name):
    model = model_of(name)
    assert held_params(model, Work.of("training", 1)) == count_params(model).total
    step = one(model_operators(model, "training", seq_len=1, optimizer_shards=[1, 8]), "optimizer step")
    # Adam: 2 gradient, 12 read, 12 written, 2 weight.
    assert list(step.bytes) == pytest.approx([28 * count_params(model).total, 3.5 * count_params(model).total])


@pytest.mark.parametrize("kv_dtype", ["bf16", "fp8"])
@pytest.mark.parametrize("tensor_parallel", [1, 4, 16])
@pytest.mark.parametrize("name", [name for name in CONFIGS if name not in SPARSE])
def test_decode_reads_the_kv_cache_once(name, tensor_parallel, kv_dtype):
    model, lengths = model_of(name), np.array([1, 100, 5000, 100_000])
    options = {"batch": 5, "tensor_parallel": tensor_parallel, "kv_dtype": kv_dtype}
    operators = model_operators(model, "decode", seq_len=lengths, **options)
    read = sum(o.cache_bytes for o in operators if o.kind == "attention")
    assert read == pytest.approx(kv_bytes(model, lengths, **options))


@pytest.mark.parametrize("name", CONFIGS)
def test_decode_reads_and_writes_each_state(name):
    model = model_of(name)
    operators = model_operators(model, "decode", seq_len=100, batch=5)
    touched = sum(o.cache_bytes for o in operators if o.kind in ("state", "convolution"))
    assert touched == pytest.approx(2 * state_bytes(model, batch=5))


@pytest.mark.parametrize("name", CONFIGS)
def test_decode_reads_what_serving_counts(name):
    model, lengths = model_of(name), np.array([1, 2000, 100_000])
    read = sum(
        o.cache_bytes
        for o in model_operators(model, "decode", seq_len=lengths, batch=3, tensor_parallel=4)
        if o.kind in ("attention", "indexer")
    )
    assert read == pytest.approx(kv_read_bytes(model, lengths, batch=3, tensor_parallel=4))


def test_expanded_latents_are_read_in_full():
    model = model_of("deepseek-ai--DeepSeek-V3")
    operators = model_operators(model, "decode", seq_len=65_536, latents="expanded")
    assert one(operators, "latent attention").cache_bytes == kv_bytes(model, 65_536, layout="expanded")


# DeepSeek-V3.2: 2,048 chosen latents of 576 a layer, and every index key of 128.
def test_sparse_attention_reads_what_it_chose_and_all_index_keys():
    model = model_of("deepseek-ai--DeepSeek-V3.2")
    operators = model_operators(model, "decode", seq_len=131_072)
    assert one(operators, "latent attention").cache_bytes == 61 * 2048 * 576 * 2
    keys = kv_parts(model, 131_072, indexer="included").indexer_bytes
    assert one(operators, "indexer scores").cache_bytes == keys == 61 * 131_072 * 128 * 2


def test_decode_products_have_the_intensity_of_the_batch():
    batch = np.array([1, 8, 32, 64])
    operators = model_operators(LLAMA_70B, "decode", seq_len=1, batch=batch)
    for label in ("query, key and value projections", "MLP gate and up projections", "MLP down projection"):
        assert one(operators, label).intensity == pytest.approx(batch, rel=0.02)


# Eight query heads share a key head: 8 FLOP for each byte of cache in 16 bits, at any batch and length.
def test_decode_attention_stays_under_the_ridge_whatever_the_batch():
    operators = model_operators(LLAMA_70B, "decode", seq_len=8192, batch=[1, 1000])
    assert one(operators, "full attention").intensity == pytest.approx([8, 8], rel=0.01)


def test_prefill_of_a_long_prompt_is_bound_by_compute():
    operators = model_operators(LLAMA_70B, "prefill", seq_len=4096)
    busy = merged((o for o in operators if not o.on_vector_units and o.kind != "head"), by="kind")
    assert min(float(o.intensity) for o in busy) > 295


# S0's example: 140 GB over 2 TB/s is 70 ms; 32 requests of 4,096 tokens add 42.95 GB.
def test_a_decode_steps_bytes_are_weights_and_cache():
    operators = model_operators(LLAMA_70B, "decode", seq_len=4096, batch=32)
    assert total(operators, "weight_bytes") == pytest.approx(140e9, rel=0.01)
    assert sum(o.cache_bytes for o in operators if o.kind == "attention") / 1e9 == pytest.approx(42.95, abs=0.005)
    assert total(operators, "activation_bytes") < 0.02 * total(operators, "bytes")


def test_the_floor_of_one_decode_step_is_its_bytes_over_bandwidth():
    operators = model_operators(LLAMA_70B, "decode", seq_len=4096)
    moved = total(operators, "bytes")
    assert time_floor_s(operators, H100, "bf16") == pytest.approx(moved / H100.hbm_bytes_per_s)


def test_8_bit_weights_halve_the_floor_of_a_single_sequence():
    full, half = (
        time_floor_s(model_operators(LLAMA_70B, "decode", seq_len=1, weight_dtype=dtype), H100, "bf16")
        for dtype in ("bf16", "fp8")
    )
    assert half / full == pytest.approx(0.5, abs=0.01)


def test_a_small_batch_reads_few_experts_and_a_large_one_all():
    model = model_of("deepseek-ai--DeepSeek-V3")
    batch = np.array([1, 8, 100_000])
    read = one(model_operators(model, "decode", seq_len=1, batch=batch), "expert down projection").weight_bytes
    assert read / read[-1] * 256 == pytest.approx([8, 256 * (1 - (1 - 8 / 256) ** 8), 256])


def test_gpus_that_share_experts_bring_each_other_tokens():
    model, label = model_of("deepseek-ai--DeepSeek-V3"), "expert down projection"
    alone, shared = (
        one(model_operators(model, "decode", seq_len=1, batch=4, expert_parallel=e), label) for e in (1, 64)
    )
    assert shared.flops == alone.flops
    hit = 1 - (1 - 8 / 256) ** np.array([4, 4 * 64])
    assert shared.weight_bytes / alone.weight_bytes == pytest.approx(hit[1] / 64 / hit[0])


def test_tensor_parallelism_divides_work_but_not_latents_norms_and_routers():
    degrees = np.array([1, 2, 4, 8])
    operators = model_operators(LLAMA_70B, "decode", seq_len=4096, batch=8, tensor_parallel=degrees)
    assert total(operators, "weight_bytes")[0] / total(operators, "weight_bytes") == pytest.approx(degrees, rel=0.01)
    norms = one(operators, "norms and residuals")
    assert np.ptp(norms.bytes) == 0
    split = model_operators(LLAMA_70B, "training", seq_len=64, tensor_parallel=degrees, sequence_parallel=True)
    activations = one(split, "norms and residuals").activation_bytes
    assert list(activations[0] / activations) == list(degrees)


def test_unfused_attention_moves_scores():
    fused, unfused = (
        one(model_operators(LLAMA_70B, "prefill", seq_len=8192, fused_attention=f), "full attention")
        for f in (True, False)
    )
    # Four passes over a score matrix of each of 64 heads in 80 layers.
    assert unfused.bytes - fused.bytes == 80 * 64 * 4 * 8192**2 * 2
    assert unfused.flops == fused.flops


def test_layers_of_a_kind_are_one_operator_and_kinds_are_told_apart():
    labels = [o.label for o in model_operators(model_of("openai--gpt-oss-120b"), "decode", seq_len=4096)]
    assert len(labels) == len(set(labels))
    assert {"sliding attention", "full attention", "router", "expert down projection", "output head"} <= set(labels)
    kinds = [o.label for o in merged(model_operators(LLAMA_70B, "decode", seq_len=1), by="kind")]
    assert kinds == ["embedding", "projection", "mlp", "attention", "elementwise", "head"]


@pytest.mark.parametrize("phase", ["prefill", "decode", "training"])
@pytest.mark.parametrize("name", CONFIGS)
def test_every_operator_moves_something_and_has_a_place(name, phase):
    for operator in model_operators(model_of(name), phase, seq_len=[1, 5000], batch=[[1], [64]]):
        assert operator.bytes.shape == (() if operator.kind == "optimizer" else (2, 2)), operator.label
        assert np.all(operator.bytes > 0), operator.label
        assert np.all(operator.flops >= 0)
        assert np.all(np.isfinite(operator.intensity))


def test_one_call_gives_what_many_give():
    batch, lengths = np.array([[1], [8], [64]]), np.array([128, 4096])
    grid = time_floor_s(model_operators(LLAMA_70B, "decode", seq_len=lengths, batch=batch), H100, "bf16")
    assert grid.shape == (3, 2)
    single = time_floor_s(model_operators(LLAMA_70B, "decode", seq_len=4096, batch=8), H100, "bf16")
    assert grid[1, 1] == single


def test_a_million_points_take_less_than_a_second():
    batch = np.arange(1, 1_000_001)
    times = []
    for _ in range(2):
        start = time.perf_counter()
        time_floor_s(model_operators(LLAMA_70B, "decode", seq_len=4096, batch=batch), H100, "bf16")
        times.append(time.perf_counter() - start)
    assert min(times) < 1.0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"phase": "serve"}, "phase='serve' is not known"),
        ({"seq_len": 0}, "seq_len=0 must be a whole number"),
        ({"batch": 1.5}, "batch=1.5 must be a whole number"),
        ({"tensor_parallel": 0}, "tensor_parallel=0 must be a whole number"),
        ({"kv_dtype": "int3"}, "not a known number format"),
        ({"recompute": "some"}, "recompute='some' is not known"),
        ({"latents": "both"}, "latents='both' is not known"),
        ({"optimizer_shards": 0}, "optimizer_shards=0 must be a whole number"),
    ],
)
def test_a_bad_input_is_refused_in_words(changed, message):
    inputs = {"phase": "decode", "seq_len": 128} | changed
    with pytest.raises(ValueError, match=message):
        model_operators(LLAMA_70B, inputs.pop("phase"), **inputs)


def test_an_unknown_option_is_named():
    with pytest.raises(TypeError, match="unknown options \\['micro_batch'\\]"):
        model_operators(LLAMA_70B, "decode", seq_len=1, micro_batch=4)
