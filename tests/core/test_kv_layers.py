"""What one layer of each kind keeps, element by element."""

import numpy as np
import pytest

from core.kv_layers import growing_cache, growing_caches, heads_per_gpu, mixer_counts
from core.model_spec import Layer, Mlp, StateSpace
from tests.shapes import DEEPSEEK_V4_FLASH, INDEXER, QWEN_27B, attention, compressed, mla, stack

ONE_GPU = np.ones(())


def elements(mixer, **options):
    return growing_cache(mixer, ONE_GPU, expanded=False, **options).elements


def test_keys_and_values_may_differ_in_width():
    assert elements(attention(8, 192, v_head_dim=128)) == 8 * (192 + 128)  # MiMo-V2-Flash


def test_one_projection_for_keys_and_values_still_caches_both():
    # transformers, modeling_gemma4.py: the key is normalised and rotated after the split
    assert elements(attention(2, 512, keys_are_values=True)) == 2 * 1024


def test_a_shared_vector_is_cached_once():
    assert elements(compressed(4, indexer=INDEXER)) == 512
    assert growing_cache(compressed(4, indexer=INDEXER), ONE_GPU, expanded=False).index_elements == 128


@pytest.mark.parametrize(("tokens", "exact", "of_4", "of_128"), [(1, 1, 0, 0), (127, 127, 31, 0), (300, 128, 75, 2)])
def test_pooled_entries_come_when_their_tokens_are_complete(tokens, exact, of_4, of_128):
    # transformers, modeling_deepseek_v4.py, run with 300 tokens: 75 and 2 entries, and 127 tokens beside the new one
    for ratio, pooled in ((4, of_4), (128, of_128), (0, 0)):
        cache = growing_cache(compressed(ratio), ONE_GPU, expanded=False)
        held = cache.entries(np.float64(tokens), ONE_GPU, uniform=False)
        assert held == (exact, pooled)


def test_nothing_grows_in_state_space_layers_and_readers_of_a_shared_cache():
    mamba = StateSpace(num_heads=64, head_dim=64, state_size=128, num_groups=8, conv_kernel=4)
    for mixer in (mamba, attention(8, 128, shares_kv=True), None, QWEN_27B.layers[0].mixer):
        assert growing_cache(mixer, ONE_GPU, expanded=False) is None


def test_each_distinct_mixer_is_met_once():
    counts = [count for count, _ in growing_caches(DEEPSEEK_V4_FLASH, ONE_GPU, expanded=False)]
    assert counts == [2, 21, 20]
    mixer = mla(1).layers[0].mixer
    layers = tuple(Layer(mixer=mixer, mlp=Mlp(intermediate_size=width)) for width in (64, 128, 256))
    assert mixer_counts(stack((1, mixer)).model_copy(update={"layers": layers})) == {mixer: 3}


def test_uneven_heads_count_on_the_fullest_gpu():
    assert heads_per_gpu(8, np.array([1, 3, 8, 16])).tolist() == [8, 3, 1, 1]
