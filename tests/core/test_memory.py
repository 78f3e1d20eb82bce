"""Memory of one GPU, all parts together, against each part's own formula and counts by hand."""

from dataclasses import fields

import numpy as np
import pytest

from core.memory import LOGITS_COPIES, TrainingMemory, stage_params, training_memory
from core.model_spec import Layer, Mlp, ModelSpec, Moe, load_models
from core.params import count_params
from core.stage_activations import model_activation_bytes, recompute_bytes, stage_activation_bytes
from core.units import GB
from core.zero import RECIPES, zero_memory
from tests.shapes import attention

LLAMA_8B, LLAMA_70B, DEEPSEEK, MIXTRAL, GPT2, GEMMA = (
    load_models()[name]
    for name in (
        "meta-llama/Llama-3.1-8B",
        "meta-llama/Llama-3.1-70B",
        "deepseek-ai/DeepSeek-V3",
        "mistralai/Mixtral-8x7B-v0.1",
        "openai-community/gpt2-xl",
        "google/gemma-3-27b-pt",
    )
)
FIELDS = [field.name for field in fields(TrainingMemory)]
STATES = ("weight_bytes", "gradient_bytes", "optimizer_bytes")


# 70.55e9 parameters by Rajbhandari et al. 2020, arXiv:1910.02054, section 3: 16 P, 4 P + 12 P / N, 2 P + 14 P / N,
# 16 P / N, on 64 GPUs.
@pytest.mark.parametrize(("stage", "published_gb"), [(0, 1128.86), (1, 295.44), (2, 156.54), (3, 17.64)])
def test_states_of_70b_on_64_gpus(stage, published_gb):
    memory = training_memory(LLAMA_70B, data_parallel=64, zero_stage=stage, seq_len=4096)
    assert memory.state_bytes / GB == pytest.approx(published_gb, abs=0.005)


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
@pytest.mark.parametrize("recipe", ["adam", "adam-fp32-grads", "sgd-momentum"])
def test_without_model_parallelism_each_part_is_its_own_formula(stage, recipe):
    memory = training_memory(LLAMA_8B, data_parallel=8, zero_stage=stage, recipe=recipe, seq_len=2048)
    alone = zero_memory(count_params(LLAMA_8B).total, 8, stage=stage, optimizer=recipe)
    for part in STATES:
        assert getattr(memory, part) == pytest.approx(getattr(alone, part), rel=1e-12)
    layers = model_activation_bytes(LLAMA_8B, seq_len=2048).sum()
    # The head's input and that of the norm before it, 16-bit; logits and softmax, fp32.
    head = 2 * 2 * 2048 * 4096 + 2 * 4 * 2048 * 128_256
    assert memory.activation_bytes == pytest.approx(layers + head)


# Korthikanti et al. 2022, table 2, full recomputation: 2 s b h a layer. 32 layers, and the head as above.
def test_full_recompute_keeps_the_layers_inputs():
    memory = training_memory(LLAMA_8B, data_parallel=1, zero_stage=0, recompute="full", seq_len=2048)
    assert memory.activation_bytes == 32 * 2 * 2048 * 4096 + 2 * 2 * 2048 * 4096 + 8 * 2048 * 128_256


def test_tensor_parallelism_divides_every_part():
    alone, split = (
        training_memory(
            LLAMA_8B, data_parallel=4, zero_stage=1, seq_len=2048, tensor_parallel=t, sequence_parallel=t > 1
        )
        for t in (1, 8)
    )
    for part in (*STATES, "activation_bytes", "step_bytes"):
        assert getattr(split, part) == pytest.approx(getattr(alone, part) / 8), part


# Megatron-Bridge pull request 3744 (case B6 of reports on other tools): routed experts lie on tensor x expert ranks,
# and their optimizer states are shared by world / (tensor x expert x pipeline) GPUs, not by the dense data parallelism.
def test_experts_are_split_by_tensor_and_expert_ranks_and_shared_by_fewer():
    world, tensor, expert = 128, 2, 8
    memory = training_memory(
        MIXTRAL, data_parallel=world // tensor, zero_stage=1, tensor_parallel=tensor, expert_parallel=expert, seq_len=64
    )
    experts = 32 * 8 * 3 * 4096 * 14_336
    dense = 46_702_792_704 - experts
    assert memory.weight_bytes == pytest.approx(2 * (dense / 2 + experts / 16))
    assert memory.optimizer_bytes == pytest.approx(12 * (dense / 2 / 64 + experts / 16 / (world // (tensor * expert))))


def test_context_parallel_ranks_share_states_too():
    wide, deep = (
        training_memory(LLAMA_8B, data_parallel=d, context_parallel=c, zero_stage=3, seq_len=4096)
        for d, c in ((8, 1), (2, 4))
    )
    assert wide.state_bytes == deep.state_bytes
    assert deep.activation_bytes == pytest.approx(wide.activation_bytes / 4)


def test_experts_over_more_ranks_than_there_are_cannot_be():
    with pytest.raises(ValueError, match=r"expert_parallel=8 does not divide data_parallel \* context_parallel=4"):
        training_memory(MIXTRAL, data_parallel=[8, 4], expert_parallel=8, zero_stage=1, seq_len=64)


@pytest.mark.parametrize("model", [LLAMA_8B, GPT2, GEMMA, MIXTRAL, DEEPSEEK], ids=lambda model: model.name)
@pytest.mark.parametrize("pipeline", [1, 2, 4, 7])
def test_stages_hold_the_whole_model_and_a_tied_head_twice(model, pipeline):
    params = stage_params(model, pipeline)
    whole = count_params(model)
    twice = whole.embedding if model.tie_word_embeddings and pipeline > 1 else 0
    assert (params.dense + params.experts).sum() == whole.total + twice
    assert params.experts.sum() == whole.experts
    memory = training_memory(model, data_parallel=1, zero_stage=0, pipeline_parallel=pipeline, seq_len=64)
    assert memory.weight_bytes.sum() == pytest.approx(2 * (whole.total + twice))


# GPT-2 XL: 48 layers of 12 h^2 + 13 h, 50,257 x 1,600 tied embedding, 1,024 positions, a final norm.
def test_stages_of_gpt2_by_hand():
    h = 1600
    layer, embedding = 12 * h**2 + 13 * h, 50_257 * h
    assert list(stage_params(GPT2, 2).dense) == [
        24 * layer + embedding + 1024 * h,
        24 * layer + 2 * h + embedding,
    ]
    assert stage_params(GPT2, 1).largest_unit == [embedding]


def test_what_belongs_to_the_embedding_lies_on_the_first_stage():
    layers = tuple(Layer(mixer=attention(8, 64), mlp=Mlp(intermediate_size=512)) for _ in range(2))
    model = ModelSpec(
        id="x",
        name="x",
        model_type="x",
        hidden_size=512,
        vocab_size=1000,
        tie_word_embeddings=False,
        max_position_embeddings=64,
        layers=layers,
        lookup_tables=(("table", 7_000),),
        embedding_extras=(("projection", 500),),
        final_norm_params=512,
        final_extras=(("extra", 30),),
    )
    layer = 4 * 512 * 512 + 3 * 512 * 512
    assert list(stage_params(model, 2).dense) == [layer + 512_000 + 7_000 + 500, layer + 512_000 + 512 + 30]


# 1F1B: the first of p stages keeps p micro-batches of its layers (Korthikanti et al. 2022, section 4.2.3).
def test_the_first_stage_keeps_a_micro_batch_for_every_stage():
    memory = training_memory(
        LLAMA_8B,
        data_parallel=1,
        zero_stage=0,
        pipeline_parallel=4,
        num_micro_batches=16,
        recompute="full",
        seq_len=2048,
    )
    layer = 2 * 2048 * 4096
    assert memory.activation_bytes[:3] == pytest.approx([8 * 4 * layer, 8 * 3 * layer, 8 * 2 * layer])
    assert memory.activation_bytes[3] == pytest.approx(8 * layer + 2 * layer + 8 * 2048 * 128_256)


def test_stage_3_gathers_two_units_and_reduces_one():
    memory = training_memory(LLAMA_70B, data_parallel=64, zero_stage=3, seq_len=4096)
    # The largest unit is the embedding, 128,256 x 8,192: two of them as 16-bit weights, one as 16-bit gradients.
    assert memory.transient_bytes == (2 * 2 + 2) * 128_256 * 8192


# Megatron-LM issue 6314: what stage 2 adds for a moment is a bucket, DeepSpeed's 5e8 gradients by default.
def test_stage_2_adds_a_bucket_of_gradients():
    memory = training_memory(LLAMA_8B, data_parallel=8, zero_stage=[1, 2], seq_len=64)
    assert memory.transient_bytes[:, 0] == pytest.approx([0, 2 * 5e8])


def test_logits_are_gone_before_a_layer_is_made_again():
    run = {"seq_len": 8192}
    memory = training_memory(LLAMA_8B, data_parallel=1, zero_stage=0, recompute="full", **run)
    parts = stage_activation_bytes(LLAMA_8B, recompute="full", logits_copies=LOGITS_COPIES, **run)
    again = recompute_bytes(LLAMA_8B, recompute="full", **run)
    # In the loss: logits and kept inputs. Later: kept inputs and one layer in full. The higher of both.
    without_logits = parts.total_bytes - parts.logits_bytes
    highest = np.maximum(without_logits + parts.logits_bytes, without_logits + again)
    assert memory.backward_bytes - memory.state_bytes == pytest.approx(highest)


def test_each_stage_makes_its_own_largest_layer_again():
    dense = Layer(mixer=attention(8, 64), mlp=Mlp(intermediate_size=8192))
    sparse = Layer(mixer=attention(8, 64), mlp=Moe(num_experts=8, top_k=1, expert_intermediate_size=64))
    shape = {name: getattr(LLAMA_8B, name) for name in ModelSpec.model_fields}
    base = ModelSpec(**shape | {"layers": (dense, dense, sparse, sparse), "hidden_size": 512})
    again = recompute_bytes(base, recompute="full", pipeline_parallel=2, seq_len=1024)
    each = model_activation_bytes(base, seq_len=1024) - model_activation_bytes(base, recompute="full", seq_len=1024)
    assert list(again) == [each[0], each[2]]
    assert again[0] > again[1]


def test_the_optimizer_step_can_be_the_peak():
    memory = training_memory(LLAMA_8B, data_parallel=1, zero_stage=0, recompute="full", seq_len=128)
    assert memory.peaks_in_step.all()
    # 16-bit gradients need an fp32 copy for the fp32 master: 20 bytes a parameter for a moment.
    assert memory.peak_bytes == pytest.approx(20 * 8_030_261_248)
    parts = memory.parts_at_peak()
    assert parts["activations"] == 0
    assert sum(parts.values()) == pytest.approx(memory.peak_bytes)


def test_parts_at_the_peak_add_up_wherever_the_peak_is():
    memory = training_memory(
        DEEPSEEK,
        data_parallel=np.array([[64], [256]]),
        zero_stage=np.array([0, 1, 2, 3]),
        pipeline_parallel=16,
        num_micro_batches=32,
        expert_parallel=64,
        recompute="full",
        seq_len=4096,
    )
    assert memory.peak_bytes.shape == (2, 4, 16)
    assert sum(memory.parts_at_peak().values()) == pytest.approx(memory.peak_bytes)
    assert np.all(memory.peak_bytes >= memory.backward_bytes)


RUN = {
    "tensor_parallel": 2,
    "pipeline_parallel": 4,
    "num_micro_batches": 8,
    "context_parallel": 2,
    "recompute": "selective",
    "sequence_parallel": True,
}


def test_a_grid_is_the_loop_of_its_scalars():
    ranks, stages = np.array([1, 2, 8, 64]), np.array([0, 1, 2, 3])
    grid = training_memory(MIXTRAL, data_parallel=ranks[:, None], zero_stage=stages, seq_len=1024, **RUN)
    for row, data_parallel in enumerate(ranks):
        for column, stage in enumerate(stages):
            one = training_memory(MIXTRAL, data_parallel=data_parallel, zero_stage=stage, seq_len=1024, **RUN)
            for part in FIELDS:
                assert getattr(grid, part)[row, column] == pytest.approx(getattr(one, part)), part


def test_positions_by_stages_by_pipeline_stages():
    grid = training_memory(
        LLAMA_70B,
        data_parallel=np.arange(1, 129)[:, None],
        zero_stage=np.arange(4),
        seq_len=4096,
        pipeline_parallel=8,
        num_micro_batches=16,
    )
    assert {getattr(grid, part).shape for part in FIELDS} == {(128, 4, 8)}
    assert grid.fullest().peak_bytes.shape == (128, 4)


def test_lengths_and_batches_may_be_the_axes():
    lengths, batches = np.array([[512], [2048]]), np.array([1, 2, 4])
    grid = training_memory(LLAMA_8B, data_parallel=8, zero_stage=1, seq_len=lengths, micro_batch_size=batches)
    assert grid.peak_bytes.shape == (2, 3, 1)
    one = training_memory(LLAMA_8B, data_parallel=8, zero_stage=1, seq_len=2048, micro_batch_size=4)
    assert grid.activation_bytes[1, 2] == pytest.approx(one.activation_bytes)


def test_the_fullest_stage_is_the_one_with_the_highest_peak():
    memory = training_memory(
        LLAMA_70B, data_parallel=[1, 64], zero_stage=1, pipeline_parallel=8, num_micro_batches=16, seq_len=4096
    )
    fullest = memory.fullest()
    assert list(fullest.peak_bytes) == list(memory.peak_bytes.max(axis=-1))
    at = memory.peak_bytes.argmax(axis=-1)
    assert list(fullest.weight_bytes) == [memory.weight_bytes[row, stage] for row, stage in enumerate(at)]


# Ren et al. 2021, arXiv:2101.06840: gradients and optimizer states in host memory, 16-bit weights stay.
def test_offload_leaves_weights_and_activations():
    memory = training_memory(LLAMA_8B, data_parallel=4, zero_stage=2, offload="optimizer", seq_len=64)
    assert memory.state_bytes == pytest.approx(2 * 8_030_261_248)
    assert memory.step_bytes == 0


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_can_be_asked_for(recipe):
    memory = training_memory(LLAMA_8B, data_parallel=1, zero_stage=0, recipe=recipe, seq_len=64)
    assert memory.state_bytes == pytest.approx(RECIPES[recipe].total_bytes * 8_030_261_248)
