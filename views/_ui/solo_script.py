"""The interviewer's voice in a solo mock: what is asked in this phase, and the presses that release more."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.mock.rater_view import EdgeRow, NodeRow
from core.mock.state import Visit
from views._ui.card_parts import text
from views._ui.mock_twist import twist_pressed
from views._ui.solo import Solo
from views._ui.words import inline, money_safe

ASKED = "Ask me a follow-up question"
SAID = {
    "probe": "One number now, against the clock. It is below.",
    "reverse": "What would you like to ask me? Say your questions aloud, the best one first.",
    "wrap": "Thank you. Rate yourself now, before you see how it is scored.",
}
FIRST_NUMBERS = ":small[:gray[Asked with the numbers before the facts changed.]]"
NO_MORE = "There are no more follow-up questions: go deeper into what you have said, or go on."


def script(solo: Solo) -> None:
    """The phase that runs."""
    lead, at = solo.lead, solo.lead.state.time.phase
    if at is None:
        _before(solo)
        return
    phase = lead.rater.private.phases[at]
    with st.container(border=True):
        st.markdown(f":material/record_voice_over: **Interviewer** :gray[{inline(phase.name)}]")
        if phase.kind == "setup":
            text(lead.rater.private.opening)
        for probe in phase.probes:
            st.markdown(money_safe(f"- {probe}"))
        if phase.kind == "clarify":
            _clarify(solo)
        elif phase.kind in ("diagnose", "design"):
            _ask(solo)
        elif phase.kind == "twist":
            _twists(solo)
        elif phase.kind in SAID:
            text(SAID[phase.kind])
    _go_on(solo)


def _before(solo: Solo) -> None:
    lead = solo.lead
    st.markdown(money_safe(f"**The bar at {lead.public.level} level.** {lead.rater.private.lens}"))
    st.button(
        "Start the clock",
        key="solo.start",
        type="primary",
        icon=":material/play_arrow:",
        on_click=partial(lead.do, "phase_started", phase=0),
    )


def _go_on(solo: Solo) -> None:
    """The next phase, a break, or the end."""
    lead, time = solo.lead, solo.lead.state.time
    phases = lead.rater.private.phases
    with st.container(horizontal=True):
        if time.phase is not None and time.phase + 1 < len(phases):
            st.button(
                f"Next: {inline(phases[time.phase + 1].name)}",
                key="solo.next",
                icon=":material/skip_next:",
                on_click=partial(lead.do, "phase_started", phase=time.phase + 1),
            )
        if time.paused_at is None:
            st.button("Pause", key="solo.pause", icon=":material/pause:", on_click=partial(lead.do, "paused"))
        else:
            st.button("Resume", key="solo.resume", icon=":material/play_arrow:", on_click=partial(lead.do, "resumed"))
    lead.refusal("phase_started", "paused", "resumed")


def next_phase(solo: Solo) -> None:
    """A callback, when the time of a phase is over: go on."""
    at = solo.lead.state.time.phase
    if at is not None and at + 1 < len(solo.lead.state.plan.minutes):
        solo.lead.do("phase_started", phase=at + 1)


def _clarify(solo: Solo) -> None:
    """The questions themselves show what a good candidate asks, so they stay folded."""
    lead = solo.lead
    st.markdown("Say what you would ask before you answer. Then open the replies to what you did ask.")
    with st.expander("Replies", icon=":material/contact_support:", key="solo.replies"):
        for row in lead.rater.private.replies:
            if row.card == _card(solo) and not row.released:
                st.button(
                    inline(row.ask),
                    key=f"solo.reply.{row.reply}",
                    type="tertiary",
                    icon=":material/chat_bubble:",
                    on_click=partial(lead.do, "reply_released", card=row.card, reply=row.reply),
                )
    lead.refusal("reply_released")


def _ask(solo: Solo) -> None:
    """One question of the tree at a time; how a reply went says where it leads."""
    node, card = _node(solo), _card(solo)
    if card is None:
        return
    asked = st.session_state.get(_place(solo, card, "asked"), bool(_visits(solo, card)))
    if node is None:
        st.markdown(NO_MORE)
    elif not asked:
        st.button(ASKED, key="solo.ask", icon=":material/question_answer:", on_click=partial(_set, solo, "asked", True))
    else:
        text(f"**{node.say}**")
        if card in solo.lead.rater.private.moved:
            st.markdown(FIRST_NUMBERS)
        with st.container(horizontal=True):
            st.button("I have answered", key="solo.answered", on_click=partial(_answered, solo, node))
            st.button("I went another way", key="solo.wrong", on_click=partial(_answered, solo, node, "wrong"))
    _hint(solo, card)
    solo.lead.refusal("node_visited", "hint_released", "twist_applied", "drill_released")


def _node(solo: Solo) -> NodeRow | None:
    """The question to ask now; None when the tree has no more."""
    card = _card(solo)
    if card is None:
        return None
    nodes = [row for row in solo.lead.rater.private.tree if row.card == card]
    at = st.session_state.get(_place(solo, card, "at"), _led_to(nodes, _visits(solo, card)))
    return next((row for row in nodes if row.node == at), None)


def _visits(solo: Solo, card: str) -> list[Visit]:
    return [visit for visit in solo.lead.state.visits if visit.card == card]


def _led_to(nodes: list[NodeRow], visits: list[Visit]) -> str:
    """Where the last reply led, after a reload; the first question where none was answered, "" at the tree's end."""
    if not visits:
        return nodes[0].node if nodes else ""
    edges = next(row.edges for row in nodes if row.node == visits[-1].node)
    return next((edge.to for edge in edges if edge.heard == visits[-1].heard and edge.target == "node"), "")


def _answered(solo: Solo, node: NodeRow, heard: str = "strong") -> None:
    """Mark the question as asked and go where the reply leads; what it leads to is released, a hint excepted."""
    lead = solo.lead
    edges = [edge for edge in node.edges if edge.heard == heard]
    lead.act("node_visited", card=node.card, node=node.node, heard=heard)
    onward = next((edge for edge in edges if edge.target == "node"), None)
    _release(solo, node, edges)
    st.session_state[_place(solo, node.card, "at")] = onward.to if onward else ""
    lead.redraw()


def _release(solo: Solo, node: NodeRow, edges: list[EdgeRow]) -> None:
    """A drill that the reply leads to. Twists wait for their phase."""
    lead = solo.lead
    for edge in edges:
        if edge.target == "drill" and edge.to not in lead.state.drills:
            lead.act("drill_released", drill=edge.to)


def _hint(solo: Solo, card: str) -> None:
    """The next rung of the ladder; whoever takes it says which competency it helps with."""
    lead = solo.lead
    rung = next((row for row in lead.rater.private.hints if row.card == card and not row.released), None)
    if rung is None:
        return
    rubric = [row for row in lead.rater.private.rubric if lead.state.plan.items[row.key].card == card]
    items = {row.competency_title: row.key for row in rubric}
    st.menu_button(
        f"I am stuck: a hint, which costs {rung.cost:g} of",
        sorted(items),
        key="solo.hint",
        icon=":material/lightbulb:",
        on_click=partial(_take_hint, solo, card, rung.hint, items),
    )


def _take_hint(solo: Solo, card: str, hint: int, items: dict[str, str]) -> None:
    item = items.get(str(st.session_state.get("solo.hint")), "")
    solo.lead.do("hint_released", card=card, hint=hint, item=item)


def _twists(solo: Solo) -> None:
    """Changes of facts, one at a time, in the pack's order; what to expect stays closed."""
    lead = solo.lead
    waiting = [row for row in lead.rater.private.twists if row.now and not row.applied]
    if waiting:
        st.markdown("Say what stays of your plan, what goes, and why. Recompute what moves.")
        st.button(
            "Change a fact",
            key="solo.twist",
            icon=":material/bolt:",
            on_click=partial(twist_pressed, lead, waiting[0].twist, waiting[0].card),
        )
    else:
        st.markdown("That was the last change. Update the plan, then go on.")
    lead.refusal("twist_applied")


def _card(solo: Solo) -> str | None:
    """The open card of the phase that runs."""
    at = solo.lead.state.time.phase
    return None if at is None else solo.lead.rater.private.phases[at].card


def _place(solo: Solo, card: str, what: str) -> str:
    return f"solo.{solo.lead.id}.{card}.{what}"


def _set(solo: Solo, what: str, value: object) -> None:
    card = _card(solo)
    if card is not None:
        st.session_state[_place(solo, card, what)] = value
