"""The diagram of who talks to whom, counted by its arrows."""

from xml.etree import ElementTree

import pytest

from core.charts.who_talks import GPUS, who_talks


def shapes(picture, kind):
    return [shape.attrib for shape in ElementTree.fromstring(picture).iter() if shape.tag.endswith(kind)]


@pytest.mark.parametrize(("name", "most"), [("wide", 760), ("narrow", 350)])
def test_every_gpu_is_drawn_under_each_axis_within_its_place(name, most):
    picture = getattr(who_talks(), name)
    assert float(ElementTree.fromstring(picture).attrib["width"]) <= most
    boxes = shapes(picture, "}rect")
    assert max(float(box["x"]) + float(box["width"]) for box in boxes) <= most
    for axis in ("data", "tensor", "pipeline", "expert"):
        assert sum(box["class"].endswith(f"dia-{axis}") for box in boxes) == GPUS


# A ring of 4 has 4 links; a sum reaches 4 GPUs; 4 stages have 3 links each way; all to all has 4 x 3 / 2 pairs.
@pytest.mark.parametrize("name", ["wide", "narrow"])
def test_each_axis_has_the_links_of_its_collective(name):
    links = [path for path in shapes(getattr(who_talks(), name), "}path") if "marker-end" in path]
    both = [path for path in links if "marker-start" in path]
    back = [path for path in links if "dia-back" in path["class"]]
    assert len(links) == 4 + 4 + 2 * 3 + 6
    assert len(both) == 4 + 6  # sums and pairs go both ways
    assert len(back) == 3  # gradients of the hidden states


def test_words_name_every_axis():
    assert all(f"{axis} parallel:" in who_talks().alt for axis in ("Data", "Tensor", "Pipeline", "Expert"))
