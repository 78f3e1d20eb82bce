"""A model as a value: equal ones are one key of a cache, near ones are two."""

from core.model_spec import load_models
from tests.shapes import gqa


def test_equal_models_hash_alike_and_near_ones_are_told_apart():
    model, same, other = gqa(4, 8, 128), gqa(4, 8, 128), gqa(4, 4, 128)
    assert model is not same
    assert (hash(model), model) == (hash(same), same)
    assert hash(model) == hash(other)  # a few fields make the hash; equality looks at all
    assert model != other
    assert len({model, same, other}) == 2


def test_every_catalog_model_is_its_own_key():
    models = list(load_models().values())
    assert len(set(models)) == len({model.id for model in models})
