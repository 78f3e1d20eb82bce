"""The catalog of models: every row can be read, agrees with what its authors print, and says where that is printed."""

import datetime
import json

import pytest

from core.model_catalog import CATALOG, load_catalog_rows
from core.model_spec import ModelSpec, load_models
from core.params import count_params
from tests.configs import CONFIGS, model_of

ROWS = load_catalog_rows()
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)


@each_row
def test_the_count_is_within_one_percent_of_the_published_total_or_the_row_says_why(row):
    total = count_params(load_models()[row.id]).total
    close = total == pytest.approx(row.published_total, rel=0.01)
    assert close or row.counts_differ
    assert not (close and row.counts_differ), "a reason without a difference misleads"


@each_row
def test_a_row_names_its_source_and_a_real_date(row):
    assert row.source
    assert datetime.date.fromisoformat(row.checked).year >= 2026
    assert row.id.count("/") == 1


@pytest.mark.parametrize("row", [row for row in ROWS if row.published_active], ids=lambda row: row.id)
def test_active_parameters_are_near_the_published_ones(row):
    # Authors count the embedding, the head, both or none, and print one or two digits (3 B for 3.6 B); our own count
    # leaves out the input embedding, so the published figure lies between that without head and with both.
    count = count_params(load_models()[row.id])
    low, high = count.active - count.lm_head, count.active + count.embedding
    assert low * 0.9 <= row.published_active <= high * 1.1


def test_ids_and_aliases_name_one_model_each():
    names = [name for row in ROWS for name in (row.id, *row.aliases)]
    assert len(names) == len(set(names))


def test_a_former_hub_name_gives_the_same_model():
    models = load_models()
    assert models["meta-llama/Meta-Llama-3.1-70B"] is models["meta-llama/Llama-3.1-70B"]
    assert "meta-llama/Meta-Llama-3.1-70B" in models
    assert models.get("meta-llama/Meta-Llama-3.1-70B").id == "meta-llama/Llama-3.1-70B"


@pytest.mark.parametrize("name", CONFIGS)
def test_every_real_config_is_in_the_catalog_with_the_same_layers(name):
    pasted = model_of(name)
    listed = load_models()[name.replace("--", "/")]
    assert listed.layers == pasted.layers
    assert count_params(listed) == count_params(pasted)


def test_an_unknown_id_is_a_key_error():
    assert "nobody/nothing" not in load_models()
    assert load_models().get("nobody/nothing") is None
    with pytest.raises(KeyError, match="nobody/nothing"):
        load_models()["nobody/nothing"]


def test_the_catalog_lists_each_model_once_and_reads_it_once():
    models = load_models()
    assert len(models) == len(ROWS) == len(list(models))
    assert models["Qwen/Qwen3-8B"] is models["Qwen/Qwen3-8B"]
    assert isinstance(models["Qwen/Qwen3-8B"], ModelSpec)
    assert models.name("Qwen/Qwen3-8B") == "Qwen3 8B"


def test_a_row_s_note_reaches_the_model():
    assert any("Never released" in note for note in load_models()["openai/gpt-3-175b"].notes)
    assert any("vision encoder" in note for note in load_models()["meta-llama/Llama-4-Scout-17B-16E"].notes)


def test_the_file_is_plain_json_without_repeated_keys():
    def no_repeats(pairs):
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), names
        return dict(pairs)

    json.loads(CATALOG.read_text(), object_pairs_hook=no_repeats)
