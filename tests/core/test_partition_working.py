"""Every derivation of step 2, typed into a calculator, gives the number that the page shows."""

import pytest

from core.memory import training_memory
from core.memory_working import activation_workings, peak_workings
from core.model_spec import load_models
from core.params import count_params
from core.partition import headline_of
from core.partition_working import state_workings
from core.presets import load_presets
from core.scenario import Scenario, changed, with_model
from core.scenario_link import default_scenario
from tests.core.test_working import calculate

START = default_scenario()


def on(model_id: str, **values) -> Scenario:
    scenario, _ = with_model(START, load_models()[model_id])
    return changed(scenario, **values)


SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    "one GPU": on("openai-community/gpt2", data_parallel=1, zero_stage=0, seq_len=1024, recompute="selective"),
    "tied, in stages": on("google/gemma-3-27b-pt", pipeline_parallel=2, num_micro_batches=4, recompute="none"),
    "context ranks": on("Qwen/Qwen3-32B", context_parallel=4, seq_len=65_536, data_parallel=2),
    "interleaved": on("meta-llama/Llama-3.1-405B", pipeline_parallel=9, virtual_stages=7, num_micro_batches=18),
    "experts": on("openai/gpt-oss-120b", expert_parallel=8, tensor_parallel=2, sequence_parallel=True, zero_stage=2),
    "hybrid": on("nvidia/Nemotron-H-56B-Base-8K", tensor_parallel=8, recompute="selective", fused_attention=False),
    "offloaded": on("meta-llama/Llama-3.1-8B", offload="optimizer", recipe="adam-8bit", micro_batch_size=4),
    "adapters": on("meta-llama/Llama-3.1-70B", recipe="lora", tensor_parallel=8, zero_stage=2),
    "adapters on 4 bits": on("meta-llama/Llama-3.1-70B", recipe="qlora", data_parallel=1, zero_stage=0),
    "all in host memory": on("meta-llama/Llama-3.1-8B", offload="optimizer+parameters"),
    "expert split and stages": on(
        "deepseek-ai/DeepSeek-V3",
        pipeline_parallel=16,
        virtual_stages=2,
        num_micro_batches=32,
        expert_parallel=32,
        zero_stage=3,
    ),
}
ALL = pytest.mark.parametrize("scenario", [s.training for s in SCENARIOS.values()], ids=SCENARIOS)


@ALL
def test_the_last_line_of_each_derivation_is_its_value(scenario):
    workings = state_workings(scenario) + activation_workings(scenario) + peak_workings(scenario)
    for working in workings:
        assert calculate(working.substitution) == pytest.approx(working.value, rel=1e-12), working.name
        for term in working.terms:
            assert calculate(term.expression) == pytest.approx(term.value, rel=1e-12), (working.name, term.label)
        assert working.formula
        assert working.source
        assert working.assumptions
    names = [working.name for working in workings]
    assert len(set(names)) == len(names)


def by_name(workings):
    return {working.name.split(",")[0]: working for working in workings}


@ALL
def test_derivations_are_those_of_the_headline(scenario):
    here = headline_of(scenario)
    states = by_name(state_workings(scenario))
    assert states[f"Parameters of {scenario.model.name}"].value == count_params(scenario.model).total
    assert states["Model states per GPU"].value == pytest.approx(here.state_bytes)
    traffic = states["Data-parallel traffic of one GPU and step"]
    assert traffic.value == pytest.approx(here.traffic_bytes)
    largest = [working for name, working in states.items() if name.startswith("Largest model")]
    assert [working.value for working in largest] == pytest.approx([here.largest_params] * len(largest))
    assert bool(largest) == (scenario.offload == "none")
    activations = by_name(activation_workings(scenario))
    assert activations["Activations"].value == pytest.approx(here.activation_bytes)
    peak, room = peak_workings(scenario)
    assert peak.value == pytest.approx(here.peak_bytes)
    assert room.value == pytest.approx(here.room_bytes)
    assert ("optimizer step" in peak.name) == here.peaks_in_step


@ALL
def test_the_weights_of_one_gpu_are_what_it_stores_times_its_shards(scenario):
    shares = [working for working in state_workings(scenario) if working.name.startswith("Parameters of one GPU")]
    split = scenario.tensor_parallel * scenario.pipeline_parallel * scenario.expert_parallel > 1
    assert bool(shares) == split
    whole = training_memory(
        scenario.model, **scenario.layout | {"zero_stage": 0, "recipe": "adam", "offload": "none"}
    ).weight_bytes
    for share in shares:
        stage = int(share.name.split()[-3]) - 1
        assert share.value == pytest.approx(whole[stage] / 2)


# 70.55e9 parameters, ZeRO-3 on 64 GPUs, as one would write it.
def test_the_start_scenario_reads_as_on_a_whiteboard():
    states = by_name(state_workings(START.training))["Model states per GPU"]
    assert states.lines == (
        "2Ψ/N + 2Ψ/N + 12Ψ/N",
        "= 2 × 70,553,706,496 / 64 + 2 × 70,553,706,496 / 64 + 12 × 70,553,706,496 / 64",
        "= 17,638,426,624 bytes",
    )


# 2 of 8,030,261,248 frozen weights and 2 + 2 + 12 of rank 16 x 32 x (2 x 8192 + 2 x 5120 + 3 x 18432) = 41,943,040.
def test_adapters_are_counted_beside_their_frozen_base():
    lora = on("meta-llama/Llama-3.1-8B", recipe="lora", data_parallel=1, zero_stage=0).training
    assert by_name(state_workings(lora))["Model states per GPU"].lines == (
        "2Ψ + 2A + 2A + 12A",
        "= 2 × 8,030,261,248 + 2 × 41,943,040 + 2 × 41,943,040 + 12 × 41,943,040",
        "= 16,731,611,136 bytes",
    )
    shared = on("meta-llama/Llama-3.1-8B", recipe="qlora", data_parallel=8, zero_stage=3).training
    states = by_name(state_workings(shared))
    # NF4 with double quantization: (4 + 8/64 + 32/(64 x 256)) / 8 bytes; Dettmers et al. 2023, arXiv:2305.14314.
    assert states["Model states per GPU"].formula == "0.515869140625Q/N + 2E/N + 2A/N + 2A/N + 12A/N"
    sent = states["Data-parallel traffic of one GPU and step"]
    assert sent.terms[-1].expression == "1 × 2 × 41,943,040 × (8 - 1) / 8"
