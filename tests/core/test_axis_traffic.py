"""What each axis sends, against the formulas of Megatron-LM's papers and counts by hand."""

import numpy as np
import pytest

from core.axis_traffic import AXES, model_flows, sent_by_axis
from core.layout import Layout
from core.model_spec import load_models
from tests.communication import as_printed, gpt, rows

MODELS = load_models()
LLAMA, DEEPSEEK, MIXTRAL = (
    MODELS[name] for name in ("meta-llama/Llama-3.1-70B", "deepseek-ai/DeepSeek-V3", "mistralai/Mixtral-8x7B-v0.1")
)


def sent(model, **options):
    return sent_by_axis(model_flows(model, Layout.of(**options)))


@rows("tensor_elements")
def test_matches_the_elements_that_megatron_sends_in_a_layer(row):
    shape = row["inputs"]
    model = gpt(shape["layers"], shape["h"], shape["heads"])
    found = sent(model, seq_len=shape["s"], micro_batch_size=shape["b"], tensor_parallel=shape["t"])["tensor"]
    assert found / 2 / shape["layers"] == as_printed(row)  # 2 bytes an element


@rows("pipeline_elements")
def test_matches_the_elements_that_megatrons_first_stage_sends(row):
    shape = row["inputs"]
    model = gpt(shape["layers"], shape["h"], shape["heads"])
    found = sent(model, seq_len=shape["s"], micro_batch_size=shape["b"], pipeline_parallel=shape["p"])["pipeline"]
    assert found[0] / 2 == as_printed(row)


# Narayanan et al. 2021, arXiv:2104.04473, section 3.2: 8 b s h (t - 1) / t elements a layer and micro-batch.
@pytest.mark.parametrize("tensor", [2, 8])
def test_tensor_parallelism_sends_what_megatron_says(tensor):
    b, s, h, layers, m = 4, 2048, 6144, 48, 3
    found = sent(gpt(layers, h, 64), seq_len=s, micro_batch_size=b, tensor_parallel=tensor, num_micro_batches=m)[
        "tensor"
    ]
    assert found / 2 == pytest.approx(m * layers * 8 * b * s * h * (tensor - 1) / tensor)


# The same section: b s h elements a micro-batch between neighbours, forward and backward; interleaving sends v times.
@pytest.mark.parametrize("virtual", [1, 3])
def test_a_pipeline_sends_hidden_states_at_every_boundary(virtual):
    b, s, h, m = 1, 2048, 12288, 16
    found = sent(
        gpt(96, h, 96),
        seq_len=s,
        micro_batch_size=b,
        pipeline_parallel=8,
        virtual_stages=virtual,
        num_micro_batches=m,
    )["pipeline"]
    boundary = m * 2 * b * s * h
    assert list(found[1:-1] / boundary) == pytest.approx([2 * virtual] * 6)
    # The first stage sends no gradients of its first chunk, the last no hidden states of its last.
    assert found[0] == found[-1] == pytest.approx((2 * virtual - 1) * boundary)


# Korthikanti et al. 2022, arXiv:2205.05198, section 4.2.2: all-gather and reduce-scatter send what the all-reduce does;
# inputs that are kept as shards are gathered once more, beside the input's gradient.
def test_sequence_parallelism_sends_as_much_and_gathers_its_shards_again():
    plain, sharded = (
        model_flows(LLAMA, Layout.of(seq_len=4096, tensor_parallel=8, sequence_parallel=switch))
        for switch in (False, True)
    )
    waited = [flow for flow in sharded if not flow.beside]
    beside = [flow for flow in sharded if flow.beside]
    volume = sent_by_axis(plain)["tensor"]
    assert sum(flow.sent_bytes for flow in waited) == pytest.approx(volume)
    assert sum(flow.sent_bytes for flow in beside) == pytest.approx(volume / 4)
    assert {flow.op for flow in plain} == {"all_reduce"}
    assert {flow.op for flow in sharded} == {"all_gather", "reduce_scatter"}


def test_full_recomputation_sums_the_forward_pass_again():
    none, full = (sent(LLAMA, seq_len=4096, tensor_parallel=8, recompute=r)["tensor"] for r in ("none", "full"))
    assert full == pytest.approx(1.5 * none)


# By hand, Llama 3.1 70B: 8 KV heads of 128, 80 layers, c = 4: three shards of keys and values of 1,024 tokens pass each
# GPU forward, three backward, and three of their gradients.
def test_context_parallelism_passes_keys_and_values_three_times():
    found = sent(LLAMA, seq_len=4096, context_parallel=4)["context"]
    shard = 2 * 1024 * 8 * (128 + 128)
    assert found == pytest.approx(80 * 3 * 3 * shard)
    halved = sent(LLAMA, seq_len=4096, context_parallel=4, tensor_parallel=2)["context"]
    assert halved == pytest.approx(found / 2)


# By hand, DeepSeek-V3: 58 expert layers, 8 experts a token, 7,168 wide, 64 GPUs: 63/64 leave; dispatch and combine,
# forward and backward.
def test_experts_are_sent_their_tokens_and_send_them_back():
    found = sent(DEEPSEEK, seq_len=4096, expert_parallel=64, data_parallel=64)["expert"]
    assert found == pytest.approx(58 * 4 * 63 / 64 * 8 * 2 * 4096 * 7168)
    assert sent(DEEPSEEK, seq_len=4096, data_parallel=64)["expert"] == 0


def test_only_stages_with_experts_send_to_them():
    found = sent(DEEPSEEK, seq_len=4096, expert_parallel=8, data_parallel=8, pipeline_parallel=16)["expert"]
    assert found[0] == pytest.approx(found[1] / 4)  # three of its first four layers are dense


# Mixtral: with experts elsewhere a layer's own sum is the mixer's, and two copies of each token are gathered, reduced.
def test_experts_elsewhere_gather_the_tokens_that_arrive():
    own, away = (
        sent(MIXTRAL, seq_len=4096, tensor_parallel=2, expert_parallel=e, data_parallel=8, sequence_parallel=True)[
            "tensor"
        ]
        for e in (1, 8)
    )
    assert away / own == pytest.approx((1 + 2) / 2)


def test_every_axis_has_an_entry_and_one_gpu_sends_nothing():
    assert list(sent(LLAMA, seq_len=4096)) == list(AXES)
    assert all(volume == 0 for volume in sent(LLAMA, seq_len=4096).values())


def test_degrees_broadcast():
    found = sent(LLAMA, seq_len=4096, tensor_parallel=np.array([[1], [2], [8]]), num_micro_batches=[1, 4])["tensor"]
    assert found.shape == (3, 2, 1)
    assert np.all(found[0] == 0)
    assert found[2, 1] == pytest.approx(4 * found[2, 0])
