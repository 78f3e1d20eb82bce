"""A variant's numbers as the shared scenario, so that a step page can open with them."""

from __future__ import annotations

from core.cards.draw import Variant, in_base_units
from core.cards.expressions import evaluate
from core.hardware import load_accelerators
from core.links import links_of
from core.model_spec import load_models
from core.scenario import Scenario, build, field_values, with_model
from core.scenario_link import default_scenario


def scenario_of(variant: Variant) -> Scenario | None:
    """The scenario that a card's scene describes for these numbers; None where the card has no scene.

    Raises:
        ScenarioError: these numbers make no valid scenario.
        ExpressionError: a field's expression has no value.
        KeyError: the scene names a model or an accelerator that is not in the catalog.
    """
    scene = variant.card.model.scene
    if scene is None:
        return None
    scenario = default_scenario()
    if scene.model is not None:
        scenario, _ = with_model(scenario, load_models()[scene.model])
    accelerator, links = scenario.accelerator, (scenario.scale_up, scenario.scale_out)
    if scene.accelerator is not None:
        accelerator = load_accelerators()[str(variant.values.get(scene.accelerator, scene.accelerator))]
        own = links_of(accelerator)
        links = (own.scale_up, own.scale_out)
    fields = {field: _value(variant, text) for field, text in {**scene.training, **scene.serving}.items()}
    return build(scenario.model, accelerator, *links, field_values(scenario) | fields)


def _value(variant: Variant, text: str | float | bool) -> object:
    """A yes or no, a word such as bf16 or full, or a number, also from an expression in base units."""
    if isinstance(text, bool):
        return text
    if isinstance(text, str):
        base = in_base_units(variant.card, variant.values)
        if text.isidentifier() and text not in base:
            return text
        number = evaluate(text, base)
    else:
        number = text
    return int(number) if number.is_integer() else number
