"""What the diagrams show is the catalog's, and a layer's parts add up to its weights, its cache and its FLOPs."""

from __future__ import annotations

import pytest

from core.anatomy import layer_anatomy, levels
from core.flops import decode_flops_per_token
from core.hardware import load_accelerators, load_links
from core.kv_cache import kv_bytes
from core.model_spec import load_models

LLAMA = load_models()["meta-llama/Llama-3.1-70B"]
H100 = load_accelerators()["h100-sxm"]


# NVIDIA H100: 132 SMs of 256 KiB registers and 228 KiB shared memory, 50 MiB L2, 3.35 TB/s; NVLink 450 GB/s one way.
def test_an_h100_from_the_inside_out():
    found = {level.name: level for level in levels(H100)}
    assert list(found)[:4] == ["Registers", "Shared memory", "L2 cache", "Main memory"]
    assert found["Registers"].num_bytes == 132 * 256 * 1024
    assert found["Shared memory"].num_bytes == 132 * 228 * 1024
    assert found["L2 cache"].num_bytes == 50 * 2**20
    assert found["Main memory"].bytes_per_s == 3.35e12
    assert found["The other 7 GPUs of the node"].bytes_per_s == 450e9
    assert found["GPUs of other nodes"].bytes_per_s == 50e9


def test_the_scenario_s_links_are_taken():
    slow = load_links()["pcie-4-x16"]
    found = [level.bytes_per_s for level in levels(H100, scale_up=slow, scale_out=slow)]
    assert found.count(slow.bytes_per_s) == 2


@pytest.mark.parametrize("accelerator", load_accelerators().values(), ids=load_accelerators())
def test_every_accelerator_has_its_main_memory_and_no_empty_level(accelerator):
    found = levels(accelerator)
    assert any(level.num_bytes == accelerator.hbm_bytes for level in found)
    assert all(level.num_bytes or level.bytes_per_s for level in found)


def test_a_layer_of_llama_by_hand():
    layer = layer_anatomy(LLAMA, 4096)
    assert (layer.times, layer.of) == (80, 80)
    assert [part.name for part in layer.parts[:3]] == [
        "query, key and value projections",
        "full attention",
        "output projection",
    ]
    qkv, attention, *_ = layer.parts
    assert qkv.weight_bytes == 2 * 8192 * (64 + 2 * 8) * 128
    assert qkv.flops == 2 * 8192 * (64 + 2 * 8) * 128
    assert attention.flops == 2 * 2 * 64 * 128 * 4096  # scores and values
    assert attention.cache_bytes == 2 * 2 * 8 * 128 * 4096


# A second witness: 80 equal layers make the whole model's decode FLOPs but the head's, and its whole cache.
def test_the_layers_add_up_to_the_model():
    layer = layer_anatomy(LLAMA, 4096)
    matrices = sum(part.flops for part in layer.parts[:-1])
    assert 80 * matrices == pytest.approx(float(decode_flops_per_token(LLAMA, 4096)) - 2 * 8192 * 128_256)
    cache = 80 * sum(part.cache_bytes for part in layer.parts[:-1])
    assert cache == pytest.approx(float(kv_bytes(LLAMA, 4096)))


@pytest.mark.parametrize("model", load_models().values(), ids=load_models())
def test_every_model_has_a_layer_with_parts(model):
    layer = layer_anatomy(model, 1024)
    assert 1 <= layer.times <= layer.of
    assert len(layer.parts) >= 3
    assert all(part.num_bytes > 0 for part in layer.parts)
