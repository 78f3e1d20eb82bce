"""The sheets in docs/worked, which were worked on paper from the papers' own formulas, against the core."""

import pytest

from core.partition import headline_of
from core.presets import load_presets
from core.scenario import changed

# states, activations, peak, traffic a step [bytes]; the sheet of the same number derives each.
SHEETS = {
    1: ("zero-70b-64", {}, 17_638_426_624, 9_705_619_456, 33_648_084_992, 416_707_828_992),
    2: ("megatron-1t-3072", {}, 34_184_908_800, 13_421_772_800, 48_246_312_960, 7_121_856_000),
    3: ("llama31-405b-16384", {}, 7_332_040_704, 68_249_714_688, 77_581_755_392, 225_945_460_224),
    4: ("deepseek-v3-h800", {}, 19_847_510_016, 3_758_096_384, 25_885_210_624, 17_852_826_624),
    5: ("8b-on-24gb", {}, 128_484_179_968, 2_671_771_648, 160_605_224_960, 0),
    "5, LoRA": ("8b-on-24gb", {"recipe": "lora"}, 16_731_611_136, 2_671_771_648, 19_403_382_784, 0),
    "5, QLoRA": ("8b-on-24gb", {"recipe": "qlora"}, 6_372_995_136, 2_671_771_648, 9_044_766_784, 0),
}


@pytest.mark.parametrize(("preset", "changes", "states", "activations", "peak", "traffic"), SHEETS.values(), ids=SHEETS)
def test_the_headline_is_the_one_worked_on_paper(preset, changes, states, activations, peak, traffic):
    here = headline_of(changed(load_presets()[preset].scenario(), **changes).training)
    assert here.state_bytes == pytest.approx(states, rel=1e-9)
    assert here.activation_bytes == pytest.approx(activations, rel=1e-9)
    assert here.peak_bytes == pytest.approx(peak, rel=1e-9)
    assert here.traffic_bytes == pytest.approx(traffic, rel=1e-9)
