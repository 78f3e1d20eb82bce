"""The palette holds up on both pages, and for colour-blind sight; a second witness computes contrast and distance."""

import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.charts.theme import DASH, FOLLOWERS, NEUTRALS, PAGE, PALETTE, PARTS, PATTERN

CONFIG = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text())

# Machado, Oliveira, Fernandes 2009, "A physiologically-based model for simulation of color vision deficiency",
# severity 1.0, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# Ottosson 2020, "A perceptual color space for image processing": linear RGB to cone response, and on to OKLab.
RGB_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LMS_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear_rgb(colour: str) -> NDArray[np.float64]:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio."""
    dark, light = sorted(float(linear_rgb(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def oklab(colour: str, sight: str) -> NDArray[np.float64]:
    seen = np.clip(np.asarray(SIGHT[sight]) @ linear_rgb(colour), 0, 1)
    return LMS_TO_LAB @ np.cbrt(RGB_TO_LMS @ seen)


def test_the_witness_knows_black_on_white():
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert oklab("#FFFFFF", "normal") == pytest.approx([1, 0, 0], abs=1e-3)


@pytest.mark.parametrize("scheme", PAGE)
@pytest.mark.parametrize("role", [*PARTS, *NEUTRALS])
def test_each_colour_stands_out_from_the_page(scheme, role):
    assert contrast(PALETTE[scheme][role], PAGE[scheme]) >= 3


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("scheme", PAGE)
def test_parts_are_told_apart_by_any_sight(scheme, sight):
    seen = {role: oklab(PALETTE[scheme][role], sight) for role in PARTS}
    distances = {pair: float(np.linalg.norm(seen[pair[0]] - seen[pair[1]])) for pair in combinations(PARTS, 2)}
    assert min(distances.values()) >= 0.13, min(distances, key=lambda pair: distances[pair])


def test_parts_are_told_apart_without_colour():
    filled = [*PARTS, *NEUTRALS]
    assert list(PATTERN) == filled
    assert len({PATTERN[role] for role in filled}) == len(filled)
    assert len({DASH[role] for role in filled}) == len(filled)
    assert list(DASH) == [*filled, *FOLLOWERS]


def test_nothing_is_hatched_and_grey():
    for scheme in PAGE:
        for role in NEUTRALS:
            assert np.hypot(*oklab(PALETTE[scheme][role], "normal")[1:]) < 0.05
    assert all(PATTERN[role] for role in NEUTRALS)


@pytest.mark.parametrize("scheme", PAGE)
def test_the_page_of_the_theme_is_the_page_of_the_palette(scheme):
    theme = CONFIG["theme"][scheme]
    assert theme["backgroundColor"] == PAGE[scheme]
    assert theme["chartCategoricalColors"] == [PALETTE[scheme][role] for role in PARTS]


@pytest.mark.parametrize("scheme", PAGE)
@pytest.mark.parametrize("words", ["textColor", "linkColor", "grayTextColor", "codeTextColor"])
def test_words_can_be_read_on_page_and_card(scheme, words):
    theme = CONFIG["theme"][scheme]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(theme[words], theme[ground]) >= 4.5


@pytest.mark.parametrize("scheme", PAGE)
def test_a_caption_can_be_read(scheme):
    theme = CONFIG["theme"][scheme]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        # Streamlit 1.67 shows st.caption in the text colour at an opacity of 0.6.
        words, page = (
            np.array([int(theme[name][at : at + 2], 16) for at in (1, 3, 5)]) for name in ("textColor", ground)
        )
        seen = "#" + "".join(f"{round(channel):02X}" for channel in 0.6 * words + 0.4 * page)
        assert contrast(seen, theme[ground]) >= 4.5


@pytest.mark.parametrize("scheme", PAGE)
def test_the_button_carries_white_words_and_stands_out(scheme):
    primary = CONFIG["theme"][scheme]["primaryColor"]
    assert contrast(primary, "#FFFFFF") >= 4.5
    assert contrast(primary, PAGE[scheme]) >= 3
