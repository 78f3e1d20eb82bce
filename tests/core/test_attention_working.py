"""Every derivation of step 4, typed into a calculator, gives the number that the page shows."""

import pytest

from core.attention import headline_of, over_tile_rows
from core.attention_kinds import kinds
from core.attention_time_working import kind_workings, launch_workings, tile_workings, time_workings
from core.attention_working import io_workings
from core.decode_launches import launch_rows
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario
from tests.core.test_working import calculate
from tests.shapes import QWEN_27B, stack

START = default_scenario()


def on(model_id, **values):
    return changed(with_model(START, load_models()[model_id])[0], **values)


def on_card(card):
    update = {"accelerator": load_accelerators()[card]}
    return START.model_copy(
        update={
            "training": START.training.model_copy(update=update),
            "serving": START.serving.model_copy(update=update),
        }
    )


SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    "long": on("meta-llama/Llama-3.1-8B", seq_len=1_048_576, micro_batch_size=2),
    "short": on("openai-community/gpt2", seq_len=64),
    "one head": on("google/gemma-3-1b-pt", tensor_parallel=4),
    "windows": on("openai/gpt-oss-120b", seq_len=5000),
    "window only": on("mistralai/Mistral-7B-v0.1", seq_len=65_536),
    "chunks": on("meta-llama/Llama-4-Scout-17B-16E-Instruct", seq_len=20_000),
    "narrow values": on("XiaomiMiMo/MiMo-V2-Flash"),
    "latents": on("deepseek-ai/DeepSeek-V3.2", tensor_parallel=8),
    "pooled": on("deepseek-ai/DeepSeek-V4-Flash"),
    "hybrid": on("nvidia/Nemotron-H-56B-Base-8K"),
    "no peak": on_card("apple-m4-max"),
    "no shared memory": on_card("tpu-v5p"),
    "small shared memory": on_card("mi300x"),
}
ALL = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def workings(scenario):
    yield from io_workings(scenario.training)
    yield from time_workings(scenario.training)
    yield from tile_workings(scenario.training, over_tile_rows(scenario.training))
    yield from launch_workings(launch_rows(scenario.serving))
    yield from kind_workings(kinds(scenario.model, scenario.serving.kv_dtype), scenario.serving)


@ALL
def test_the_last_line_of_each_derivation_is_its_value(scenario):
    found = list(workings(scenario))
    for working in found:
        assert calculate(working.substitution) == pytest.approx(working.value, rel=1e-9), working.name
        for term in working.terms:
            assert calculate(term.expression) == pytest.approx(term.value, rel=1e-9), (working.name, term.label)
        assert working.formula
        assert working.source
        assert working.assumptions
    assert len({working.name for working in found}) == len(found)


@ALL
def test_derivations_are_those_of_the_headline(scenario):
    here = headline_of(scenario.training)
    scores, unfused, tiled, least, held, held_tiled = io_workings(scenario.training)
    assert unfused.value == here.unfused_bytes
    assert tiled.value == here.tiled_bytes
    assert least.value == here.least_bytes
    assert (held.value, held_tiled.value) == (here.unfused_extra_bytes, here.tiled_extra_bytes)
    assert held.value > 2 * scores.value


def test_a_model_without_attention_has_no_derivations():
    none = START.training.model_copy(update={"model": stack((4, QWEN_27B.mixers[0]))})
    assert io_workings(none) == time_workings(none) == []
