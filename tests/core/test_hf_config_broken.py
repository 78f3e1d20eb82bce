"""Whatever is pasted, the answer is a model or a sentence: text that is no config, real configs broken in any way."""

import copy
import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.hf_config import ConfigError, from_hf_config, parse_hf_config
from core.hf_config.registry import READERS
from core.params import count_params
from tests.configs import CONFIGS, LLAMA, llama, real, refusal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1, column 1"),
        ("hello", "not JSON"),
        ('{"a": 1,\n "b": }', "line 2, column 7"),
        ("[1, 2]", "not an object"),
        ("42", "not an object"),
        ("null", "not an object"),
        ('"llama"', "not an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "a number of more than 4,300 digits"),
        ('{"a": "' + "x" * 5_000_000 + '"}', "5,000 kB"),
        ("{}", "is missing"),
    ],
    ids=[
        "empty",
        "words",
        "broken",
        "array",
        "number",
        "null",
        "string",
        "deep",
        "deep-objects",
        "digits",
        "5MB",
        "bare",
    ],
)
def test_a_text_that_is_no_config_is_refused_in_words(text, words):
    with pytest.raises(ConfigError) as caught:
        parse_hf_config(text)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_bare_infinity_in_a_field_that_is_not_read_does_no_harm():
    text = CONFIGS["nvidia--Nemotron-H-56B-Base-8K"].read_text()
    assert "Infinity" in text
    parse_hf_config(text)


def test_a_byte_order_mark_is_skipped():
    assert parse_hf_config("\ufeff" + json.dumps(LLAMA)).num_layers == 32


def test_a_config_nested_beyond_the_stack_is_refused():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert "hidden_size=" in refusal(llama(hidden_size=deep))
    config = real("nvidia--Llama-3_3-Nemotron-Super-49B-v1")
    config["block_configs"][0] = deep
    refusal(config)


JUNK = [None, "", -1, 0, 1e30, math.nan, math.inf, [], {}, "x", True, False, 1.5, [None], {"a": 1}, [[]], 10**400]
MISSING = object()


def places(node, path=()):
    """Every field of a config, nested ones too, and the first and last entry of its lists."""
    items = node.items() if isinstance(node, dict) else [(i, node[i]) for i in sorted({0, len(node) - 1}) if node]
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list) and key not in ("vision_config", "id2label", "label2id"):
            yield from places(value, (*path, key))


def broken(config, path, value):
    config = copy.deepcopy(config)
    node = config
    for key in path[:-1]:
        node = node[key]
    if value is MISSING:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return config


def answer(config):
    """The refusal, or nothing where the config is read and counted."""
    try:
        count_params(from_hf_config(config))
    except ConfigError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", CONFIGS)
def test_a_real_config_with_one_broken_field_is_a_model_or_a_sentence_that_names_a_field(name):
    config = real(name)
    known = {str(key) for path in places(config) for key in path if isinstance(key, str)}
    for path in places(config):
        for value in (MISSING, *JUNK):
            sentence = answer(broken(config, path, value))
            assert sentence is None or any(field in sentence for field in known), f"{path}: {sentence}"
            assert sentence is None or len(sentence) < 500


BROKEN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted({key for name in CONFIGS for path in places(real(name)) for key in path if isinstance(key, str)})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kind=st.sampled_from(sorted(READERS)), fields=st.dictionaries(st.sampled_from(FIELDS), BROKEN, max_size=8))
def test_no_reader_breaks_on_any_fields(kind, fields):
    assert answer(LLAMA | {"model_type": kind} | fields) != ""


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_no_text_breaks_the_parser(text):
    with pytest.raises(ConfigError):
        parse_hf_config(text)
