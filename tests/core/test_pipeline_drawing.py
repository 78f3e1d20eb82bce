"""What is drawn of a pipeline, and whether its numbers are those of a schedule that was played out."""

import pytest

from core.parallelism import SCHEDULES
from core.pipeline_drawing import MOST_PASSES, MOST_STAGES, own_drawing, pipeline_drawing
from core.scenario import changed
from core.scenario_link import default_scenario

START = default_scenario()


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize(("stages", "own"), [(1, 5), (2, 7), (4, 16), (8, 32), (16, 20)])
def test_what_is_drawn_whole_idles_as_long_as_its_numbers_say(kind, stages, own):
    drawing = pipeline_drawing(kind, stages, own, virtual_stages=2)
    for place in range(len(drawing.micro_batches)):
        played = drawing.drawn[place]
        if not drawing.scaled(place):
            assert played.bubble_of_total == pytest.approx(drawing.of_total[place], abs=1e-12)
            assert played.bubble_of_ideal == pytest.approx(drawing.of_ideal[place], abs=1e-12)
            assert played.in_flight(0) == pytest.approx(drawing.kept[place])


def test_the_scenarios_micro_batches_are_a_position():
    assert 20 in pipeline_drawing("1f1b", 4, 20).micro_batches
    drawing = pipeline_drawing("1f1b", 4, 20)
    assert drawing.micro_batches[drawing.nearest(20)] == 20


def test_interleaved_schedules_have_whole_rounds_alone():
    drawing = pipeline_drawing("interleaved", 8, 20, virtual_stages=2)
    assert all(count % 8 == 0 for count in drawing.micro_batches)
    assert drawing.micro_batches[drawing.nearest(20)] in (16, 24)
    assert 40 in pipeline_drawing("interleaved", 8, 40, virtual_stages=2).micro_batches


@pytest.mark.parametrize("kind", SCHEDULES)
def test_of_long_pipelines_a_smaller_one_is_drawn_in_proportion(kind):
    drawing = pipeline_drawing(kind, 64, 512, virtual_stages=2)
    place = drawing.nearest(512)
    played = drawing.drawn[place]
    assert drawing.scaled(place)
    assert played.stages == MOST_STAGES
    assert played.stages * played.micro_batches * played.virtual_stages <= max(MOST_PASSES, 16 * 16 * 2)
    assert drawing.of_total[place] == pytest.approx(63 / (512 * drawing.virtual_stages + 63), rel=0.7)


def test_a_scenario_of_one_stage_shows_an_example():
    assert own_drawing("1f1b", START.training).stages == 8
    assert own_drawing("interleaved", START.training).virtual_stages == 2
    run = changed(START, pipeline_parallel=4, virtual_stages=5, num_micro_batches=8).training
    drawing = own_drawing("interleaved", run)
    assert (drawing.stages, drawing.virtual_stages) == (4, 5)
    assert own_drawing("gpipe", run).virtual_stages == 1


def test_gpipe_keeps_all_and_1f1b_as_many_as_stages():
    kept = {kind: pipeline_drawing(kind, 8, 32).kept for kind in ("gpipe", "1f1b", "zb-h1")}
    places = pipeline_drawing("gpipe", 8, 32).micro_batches
    assert kept["gpipe"] == tuple(places)
    assert kept["1f1b"] == kept["zb-h1"] == tuple(min(8, count) for count in places)
