"""A drawing is made at two widths, stays inside them, escapes its words, and says the same to who does not see it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from core.anatomy import layer_anatomy, levels
from core.charts.theme import PALETTE
from core.hardware import load_accelerators
from core.model_spec import load_models
from tests.pages.conftest import OpenPage
from views._ui import pictures
from views._ui.diagram import NARROW, WIDE, Canvas, diagram

LEVELS = levels(load_accelerators()["h100-sxm"])
LAYER = layer_anatomy(load_models()["deepseek-ai/DeepSeek-V3"], 4096)
PICTURES = {
    "bytes": lambda canvas: pictures.levels_picture(canvas, LEVELS, "GB"),
    "layer": lambda canvas: pictures.layer_picture(canvas, LAYER, "GB"),
    "steps": pictures.steps_picture,
}
SVG = "{http://www.w3.org/2000/svg}"
# Pixels by class, on the generous side; the browser test has the real ones.
_LETTER = {"dia-small dia-quiet": 6.4, "": 6.9, "dia-strong": 7.2}


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_leaves_the_drawing(draw, width):
    canvas = Canvas(width)
    height = draw(canvas)
    root = ElementTree.fromstring(canvas.svg(height))
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width + 0.5
        assert 0 <= y <= y + h <= height
    for text in root.iter(f"{SVG}text"):
        length, x = _LETTER[text.get("class")] * len(text.text or ""), float(text.get("x"))
        left = {"start": x, "middle": x - length / 2, "end": x - length}[text.get("text-anchor")]
        assert left >= -1, text.text
        assert left + length <= width + 1, text.text
        assert float(text.get("y")) <= height


def test_words_are_escaped():
    canvas = Canvas(WIDE)
    canvas.text(0, 10, "<script>alert('x')</script>")
    svg = canvas.svg(20)
    assert "<script" not in svg
    assert ElementTree.fromstring(svg).find(f"{SVG}text").text == "<script>alert('x')</script>"


def test_it_is_drawn_for_both_widths_in_colours_of_the_palette():
    made = diagram(pictures.steps_picture, "five steps")
    widths = [ElementTree.fromstring(drawn).get("width") for drawn in (made.wide, made.narrow)]
    assert widths == [str(WIDE + 4), str(NARROW + 4)]  # a margin of 2 on each side
    assert made.alt == "five steps"
    used = set(re.findall(r"fill:var\(--([a-z]+)", diagram(PICTURES["layer"], "").wide))
    assert used == {"weights", "kv", "activations"}
    assert used <= PALETTE["light"].keys()


def test_the_words_hold_every_number_that_is_drawn():
    for words, draw in (
        (pictures.levels_words(LEVELS, "GB"), PICTURES["bytes"]),
        (pictures.layer_words(LAYER, "GB"), PICTURES["layer"]),
    ):
        canvas = Canvas(WIDE)
        root = ElementTree.fromstring(canvas.svg(draw(canvas)))
        drawn = [text.text for text in root.iter(f"{SVG}text") if re.search(r"\d", text.text or "")]
        assert [text for text in drawn if text not in words] == []


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"gpu": "apple-m3-ultra", "up": "pcie-4-x16"},
        {"gpu": "tpu-v5e"},
        {"model": "nvidia/Nemotron-H-56B-Base-8K"},
        {"model": "moonshotai/Kimi-Linear-48B-A3B-Base"},
    ],
    ids=str,
)
def test_the_cheat_sheet_draws_any_scenario(open_page: OpenPage, query):
    at = open_page("views/start/cheat_sheet.py", query)
    assert not at.exception
    assert sum("narrow" in node.proto.json for node in at.get("bidi_component")) == 3
