"""The drawing of nodes: as wide as its place, and where each group of GPU 0 lies in words."""

import re
from xml.etree import ElementTree

import pytest

from core.charts.rank_places import rank_places
from core.presets import load_presets
from core.rank_places import rank_picture
from core.scenario import changed
from core.scenario_link import default_scenario

START = default_scenario()
SPLIT = changed(START, tensor_parallel=8, pipeline_parallel=8, data_parallel=4, num_micro_batches=32, zero_stage=1)
SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {"split": SPLIT}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_no_node_sticks_out_of_the_page_or_the_phone(scenario):
    drawing = rank_places(rank_picture(scenario.training, 8))
    for picture, width in ((drawing.wide, 760), (drawing.narrow, 350)):
        root = ElementTree.fromstring(picture)
        assert float(root.attrib["width"]) <= width
        boxes = [x for x in root.iter() if x.tag.endswith("}rect")]
        assert max(float(x.attrib["x"]) + float(x.attrib["width"]) for x in boxes) <= width
        assert max(float(x.attrib["y"]) + float(x.attrib["height"]) for x in boxes) <= float(root.attrib["height"])


def test_the_drawing_of_nodes_says_where_each_group_lies():
    drawing = rank_places(rank_picture(SPLIT.training, 8))
    assert drawing.alt == (
        "256 GPUs on 32 nodes. GPU 0 belongs to: tensor group of 8 GPUs, inside one node; data group of 4 GPUs, over 4"
        " nodes, 1 in each; pipeline group of 8 GPUs, over 8 nodes, 1 in each. 7 nodes are drawn."
    )
    assert re.findall(r">node ([\d,]+)<", drawing.wide) == ["0", "1", "2", "3", "4", "8", "28"]
    assert "One GPU: it talks to nobody." in rank_places(rank_picture(changed(START, data_parallel=1).training, 8)).wide
    many = rank_places(rank_picture(changed(START, data_parallel=4096).training, 8960))
    assert "and 4,024 more" in many.wide


# Tensor parallel 8 fills the first of 32 nodes; 4 data ranks are 3 more GPUs and 8 pipeline stages 7, of which the
# drawn nodes 4, 8 and 28 hold the nearest two and the farthest.
def test_each_gpu_wears_the_letter_of_its_group():
    picture = rank_places(rank_picture(SPLIT.training, 8)).wide
    letters = re.findall(r'text-anchor="middle"[^>]*>([TDP0])<', picture)
    legend = {"T": 1, "D": 1, "P": 1}
    assert {letter: letters.count(letter) - legend.get(letter, 0) for letter in "0TDP"} == {
        "0": 1,
        "T": 7,
        "D": 3,
        "P": 3,
    }
