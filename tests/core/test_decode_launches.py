"""Four ways to launch the scenario's decode step."""

import pytest

from core.decode_launches import launch_rows
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.scenario import changed, with_model
from core.scenario_link import default_scenario

START = default_scenario()


def rows(model="meta-llama/Llama-3.1-70B", **values):
    scenario, _ = with_model(START, load_models()[model])
    return launch_rows(changed(scenario, **values).serving)


# 80 layers of 48 and of 10 kernels: tests/core/test_launches.py counts them.
def test_fusion_makes_kernels_few_and_a_graph_makes_launches_short():
    eager, graph, fused, both = rows()
    assert (eager.kernels, graph.kernels) == (80 * 48 + 10,) * 2
    assert (fused.kernels, both.kernels) == (80 * 10 + 3,) * 2
    assert eager.queue_s == pytest.approx(3850 * 10e-6)
    assert both.queue_s == pytest.approx(803 * 1.1e-6)
    assert eager.work_s == graph.work_s == fused.work_s == both.work_s
    assert [row.waits_for_launches for row in (eager, graph, fused, both)] == [True, False, True, False]
    assert [row.step_s for row in (eager, both)] == [eager.queue_s, both.work_s]


def test_much_work_hides_every_launch():
    assert not any(row.waits_for_launches for row in rows(batch=1024, context_len=32_768))


def test_a_small_model_waits_even_in_a_graph():
    assert all(row.waits_for_launches for row in rows("openai-community/gpt2", batch=1, context_len=128)[:3])


def test_four_bit_weights_are_read_faster_and_launched_no_faster():
    wide, narrow = rows(batch=1)[0], rows(batch=1, weight_dtype="int4-g128")[0]
    assert narrow.work_s < wide.work_s
    assert narrow.queue_s == wide.queue_s


@pytest.mark.parametrize("card", [*load_accelerators().values()], ids=[*load_accelerators()])
def test_every_accelerator_has_its_rows(card):
    serving = START.serving.model_copy(update={"accelerator": card})
    for row in launch_rows(serving):
        assert row.step_s >= row.work_s > 0
        assert row.hidden_bytes > 0


@pytest.mark.parametrize("model_id", [*load_models()])
def test_every_catalog_model_has_its_rows(model_id):
    eager, _, fused, _ = rows(model_id)
    assert eager.kernels > fused.kernels > 0
