"""One open question: prompt, replies, hints at a cost, own answer first, then the strong one and its rubric."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.cards.card import Card
from core.cards.draw import DrawError, Variant, draw, number_label, twisted
from core.cards.grading import hints_cost, weighted_mark
from core.cards.models import Mark, Question, RubricItem, Twist
from core.cards.text import TextError, significant, with_unit
from core.progress import recording
from core.progress.document import MAX_TEXT_CHARS, Mode, OpenAnswer
from views._ui import answering, bank, card_address, learner
from views._ui.card_parts import card_head, sources, text
from views._ui.predict import READING_WIDTH
from views._ui.step_page import data_table
from views._ui.words import inline, plain

SKIPPED = "skipped"


def question(card: Card, seed: int, place: str = "cards", mode: Mode | None = "card") -> None:
    """Draw one showing of a question; its rubric and strong answer are sent only after an own answer or a skip."""
    variant = draw(card, seed)
    key = answering.key_of(place, card, seed)
    model = _model(variant)
    answering.start_clock(key)
    card_head(card)
    with st.container(border=True):
        text(variant.fill(card.sections["Prompt"]))
    _clarify(variant, key)
    _hints(variant, key)
    if answering.outcome(key) is None:
        _own_answer(variant, key)
        return
    _strong_answer(variant, key)
    _rubric(variant, key, mode)
    _trade_offs(variant)
    _twists(variant, key)
    _stress(variant)
    _mistakes(variant)
    _follow_ups(model)
    sources(card)


def _model(variant: Variant) -> Question:
    model = variant.card.model
    assert isinstance(model, Question)
    return model


def _clarify(variant: Variant, key: str) -> None:
    """Replies come one at a time: the questions themselves show what a good candidate asks."""
    model = _model(variant)
    asked: list[int] = st.session_state.get(f"{key}.asked_for", [])
    with st.expander("Clarifying questions", icon=":material/contact_support:", key=f"{key}.clarify.box"):
        st.markdown("Think of what you would ask first. Then open the replies to what you would have asked.")
        for number, reply in enumerate(model.clarify):
            if number in asked:
                text(f"**{variant.fill(reply.ask)}**  \n{variant.fill(reply.give)}")
            else:
                st.button(
                    inline(variant.fill(reply.ask)),
                    key=f"{key}.clarify.{number}",
                    type="tertiary",
                    icon=":material/chat_bubble:",
                    on_click=_ask_for,
                    args=(key, number),
                )


def _ask_for(key: str, number: int) -> None:
    st.session_state.setdefault(f"{key}.asked_for", []).append(number)


def _hints(variant: Variant, key: str) -> None:
    model = _model(variant)
    taken = answering.hints(key)
    with st.expander("Hints", icon=":material/lightbulb:", key=f"{key}.hints.box"):
        st.markdown(f":small[:gray[{taken} of {len(model.hints)} taken]]")
        for hint in model.hints[:taken]:
            text(f"{variant.fill(hint.text)}  \n:small[:gray[cost {hint.cost:g}]]")
        if taken < len(model.hints):
            cost = model.hints[taken].cost
            st.button(
                f"Take the next hint: it costs {cost:g} of 4 points",
                key=f"{key}.hint",
                icon=":material/lightbulb:",
                on_click=answering.take_hint,
                args=(key, taken + 1),
            )


def _own_answer(variant: Variant, key: str) -> None:
    st.subheader("Your answer first", anchor=False)
    text(variant.fill(variant.card.sections["Predict"]))
    st.text_area(
        "What you would say, prediction included. Two minutes aloud and a few lines here are enough.",
        key=f"{key}.typed",
        height=180,
        max_chars=MAX_TEXT_CHARS,
        width=READING_WIDTH,
    )
    if st.session_state.pop(f"{key}.refused", False):
        st.markdown(":red[:material/error: Write a line first, or press Skip to the strong answer.]")
    with st.container(horizontal=True):
        st.button(
            "Compare with a strong answer", type="primary", key=f"{key}.go", on_click=_commit, args=(variant, key)
        )
        st.button("Skip to the strong answer", type="tertiary", key=f"{key}.skip", on_click=_skip, args=(key,))


def _commit(variant: Variant, key: str) -> None:
    typed = (st.session_state.get(f"{key}.typed") or "").strip()
    if not typed:
        st.session_state[f"{key}.refused"] = True
        return
    if answering.lock(key, typed):
        card = variant.card
        answer = OpenAnswer(
            id=recording.new_id(),
            at=learner.now(),
            card_id=card.id,
            topic=card.topic,
            seed=variant.seed,
            text=typed[:MAX_TEXT_CHARS].encode("utf-8", "replace").decode(),
        )
        learner.edit(partial(recording.keep_open_answer, answer=answer))


def _skip(key: str) -> None:
    answering.lock(key, SKIPPED)


def _strong_answer(variant: Variant, key: str) -> None:
    written = answering.outcome(key)
    if written != SKIPPED:
        with st.expander("Your answer", expanded=True, icon=":material/edit_note:"):
            st.text(written, width=READING_WIDTH)
    st.subheader("A strong answer", anchor=False)
    text(variant.fill(variant.card.sections["Strong answer"]))


def _rubric(variant: Variant, key: str, mode: Mode | None) -> None:
    """Score oneself against observable behaviour; the mean decides when the card comes back."""
    model = _model(variant)
    competencies = bank.shipped().competencies
    st.subheader("Score yourself", anchor=False)
    scored: dict[str, int] | None = st.session_state.get(f"{key}.scores")
    st.markdown("On each line, choose the highest level whose words fit what you said. Only you see these marks.")
    for item in model.rubric:
        entry = competencies.get(item.competency)
        with st.container(border=True):
            title = entry.title if entry else item.competency
            text(f"**{variant.fill(item.observe)}**  \n:small[:gray[{title}, weight {item.weight:g}]]")
            st.radio(
                "Level",
                list(item.levels),
                index=None,
                format_func=partial(_level_words, variant, item),
                key=f"{key}.level.{item.id}",
                label_visibility="collapsed",
                disabled=scored is not None,
            )
    if scored is None:
        if st.session_state.pop(f"{key}.unscored", False):
            st.markdown(":red[:material/error: Mark every line. If you leave the card now, no mark is kept.]")
        st.button("Keep my marks", type="primary", key=f"{key}.keep", on_click=_keep_scores, args=(variant, key, mode))
    else:
        cost = hints_cost(model, answering.hints(key))
        hints = f", less {cost:g} for hints" if cost else ""
        st.markdown(f":material/check_circle: Kept: {significant(weighted_mark(model, scored), 2)} of 4{hints}.")


def _level_words(variant: Variant, item: RubricItem, level: Mark) -> str:
    return f"**{level}** {inline(variant.fill(item.levels[level]))}"


def _keep_scores(variant: Variant, key: str, mode: Mode | None) -> None:
    scores = {item.id: st.session_state.get(f"{key}.level.{item.id}") for item in _model(variant).rubric}
    marked = {name: score for name, score in scores.items() if score is not None}
    if len(marked) < len(scores):
        st.session_state[f"{key}.unscored"] = True
        return
    if f"{key}.scores" not in st.session_state:
        st.session_state[f"{key}.scores"] = marked
        answering.log(key, variant.card, mode, seed=variant.seed, scores=marked)


def _trade_offs(variant: Variant) -> None:
    st.subheader("Trade-offs", anchor=False)
    heads = {"option": "option", "gains": "gains", "costs": "costs", "use_when": "use when"}
    rows = [
        {head: variant.fill(getattr(row, name)) for name, head in heads.items()} for row in _model(variant).tradeoffs
    ]
    data_table(st.empty(), rows)


def _twists(variant: Variant, key: str) -> None:
    """The interviewer changes a fact; the numbers are computed anew."""
    st.subheader("Twists", anchor=False)
    for twist in _model(variant).twists:
        with st.container(border=True):
            text(f"**{variant.fill(twist.say)}**")
            if f"{key}.twist.{twist.id}.open" in st.session_state:
                _twisted(variant, twist)
            else:
                st.button(
                    "I have an answer: show what changes",
                    key=f"{key}.twist.{twist.id}",
                    on_click=_open,
                    args=(f"{key}.twist.{twist.id}.open",),
                )


def _open(flag: str) -> None:
    st.session_state[flag] = True


def _twisted(variant: Variant, twist: Twist) -> None:
    try:
        after = twisted(variant, twist.set)
        expected = after.fill(twist.expect)
    except (DrawError, TextError) as error:
        st.warning(plain(str(error)))
        return
    text(expected)
    rows = [
        {
            "number": number_label(name, _model(variant).compute[name]),
            "before": _printed(variant, name),
            "after": _printed(after, name),
        }
        for name in variant.truth
        if _printed(variant, name) != _printed(after, name)
    ]
    if rows:
        data_table(st.empty(), rows)


def _printed(variant: Variant, name: str) -> str:
    computed = _model(variant).compute[name]
    return with_unit(variant.truth[name], computed.digits, computed.unit)


def _stress(variant: Variant) -> None:
    with st.expander("Stress tests", icon=":material/bolt:"):
        text("\n".join(f"- {variant.fill(line)}" for line in _model(variant).stress))


def _mistakes(variant: Variant) -> None:
    with st.expander("Mistakes, wrong and right", icon=":material/rule:"):
        for wrong, right in variant.card.mistakes:
            text(f":material/close: {variant.fill(wrong)}  \n:material/check: {variant.fill(right)}")


def _follow_ups(model: Question) -> None:
    known = bank.cards()
    linked = [known[other] for other in (*model.followups, *model.related_mcq) if other in known]
    if linked:
        with st.expander("Where to go next", icon=":material/arrow_forward:"):
            for card in linked:
                label = f"{bank.KIND_WORDS[card.kind]}: {plain(card.title)}"
                card_address.link(card, label)
