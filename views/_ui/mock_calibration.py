"""Calibrate an interviewer: score three scripted answers without knowing which is which, then see where one differs."""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass, field
from functools import lru_cache, partial

import streamlit as st

from core.mock.agreement import agreement
from core.mock.calibrating import AnswerDifference, ScriptedAnswer, ScriptedItem, compared, scripted
from core.mock.pack import ANSWERS, Judgement
from core.mock.reading import CalibrationAnswers, read_mocks
from core.mock.scoring import JUDGEMENTS
from views._ui import bank, rooms
from views._ui.card_parts import text
from views._ui.mock_raters import agreement_in_words, level_in_words
from views._ui.predict import READING_WIDTH
from views._ui.step_page import data_table
from views._ui.words import inline, money_safe, plain

SMALL_OFFSET = 0.25  # levels: less than one step on one item of four


@dataclass(slots=True)
class Scoring:
    """One go at a pack's answers: their shuffled order, and what was committed, by the answer's number."""

    order: list[int]
    levels: dict[int, dict[str, int]] = field(default_factory=dict)
    overall: dict[int, Judgement] = field(default_factory=dict)

    @property
    def next(self) -> int | None:
        """The number of the answer to be scored now; None when all are."""
        return next((number for number in self.order if number not in self.levels), None)

    def place(self, number: int) -> int:
        """Where an answer stands in this order, from 1."""
        return self.order.index(number) + 1


@lru_cache(maxsize=1)
def answers() -> dict[str, CalibrationAnswers]:
    """The scripted answers of every pack that can be played, by the pack's id."""
    return {pack: found for pack, found in read_mocks().calibrations.items() if pack in rooms.packs()}


def scoring_of(pack: str) -> Scoring:
    """The go at this pack that is on in this session."""
    kept: Scoring | None = st.session_state.get(_key(pack))
    if kept is None:
        order = list(range(len(ANSWERS)))
        random.Random(secrets.token_bytes(8)).shuffle(order)
        kept = st.session_state[_key(pack)] = Scoring(order)
    return kept


def _key(pack: str) -> str:
    return f"calibration.{pack}"


def calibrate(pack: str) -> None:
    """Score one answer after the other, then compare."""
    found, scoring = answers()[pack], scoring_of(pack)
    items, texts = scripted(found, bank.shipped())
    if (number := scoring.next) is not None:
        with st.container(border=True):
            text(texts[number].prompt)
        _score(pack, scoring, texts[number], items)
    else:
        _differences(pack, scoring, texts, items)


def _score(pack: str, scoring: Scoring, answer: ScriptedAnswer, items: tuple[ScriptedItem, ...]) -> None:
    key, level = f"{_key(pack)}.{answer.number}", rooms.packs()[pack].model.level
    st.subheader(f"Answer {scoring.place(answer.number)} of {len(scoring.order)}", anchor=False)
    text(answer.text)
    st.subheader("Your scores", anchor=False)
    st.markdown("On each item, the highest level whose words fit what was said. Nothing is shown until all are scored.")
    with st.form(f"{key}.form"):
        for item in items:
            st.markdown(money_safe(f"**{item.observe}**"), width=READING_WIDTH)
            st.radio(
                f"Level of {item.item}",
                list(item.levels),
                index=None,
                format_func=partial(_level_words, item),
                key=f"{key}.{item.item}",
                label_visibility="collapsed",
            )
        st.radio(f"All in all, at {level} level", JUDGEMENTS, index=None, horizontal=True, key=f"{key}.overall")
        if st.session_state.pop(f"{key}.missing", False):
            st.markdown(":red[:material/error: Score every item, and the whole.]")
        st.form_submit_button(
            "Commit these scores", type="primary", on_click=_commit, args=(scoring, answer.number, key, items)
        )


def _level_words(item: ScriptedItem, level: int) -> str:
    return f"**{level}** {inline(item.levels[level])}"


def _commit(scoring: Scoring, number: int, key: str, items: tuple[ScriptedItem, ...]) -> None:
    levels = {item.item: st.session_state.get(f"{key}.{item.item}") for item in items}
    overall = st.session_state.get(f"{key}.overall")
    given = {item: level for item, level in levels.items() if level is not None}
    if len(given) < len(levels) or overall is None:
        st.session_state[f"{key}.missing"] = True
        return
    scoring.levels.setdefault(number, given)
    scoring.overall.setdefault(number, overall)


def _differences(
    pack: str, scoring: Scoring, texts: tuple[ScriptedAnswer, ...], items: tuple[ScriptedItem, ...]
) -> None:
    rows, offset = compared(answers()[pack], bank.shipped(), scoring.levels)
    pairs = [(item.first, item.second) for row in rows for item in row.items]
    found = agreement([[first for first, _ in pairs], [second for _, second in pairs]])
    st.subheader("How you score", anchor=False)
    if offset is not None:
        st.metric("your severity, in levels", f"{offset:+.2f}", width="content")
        st.markdown(severity_in_words(offset))
    st.markdown(f"{agreement_in_words(found)} Nobody else sees this, and it is not kept.", width=READING_WIDTH)
    for number in scoring.order:
        _one(scoring, rows[number], texts[number], items)
    st.button("Score them again", key=f"{_key(pack)}.again", icon=":material/replay:", on_click=_again, args=(pack,))


def severity_in_words(offset: float) -> str:
    """A mean offset of own levels in plain words."""
    if abs(offset) < SMALL_OFFSET:
        return "On average you score as the authors of these answers do."
    more, less = ("milder", "higher") if offset > 0 else ("stricter", "lower")
    return f"You are {more} than the authors: {abs(offset):.2f} of a level {less} on average."


def _one(scoring: Scoring, row: AnswerDifference, answer: ScriptedAnswer, items: tuple[ScriptedItem, ...]) -> None:
    st.subheader(f"Answer {scoring.place(answer.number)}: the {row.name} one", anchor=False)
    own = scoring.overall[answer.number]
    st.markdown(f"All in all you said **{own}**, the authors **{row.overall}**: {inline(row.why)}", width=READING_WIDTH)
    known = {item.item: item for item in items}
    table = [
        {
            "item": item.item,
            "yours": level_in_words(item.first),
            "theirs": level_in_words(item.second),
            "apart": "" if item.apart is None else str(item.apart),
            "their reason": row.whys[item.item],
        }
        for item in row.items
    ]
    data_table(st.empty(), table)
    for item in row.items:
        if item.wide and item.second is not None:
            words = known[item.item].levels[item.second]
            st.markdown(
                f":material/warning: **{plain(item.item)}** lies {item.apart} levels apart. "
                f"Level {item.second} reads: {inline(words)}",
                width=READING_WIDTH,
            )
    with st.expander("Read the answer again", icon=":material/notes:"):
        text(answer.text)


def _again(pack: str) -> None:
    for key in [key for key in st.session_state if str(key).startswith(_key(pack))]:
        del st.session_state[key]
