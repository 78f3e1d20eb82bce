"""Host memory against DeepSpeed's published estimates."""

import pytest

from core.offload import host_memory
from core.units import GIB, TB
from tests.published import as_printed, rows


@rows("deepspeed_host")
def test_matches_deepspeeds_cpu_column(row):
    host = host_memory(2851e6, 8, gpus_per_node=8, unit_params=32e6, optimizer="adam-fp32-grads", **row["inputs"])
    assert host.need_bytes / GIB == as_printed(row)


# DeepSpeed's stage 2 estimator multiplies by all GPUs of the job: 26.88 TB a node for 70B on 8 x 8.
@pytest.mark.parametrize("stage", [2, 3])
def test_a_node_builds_the_model_for_its_own_gpus(stage):
    host = host_memory(70e9, 64, stage=stage, gpus_per_node=8)
    assert host.need_bytes == pytest.approx(3.36 * TB)
    assert host.need_bytes * 8 == pytest.approx(26.88 * TB)


def test_states_are_spread_over_the_nodes():
    # 12 bytes of optimizer states and a 4-byte gradient a parameter, an eighth of them on each of 8 nodes.
    host = host_memory(70e9, 64, stage=2, gpus_per_node=8, sharded_init=True)
    assert host.state_bytes == pytest.approx(16 * 70e9 / 8)
    with_weights = host_memory(70e9, 64, stage=3, gpus_per_node=8, offload="optimizer+parameters")
    assert with_weights.state_bytes == pytest.approx(18 * 70e9 / 8)


def test_nothing_offloaded_leaves_nothing_on_the_host():
    assert host_memory(70e9, 64, stage=3, gpus_per_node=8, offload="none").state_bytes == 0


def test_unsharded_states_are_kept_once_a_gpu():
    assert host_memory(1e9, 8, stage=0, gpus_per_node=4).state_bytes == 4 * 16e9


def test_models_by_nodes_gives_a_grid():
    assert host_memory([[1e9], [7e9]], [8, 16, 32], stage=3, gpus_per_node=8).need_bytes.shape == (2, 3)
