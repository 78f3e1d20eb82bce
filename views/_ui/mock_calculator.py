"""The calculator of a mock session: its controls are mirrored in every browser of the room, one hand at a time."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.constraints import label
from core.hardware import load_accelerators
from core.mock.calculator import (
    ACCELERATOR,
    MODEL,
    SERVING,
    TRAINING,
    Results,
    Value,
    scenario_from,
    serving_results,
    shown_values,
    training_results,
)
from core.mock.fold_board import HOLD_S, held_by_another
from core.mock.roles import is_rater
from core.model_spec import load_models
from core.scenario import FIELDS, Choice, ScenarioError, WholeNumber
from views._ui import settings
from views._ui.controls import NARROW, WIDE, refusal
from views._ui.mirrored import key_of, moved
from views._ui.room import Room
from views._ui.rooms import ROLE_WORDS
from views._ui.step_page import data_table

COVERED = "**Estimate first.** The results are covered until the interviewer opens them."
SIDES = ("Training", "Serving")
_MOST: dict[str, int] = {  # where a slider ends; a value beyond it, set by a twist say, is added to its positions
    "data_parallel": 16_384,
    "tensor_parallel": 64,
    "pipeline_parallel": 128,
    "micro_batch_size": 64,
    "num_micro_batches": 4096,
    "seq_len": 1_048_576,
    "serving_tensor_parallel": 64,
    "context_len": 1_048_576,
    "batch": 4096,
}


def calculator(room: Room) -> None:
    """Controls and results, as a part of the page."""
    room.part("calculator", partial(_draw, room), _depends_on)


def _depends_on(room: Room) -> object:
    public = room.public
    return public.sliders_seq, public.slider_hand, _held(room), public.masked, public.finished, room.seated


def _draw(room: Room) -> None:
    if room.public.finished:
        return
    begins = SIDES[room.pack.model.theme == "serving"]
    side = st.segmented_control(
        "Calculator", SIDES, default=begins, required=True, key="mock.calc.side", persist_state="session"
    )
    shown = shown_values(room.public.sliders)
    writes = room.seated
    with st.container(key="mock.calc.hand"):  # always there: what moves up or down loses the focus of a hand on it
        _hand(room, writes)
    with st.container(horizontal=True):
        for field in (MODEL, ACCELERATOR, *(TRAINING if side == SIDES[0] else SERVING)):
            with st.container(width=WIDE if field in (MODEL, ACCELERATOR) else NARROW):
                _control(room, field, shown[field], disabled=not writes)
    room.refusal("sliders")
    if room.public.masked:
        st.markdown(f":material/visibility_off: {COVERED}")
        if not is_rater(room.role):
            return
    _results(room, side)


def _held(room: Room) -> bool:
    return held_by_another(room.state, room.role, room.store.now())


def _hand(room: Room, writes: bool) -> None:
    """Whose hand is on the controls, and the way to take it off."""
    hand = room.public.slider_hand
    if hand == room.role and writes:
        st.button(
            "Let go of the controls",
            key="mock.calc.let_go",
            type="tertiary",
            icon=":material/back_hand:",
            on_click=partial(room.do, "hold", at="sliders", on=False),
        )
    elif hand is not None and _held(room):
        words = f"{ROLE_WORDS[hand]} moved it; free again {HOLD_S:.0f} s after the last move."
        st.markdown(f":gray[:material/back_hand: {words}]")


def _control(room: Room, field: str, value: Value, *, disabled: bool) -> None:
    value = _option(value)
    options = _options(room, field, value)
    key = key_of(room, _name(field), value)
    changed = partial(_moved, room, field, key)
    words = label(field) if field in FIELDS else {MODEL: "Model", ACCELERATOR: "Accelerator"}[field]
    if field in _MOST or field == "memory_fraction":
        st.select_slider(
            words, options, value=value, key=key, format_func=_in_words, on_change=changed, disabled=disabled
        )
    else:
        names = {MODEL: load_models(), ACCELERATOR: load_accelerators()}.get(field, {})
        st.selectbox(
            words,
            options,
            index=options.index(value),
            key=key,
            format_func=lambda option: getattr(names.get(option), "name", str(option)),
            on_change=changed,
            disabled=disabled,
        )


def _name(field: str) -> str:
    return f"mock.calc.{field}"


def _moved(room: Room, field: str, key: str) -> None:
    if moved(room, _name(field), key):
        room.act("sliders", values={field: st.session_state[key]})
    room.redraw()


def _options(room: Room, field: str, value: Value) -> list[Value]:
    """The positions of a control, with the room's value among them whatever it is.

    Once among them it stays: the browser names a position by its number, which must go on meaning the same.
    """
    usual = _usual(field)
    odd: list[Value] = st.session_state.setdefault(f"mock.calc.{field}.odd.{room.id}", [])
    if value not in (*usual, *odd):
        odd.append(value)
    options = [*usual, *odd]
    return options if any(isinstance(option, str) for option in options) else sorted(options)


def _usual(field: str) -> list[Value]:
    kind = FIELDS.get(field)
    options: list[Value]
    if field in _MOST:
        # Powers of two and the steps halfway between: 48 and 3,072 are layouts too.
        powers = [1 << power for power in range(_MOST[field].bit_length())]
        options = sorted({*powers, *(power + power // 2 for power in powers[1:-1])})
    elif field == MODEL:
        options = list(load_models())
    elif field == ACCELERATOR:
        options = list(load_accelerators())
    elif isinstance(kind, Choice):
        options = list(kind.options)
    elif isinstance(kind, WholeNumber):
        options = list(range(kind.low, kind.high + 1))
    else:
        options = [percent / 100 for percent in range(50, 100, 5)]
    return options


def _option(value: Value) -> Value:
    """A room's value as the controls have it: whole numbers without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _in_words(value: Value) -> str:
    return str(value) if isinstance(value, str | bool) else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _results(room: Room, side: str) -> None:
    try:
        scenario = scenario_from(room.public.sliders)
    except ScenarioError as error:
        refusal(str(error))
        return
    unit = settings.unit()
    found: Results = training_results(scenario, unit) if side == SIDES[0] else serving_results(scenario, unit)
    for problem in found.problems:
        refusal(problem)
    if found.tiles:
        rows = [{"": tile.label, "value": tile.value, "note": tile.note} for tile in found.tiles]
        data_table(st.empty(), rows)
