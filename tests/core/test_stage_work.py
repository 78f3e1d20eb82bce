"""Work of each stage against the FLOPs of the whole model, and bytes against a count by hand."""

import numpy as np
import pytest

from core.flops import forward_flops_per_token, forward_parts, train_flops_per_token
from core.layout import Layout
from core.model_spec import load_models
from core.stage_work import layers_by_stage, stage_work
from tests.communication import gpt

MODELS = load_models()
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]


@pytest.mark.parametrize(
    "name",
    ["meta-llama/Llama-3.1-70B", "deepseek-ai/DeepSeek-V3", "openai/gpt-oss-120b", "mistralai/Mixtral-8x7B-v0.1"],
)
@pytest.mark.parametrize("stages", [1, 4])
def test_all_stages_together_do_the_models_flops(name, stages):
    model = MODELS[name]
    work = stage_work(model, Layout.of(seq_len=[2048, 8192], pipeline_parallel=stages))
    assert work.matrix_flops.shape == (2, stages)
    total = (work.matrix_flops + work.mixing_flops).sum(axis=-1)
    expected = forward_flops_per_token(model, [2048, 8192], causal=True) * [2048, 8192]
    assert total == pytest.approx(expected, rel=1e-12)


def test_gpus_share_the_work():
    alone = stage_work(LLAMA, Layout.of(seq_len=8192))
    shared = stage_work(LLAMA, Layout.of(seq_len=8192, tensor_parallel=8, context_parallel=4, sequence_parallel=True))
    for field in ("matrix_flops", "mixing_flops", "moved_bytes"):
        assert getattr(shared, field) == pytest.approx(getattr(alone, field) / 32, rel=1e-6), field


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_recomputed_flops_are_those_of_the_whole_model(recompute):
    work = stage_work(LLAMA, Layout.of(seq_len=4096, pipeline_parallel=8, recompute=recompute))
    again = (work.again_matrix_flops + work.again_mixing_flops).sum() / 4096
    without = train_flops_per_token(LLAMA, 4096, causal=True)
    assert again == pytest.approx(train_flops_per_token(LLAMA, 4096, causal=True, recompute=recompute) - without)


def test_an_unfused_kernel_computes_what_the_mask_hides():
    fused, unfused = (stage_work(LLAMA, Layout.of(seq_len=4096, fused_attention=switch)) for switch in (True, False))
    assert unfused.mixing_flops == pytest.approx(forward_parts(LLAMA, 4096, view="full").attention * 4096)
    assert unfused.mixing_flops / fused.mixing_flops == pytest.approx(2 * 4096 / 4097)
    assert unfused.moved_bytes > 2 * fused.moved_bytes  # its scores go to memory


# Korthikanti et al. 2022, arXiv:2205.05198, table 2, without dropout: s b h (8 + 24) bytes are kept by a GPT layer (34
# less two masks of one byte) and 2 a s^2 b scores after the softmax; those before it pass as well. Logits: 4 s b V.
def test_bytes_between_the_matrices_of_a_gpt_layer():
    s, h, a, layers = 2048, 6144, 64, 48
    work = stage_work(gpt(layers, h, a), Layout.of(seq_len=s, fused_attention=False, recompute="selective"))
    by_hand = layers * (32 * s * h + 4 * a * s**2) + 4 * s * 51_200
    assert work.moved_bytes == pytest.approx(by_hand, rel=1e-12)
    assert work.again_bytes == pytest.approx(layers * 4 * a * s**2, rel=1e-12)


def test_layers_of_a_kind_are_counted_on_their_stage():
    counts = layers_by_stage(MODELS["deepseek-ai/DeepSeek-V3"], 16)
    assert counts.shape == (2, 16)  # dense and expert layers
    assert counts.sum() == 61
    assert list(counts[0]) == [3] + [0] * 15
    assert np.array_equal(layers_by_stage(LLAMA, 8), np.full((1, 8), 10.0))


def test_the_head_lies_on_the_last_stage():
    work = stage_work(LLAMA, Layout.of(seq_len=4096, pipeline_parallel=8))
    head = 2 * 8192 * 128_256 * 4096
    assert work.matrix_flops[-1] - work.matrix_flops[0] == pytest.approx(head)
