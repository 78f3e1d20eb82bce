"""All-reduces of a step against the collective that they are."""

import numpy as np
import pytest

from core.collective_time import collective_estimate_s
from core.hardware import load_accelerators, load_links
from core.model_spec import load_models
from core.serving_messages import Fabric, fabric_of, messages_s
from core.serving_work import decode_work

ACCELERATORS, LINKS = load_accelerators(), load_links()
H100 = ACCELERATORS["h100-sxm"]
LLAMA = load_models()["meta-llama/Llama-3.1-70B"]


def test_a_step_waits_for_161_all_reduces_of_a_70b_model():
    work = decode_work(LLAMA, 4096, batch=32)
    one = collective_estimate_s("all_reduce", 32 * 8192 * 2, 8, scale_up=LINKS["nvlink-4"])
    assert messages_s(work, 8, fabric_of(H100)) == pytest.approx(161 * one, rel=1e-12)


def test_one_gpu_waits_for_none():
    assert list(messages_s(decode_work(LLAMA, 1, batch=[1, 8]), 1, Fabric(None))) == [0, 0]


def test_small_messages_cost_latency_and_large_ones_bandwidth():
    work = decode_work(LLAMA, 1, batch=[1, 2, 4096, 8192])
    sent = messages_s(work, 8, fabric_of(H100))
    assert sent[1] / sent[0] < 1.05
    assert sent[3] / sent[2] > 1.8


def test_a_group_beyond_a_node_waits_for_the_network():
    work = decode_work(LLAMA, 1, batch=64)
    inside, across = messages_s(work, [8, 16], fabric_of(H100))
    assert across > 1.3 * inside
    rack = messages_s(work, [8, 16], fabric_of(ACCELERATORS["gb200"]))  # 72 GPUs on one NVLink
    assert rack[1] < across


def test_the_catalog_knows_each_accelerators_links():
    assert fabric_of(H100) == Fabric(LINKS["nvlink-4"], LINKS["infiniband-ndr"], 8)
    assert fabric_of(ACCELERATORS["h100-pcie"]).scale_up == LINKS["pcie-5-x16"]
    assert fabric_of(ACCELERATORS["gb200"]).gpus_per_node == 72


def test_a_link_of_ones_own_takes_the_place_of_the_catalogs():
    slow = fabric_of(H100, scale_up=LINKS["pcie-4-x16"])
    work = decode_work(LLAMA, 4096, batch=64)
    assert messages_s(work, 8, slow) > 5 * messages_s(work, 8, fabric_of(H100))


def test_a_long_sweep_gives_each_rows_own_time():
    rng = np.random.default_rng(0)
    batch, gpus = rng.integers(1, 65, 5000), rng.choice([1, 2, 8, 16], 5000)
    sent = messages_s(decode_work(LLAMA, 1, batch=batch), gpus, fabric_of(H100))
    for row in range(0, 5000, 499):
        assert sent[row] == messages_s(decode_work(LLAMA, 1, batch=batch[row]), gpus[row], fabric_of(H100))


def test_gpus_without_a_link_have_no_known_time():
    sent = messages_s(decode_work(LLAMA, 1), np.array([1, 2]), Fabric(None))
    assert sent[0] == 0
    assert np.isnan(sent[1])


def test_a_link_that_is_assumed_is_said():
    assert any("PCIe" in sentence for sentence in fabric_of(ACCELERATORS["apple-m2-ultra"]).assumed)
