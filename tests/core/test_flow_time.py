"""Flows get the time of their collective, over the links that their group spans."""

from dataclasses import replace

import numpy as np
import pytest

from core.axis_traffic import model_flows
from core.collective_table import MeasuredCollective
from core.collective_time import collective_estimate_s
from core.data_traffic import data_flows
from core.flow_time import Interconnect, call_s, is_measured, seconds, timed
from core.hardware import load_links
from core.layout import Layout
from core.model_spec import load_models

LINKS = load_links()
JOINED = Interconnect(LINKS["nvlink-4"], LINKS["infiniband-ndr"])
LLAMA = load_models()["meta-llama/Llama-3.1-70B"]


def flows_of(**options):
    layout = Layout.of(seq_len=4096, **options)
    return (*model_flows(LLAMA, layout), *data_flows(LLAMA, layout)), layout.groups(8)


def test_tensor_parallel_calls_stay_inside_a_node():
    flows, groups = flows_of(tensor_parallel=8)
    flow = flows[0]
    expected = collective_estimate_s("all_reduce", 2 * 4096 * 8192, 8, scale_up=LINKS["nvlink-4"])
    assert call_s(flow, groups, JOINED).item() == pytest.approx(float(expected))
    assert seconds(timed(flows, groups, JOINED), axis="tensor", when=("forward",)) == pytest.approx(
        160 * float(expected)
    )


def test_tensor_parallelism_over_two_nodes_is_bound_by_the_ports():
    inside, across = (
        seconds(timed(*flows_of(tensor_parallel=t), JOINED), axis="tensor", when=("forward",)) for t in (8, 16)
    )
    assert across > inside  # eight ports of 40 GB/s, where a node has 371


# Data parallel behind 8-way tensor parallelism has one port a group, without it eight.
def test_gradients_get_a_port_for_each_rank_in_a_node():
    def rate(**options):
        flows, groups = flows_of(zero_stage=0, **options)
        flow = next(f for f in flows if f.axis == "data")
        return (2 * 15 / 16 * flow.num_bytes / call_s(flow, groups, JOINED)).item()

    # Buckets of 80 MB: latencies take a tenth where they take 4 ms, a fifth where they take 0.6 ms.
    assert rate(data_parallel=16, tensor_parallel=8) / 1e9 == pytest.approx(0.9 * 40, rel=0.03)
    assert rate(data_parallel=16) / 1e9 == pytest.approx(0.8 * 320, rel=0.03)


def test_neighbouring_stages_in_other_nodes_send_through_one_port():
    near, groups = flows_of(tensor_parallel=2, pipeline_parallel=4)
    far, far_groups = flows_of(tensor_parallel=8, pipeline_parallel=4)
    size = 2 * 4096 * 8192
    send = {"near": near, "far": far}
    times = {
        name: float(np.max(call_s(next(f for f in flows if f.axis == "pipeline"), where, JOINED)))
        for (name, flows), where in zip(send.items(), (groups, far_groups), strict=True)
    }
    assert times["near"] == pytest.approx(size / 371e9, rel=0.1)
    assert times["far"] == pytest.approx(size / 40e9, rel=0.1)


def test_a_measured_call_is_one_of_its_op_ranks_and_size_inside_a_node():
    table = MeasuredCollective("all_reduce", 8, (1e6, 1e9), (1e-3, 1.0))
    with_table = replace(JOINED, tables=(table,))
    flows, groups = flows_of(tensor_parallel=8)
    (first, *_) = flows  # 67 MB among eight GPUs of a node
    assert is_measured(first, groups, with_table).all()
    assert call_s(first, groups, with_table).item() == pytest.approx(float(table.time_s(2 * 4096 * 8192)))
    assert not is_measured(first, groups, JOINED).any()
    for other in (replace(table, op="all_gather"), replace(table, ranks=4), replace(table, num_bytes=(1e8, 1e9))):
        assert not is_measured(first, groups, replace(JOINED, tables=(other,))).any()
    across, wide = flows_of(tensor_parallel=16)
    over_two_nodes = replace(JOINED, tables=(replace(table, ranks=16),))
    assert not is_measured(across[0], wide, over_two_nodes).any()
