"""An address or a file reopens the scenario it was made from; anything else is refused in words."""

import base64
import hashlib
import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.hardware import load_accelerators, load_links
from core.memory import training_memory
from core.model_spec import ModelSpec, from_hf_config, load_models
from core.presets import load_presets
from core.scenario import FIELDS, Scenario, ScenarioError, build, changed, with_model
from core.scenario_link import (
    FILE_FORMAT,
    KEYS,
    MAX_ADDRESS_CHARS,
    MAX_UNPACKED_BYTES,
    OBJECT_KEYS,
    default_scenario,
    from_address,
    from_file,
    pack,
    to_address,
    to_file,
)
from tests.configs import CONFIGS, real

START = default_scenario()


def url_length(address):
    """As a browser would write it, percent signs included: every character but letters, digits and -._~ takes three."""
    safe = "-._~"
    return sum(2 + sum(1 if c.isalnum() or c in safe else 3 for c in key + text) for key, text in address.items()) - 1


def test_the_start_scenario_needs_no_address():
    assert to_address(START) == {}
    assert from_address({}) == START


def test_a_change_is_one_short_key():
    assert to_address(changed(START, data_parallel=128, sequence_parallel=True, tensor_parallel=8)) == {
        "dp": "128",
        "tp": "8",
        "sp": "1",
    }


@pytest.mark.parametrize("preset", load_presets().values(), ids=lambda preset: preset.id)
def test_every_preset_survives_its_address_and_its_file(preset):
    scenario = preset.scenario()
    address = to_address(scenario)
    assert from_address(address) == scenario
    assert from_file(to_file(scenario)) == scenario
    assert url_length(address) < 300


@pytest.mark.parametrize("name", CONFIGS)
def test_every_pasted_config_survives_its_address_and_its_file(name):
    scenario, _ = with_model(START, from_hf_config(real(name)))
    address = to_address(scenario)
    assert from_address(address) == scenario
    assert from_file(to_file(scenario)) == scenario
    assert url_length(address) < MAX_ADDRESS_CHARS
    assert len(pack(scenario.model)) < 1000  # half of an address is left for the layout and for edited hardware


def test_edited_hardware_travels_too():
    h100, nvlink, ndr = START.accelerator, START.scale_up, START.scale_out
    scenario = build(
        START.model,
        h100.edited(hbm_bytes=96 * 10**9, bf16_flops_per_s=8e14),
        nvlink.edited(bytes_per_s=4e11),
        ndr.edited(latency_s=2e-6),
        {"seq_len": 8192},
    )
    address = to_address(scenario)
    assert address.keys() == {"gpu", "up", "out", "seq"}
    assert from_address(address) == scenario
    assert from_file(to_file(scenario)) == scenario


def test_every_field_has_a_key_and_survives():
    assert sorted(KEYS.values()) == sorted(FIELDS)
    assert len({*KEYS, *OBJECT_KEYS}) == len(KEYS) + len(OBJECT_KEYS)
    other = changed(
        START,
        data_parallel=32,
        tensor_parallel=4,
        pipeline_parallel=2,
        context_parallel=2,
        sequence_parallel=True,
        virtual_stages=2,
        zero_stage=1,
        recipe="adam-8bit",
        offload="optimizer",
        micro_batch_size=2,
        num_micro_batches=16,
        seq_len=8192,
        recompute="none",
        fused_attention=False,
        serving_tensor_parallel=4,
        weight_dtype="fp8",
        kv_dtype="fp8",
        context_len=1000,
        batch=64,
        memory_fraction=0.85,
    )
    address = to_address(other)
    assert {*KEYS} - address.keys() == {"ep"}  # a dense model has no experts to spread
    assert from_address(address) == other


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(list(load_models())), st.sampled_from([1, 2, 4, 8]), st.integers(1, 10**6))
def test_any_catalog_model_survives(model_id, tensor_parallel, batch):
    scenario, _ = with_model(changed(START, tensor_parallel=tensor_parallel, batch=batch), load_models()[model_id])
    assert from_address(to_address(scenario)) == scenario


def test_a_former_model_id_still_opens():
    assert from_address({"model": "meta-llama/Meta-Llama-3.1-8B"}).model.id == "meta-llama/Llama-3.1-8B"


def test_foreign_keys_are_left_alone():
    assert from_address({"utm_source": "mail", "embed": "true", "tp": "8"}) == changed(START, tensor_parallel=8)


def test_a_model_too_large_for_an_address_goes_into_a_file():
    # 80 layers that all differ: nothing folds.
    layers = tuple(
        layer.model_copy(update={"norm_params": 7919 * (at + 1) % 104_729})
        for at, layer in enumerate(START.model.layers)
    )
    notes = tuple(hashlib.sha256(bytes([at])).hexdigest() for at in range(80))
    shape = {name: getattr(START.model, name) for name in ModelSpec.model_fields}
    large, _ = with_model(START, ModelSpec(**shape | {"id": "custom", "layers": layers, "notes": notes}))
    with pytest.raises(ScenarioError, match=r"an address holds at most 2,000 characters\. Save the scenario as a file"):
        to_address(large)
    assert from_file(to_file(large)) == large


def packed(data):
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    return "1." + base64.urlsafe_b64encode(zlib.compress(text)).decode().rstrip("=")


WHOLE = pack(START.model.model_copy(update={"id": "custom"}))
BOMBS = {
    "empty": "",
    "no id": "llama-9000",
    "prefix alone": "1.",
    "another version": "2." + WHOLE[2:],
    "cut": WHOLE[: len(WHOLE) // 2],
    "changed": WHOLE[:40] + "AAAA" + WHOLE[44:],
    "not base64": "1.%%%%",
    "not ascii": "1.é",
    "surrogate": "1.\ud800",
    "not deflate": "1." + base64.urlsafe_b64encode(b"hello").decode(),
    "not text": packed(b"\xff\xfe\xfd"),
    "not JSON": packed(b"{"),
    "a list": packed([1, 2]),
    "null": packed(None),
    "zip bomb": packed(b" " * 30_000_000),
    "deep": packed(b"[" * 200_000),
    "deep and closed": packed(b"[" * 900 + b"]" * 900),
    "5,000 digits": packed(b'{"id":' + b"9" * 5000 + b"}"),
    "layers no list": packed({"layers": 3}),
    "layers no pairs": packed({"layers": [1, 2]}),
    "a billion layers": packed({"layers": [[10**9, {}]]}),
    "100,000 layers": packed({"layers": [[4000, {}]] * 25}),
    "negative count": packed({"layers": [[-1, {}]]}),
    "fields missing": packed({"layers": [[2, {}]]}),
    "unknown kind": packed({"layers": [[2, {"mixer": {"kind": "telepathy"}}]]}),
}


@pytest.mark.parametrize("key", OBJECT_KEYS)
@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_broken_pack_is_refused_in_words(key, text):
    with pytest.raises(ScenarioError) as caught:
        from_address({key: text})
    (problem,) = caught.value.problems
    assert problem.field == key
    assert len(problem.sentence) < 400
    assert "Pick one from the list, or open the link again as it was sent." in problem.sentence
    assert "Exceeds the limit" not in problem.sentence


def edited_model(**changes):
    layer = START.model.layers[0]
    mlp = {"kind": "moe", "num_experts": 8, "top_k": 2, "expert_intermediate_size": 64}
    moe = layer.model_dump(mode="json") | {"mlp": mlp | changes}
    return START.model.model_dump(mode="json") | {"layers": [[80, moe]]}


# What passes must also be computable: an integer of any size would overflow in a formula, far from the address.
@pytest.mark.parametrize("field", ["num_experts", "top_k", "expert_intermediate_size", "shared_intermediate_size"])
@pytest.mark.parametrize("value", [10**9 + 1, 10**17, 10**30, 10**400, 1e308, float("nan"), -1, "8x", None])
def test_an_absurd_number_in_a_pack_is_refused_by_its_field(field, value):
    with pytest.raises(ScenarioError, match=rf"its field layers\.0\.mlp\.moe\.{field} is at fault"):
        from_address({"model": packed(edited_model(**{field: value}))})


def test_the_largest_model_that_is_let_in_can_be_computed():
    huge = edited_model(num_experts=100_000, expert_intermediate_size=10_000_000) | {"hidden_size": 10_000_000}
    training = from_address({"model": packed(huge)}).training
    # 80 layers of 100,000 experts of three matrices of 10^7 by 10^7, two bytes a weight, over 64 GPUs.
    assert training_memory(training.model, **training.layout).weight_bytes == pytest.approx(7.5e19, rel=1e-5)


def outcome(read, given):
    """The scenario, or the problems that refuse it; any other exception fails the test."""
    try:
        return read(given)
    except ScenarioError as error:
        return error.problems


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*KEYS, *OBJECT_KEYS, "x"]), st.text() | st.sampled_from([WHOLE, "1.eJw", "8", "nan"])
    )
)
def test_nothing_but_a_sentence_comes_of_a_typed_address(address):
    found = outcome(from_address, address)
    if isinstance(found, Scenario):
        assert from_address(to_address(found)) == found
    else:
        assert found
        assert all(len(problem.sentence) < 600 for problem in found)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_nothing_but_a_sentence_comes_of_a_damaged_pack(data):
    key, whole = data.draw(
        st.sampled_from([("model", WHOLE), ("gpu", pack(START.accelerator.edited(hbm_bytes=10**11)))])
    )
    at = data.draw(st.integers(2, len(whole) - 1))
    text = whole[:at] + data.draw(st.text("ABCabc019-_.", max_size=4)) + whole[data.draw(st.integers(at, len(whole))) :]
    found = outcome(from_address, {key: text})
    assert isinstance(found, Scenario) or [problem.field for problem in found] == [key]


def file_with(**changes):
    return json.dumps(json.loads(to_file(START)) | changes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it must be JSON that this app wrote"),
        ("not json", "it must be JSON that this app wrote"),
        ("[" * 100_000, "it must be JSON that this app wrote"),
        ('{"format": ' + "9" * 5000 + "}", "it must be JSON that this app wrote"),
        ("[1]", f"its format must be {FILE_FORMAT}"),
        ("{}", f"Scenario file is empty: its format must be {FILE_FORMAT}"),
        (file_with(format="ridgepoint-scenario/9"), "Scenario file is 'ridgepoint-scenario/9': its format must be"),
        (file_with(format=[[1]]), "Scenario file is a list: its format must be"),
        (file_with(model=None), "Scenario file is 'model': it must be a JSON object"),
        (file_with(gpu={}), "Scenario file is 'gpu': its field id is at fault"),
        (file_with(values=[]), "'values': it must hold the scenario's fields"),
        (file_with(values={"tensor_parallel": 7}), "must divide the 64 heads"),
        (file_with(values={"tensor_parallel": [[[7]]]}), "Tensor parallel is a list"),
        (file_with(values={"wings": 2}), "Wings is 2: there is no such field"),
        ("x" * (MAX_UNPACKED_BYTES + 1), "a scenario file holds at most 1,000,000"),
    ],
    ids=lambda text: text[:20],
)
def test_a_file_that_is_none_is_refused_in_words(text, words):
    with pytest.raises(ScenarioError) as caught:
        from_file(text)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


# Just below the depth at which the JSON reader gives up, writing the value out again would go too deep.
@pytest.mark.parametrize("depth", range(880, 1010, 5))
def test_deep_nesting_in_a_file_is_refused_at_every_depth(depth):
    nest = "[" * depth + "]" * depth
    for text in ('{"format": ' + nest + "}", file_with(values={"batch": 0}).replace(": 0", f": {nest}")):
        with pytest.raises(ScenarioError):
            from_file(text)


def test_a_file_may_leave_fields_to_their_defaults():
    assert from_file(file_with(values={})) == START


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["format", "model", "gpu", "up", "out", "values"]),
)
def test_nothing_but_a_sentence_comes_of_a_typed_file(value, key):
    found = outcome(from_file, file_with(**{key: value}))
    assert found == START if isinstance(found, Scenario) else found


def test_catalog_rows_go_by_id_and_are_no_longer_than_that():
    scenario = build(
        load_models()["openai/gpt-oss-120b"],
        load_accelerators()["b200-sxm"],
        load_links()["nvlink-5"],
        START.scale_out,
        {},
    )
    assert to_address(scenario) == {"model": "openai/gpt-oss-120b", "gpu": "b200-sxm", "up": "nvlink-5"}


@pytest.mark.parametrize("name", ["", "  ", "x" * 1000])
@pytest.mark.parametrize("part", ["model", "gpu"])
def test_a_name_that_cannot_stand_on_a_button_is_refused(part, name):
    parts = json.loads(to_file(START))
    with pytest.raises(ScenarioError, match="its field name is at fault"):
        from_file(json.dumps(parts | {part: parts[part] | {"name": name}}))
