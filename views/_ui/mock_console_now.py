"""What to say and ask next: the script of the phase that runs, with the tool that it needs."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.mock.rater_view import EdgeRow, NodeRow, PhaseScript
from views._ui import mock_console_release as release
from views._ui.mock_twist import apply_twist
from views._ui.room import Room
from views._ui.words import money_safe, plain

FIRST_NUMBERS = (
    "A twist has changed this card since: the questions below were written for its first numbers. "
    "Those in force are in the tab Truth."
)
READ_ALOUD = {
    "reverse": "The rest of the time is yours: what would you like to ask me, about the problem or anything else?",
    "wrap": (
        "Thank you; please rate yourself now in the form on your page, while I score, and we talk about it once both "
        "of us have committed."
    ),
}
HEARD_WORDS = {"strong": ":green[strong]", "wrong": ":red[wrong]", "stuck": ":orange[stuck]"}


def now(room: Room) -> None:
    """A part of the page."""
    room.part("now", partial(_draw, room), _watch)


def _watch(room: Room) -> object:
    private, at = room.rater.private, room.state.time.phase
    kind = room.public.phase_kind
    tools = {
        None: (private.ready, private.seats),
        "setup": (private.ready, private.seats),
        "clarify": private.replies,
        "diagnose": (private.tree, private.hints, private.twists, private.drills, release.numbers_hidden()),
        "design": (private.tree, private.hints, private.twists, private.drills, release.numbers_hidden()),
        "twist": private.twists,
        "probe": (private.drills, release.numbers_hidden()),
        "wrap": (private.commit_refusals, private.own.committed, private.candidate_committed),
    }
    tool = tools.get("wrap" if room.public.finished else kind)
    return at, room.public.finished, room.public.level, private.leads, tool


def _draw(room: Room) -> None:
    private, at = room.rater.private, room.state.time.phase
    if at is None:
        _before(room)
        return
    if room.public.finished:
        st.subheader("The session is over", anchor=False)
        _wrap(room)
        return
    phase = private.phases[at]
    with st.container(gap="xsmall"):
        st.subheader(f"{phase.name}", anchor=False)
        st.markdown(money_safe(f"{phase.goal}  \n:small[:gray[Done when:] {phase.done_when}]"))
        if phase.kind == "setup":
            _opening(room)
        elif phase.kind in READ_ALOUD:
            _aloud(READ_ALOUD[phase.kind])
        if phase.probes:
            st.markdown(money_safe("\n".join(f"- **{probe}**" for probe in phase.probes)))
        _tool(room, phase)
        if phase.kind in _ASKING:
            fixed = "\n".join(f"- {probe}" for probe in private.probes)
            st.markdown(money_safe(f":small[:gray[Neutral, in every session:]]\n{fixed}"))


_ASKING = ("clarify", "diagnose", "design", "twist")


def _before(room: Room) -> None:
    private = room.rater.private
    st.subheader("Before you start", anchor=False)
    seats, ready = private.seats, private.ready
    steps = [
        ("candidate" in seats, "The candidate has opened their link"),
        ("candidate" in ready, "The candidate has pressed ready"),
        (room.role in ready, "You are ready"),
    ]
    for done, words in steps:
        sign = ":green[:material/check_circle:]" if done else ":gray[:material/radio_button_unchecked:]"
        st.markdown(f"{sign} {words}")
    if room.seated:
        is_ready = room.role in ready
        st.button(
            "Not ready yet" if is_ready else "I am ready",
            key="console.ready",
            on_click=partial(room.do, "ready", on=not is_ready),
        )
    room.refusal("ready")
    st.markdown(money_safe(f"**The bar at {room.public.level} level.** {private.lens}"))
    _opening(room)


def _opening(room: Room) -> None:
    _aloud(room.rater.private.opening)


def _aloud(words: str) -> None:
    with st.container(border=True):
        st.markdown(":small[:gray[Read aloud]]")
        st.markdown(money_safe(words))


def _tool(room: Room, phase: PhaseScript) -> None:
    private = room.rater.private
    if phase.kind == "clarify":
        release.replies(room, [row for row in private.replies if row.card == phase.card], place="now")
    elif phase.kind in ("diagnose", "design") and phase.card:
        tree(room, phase.card)
    elif phase.kind == "twist":
        release.twists(room, [row for row in private.twists if row.now], place="now")
    elif phase.kind == "probe":
        release.drills(room, [row for row in private.drills if row.drill == phase.card], place="now")
    elif phase.kind == "wrap":
        _wrap(room)


def _wrap(room: Room) -> None:
    """Score, then commit: what is left to do, during the last phase and after the end."""
    private = room.rater.private
    if private.own.committed:
        st.markdown(":material/check_circle: Your scores are committed.")
    else:
        st.markdown("Score the items in the tab Rubric, judge the whole, then commit. Talk about it afterwards.")
    if private.candidate_committed:
        st.markdown(":material/check_circle: The candidate has committed their self-rating.")


def tree(room: Room, card: str) -> None:
    """The question at hand with what a good reply holds and where each kind of reply leads, then all the others."""
    nodes = {row.node: row for row in room.rater.private.tree if row.card == card}
    here = nodes[_pointer(room, card, nodes)]
    if card in room.rater.private.moved:
        st.markdown(f":small[:orange[:material/bolt:] {FIRST_NUMBERS}]")
    with st.container(border=True, gap="xsmall"):
        st.markdown(money_safe(f"**Ask:** {here.say}"))
        st.markdown(money_safe(f":small[**Good:** {here.good}]"))
        with st.container(gap="xxsmall", key="now-edges"):
            for number, edge in enumerate(here.edges):
                _edge(room, here, edge, number)
        if not here.edges:
            st.markdown(":small[:gray[The tree ends here: go on with another question.]]")
    with st.expander("All questions", icon=":material/account_tree:", key=f"console.tree.{card}"):
        for node in nodes.values():
            heard = f" ({node.heard})" if node.heard else ""
            done = f":gray[:material/check: {money_safe(node.say)}{heard}]"
            st.button(
                done if node.visited else money_safe(node.say),
                key=f"console.node.{card}.{node.node}",
                type="tertiary",
                disabled=node.node == here.node,
                on_click=partial(_point, room, card, node.node),
            )


def _pointer(room: Room, card: str, nodes: dict[str, NodeRow]) -> str:
    """Where the tree stands: as this tab chose; after a reload, where the last reply led."""
    chosen: str | None = st.session_state.get(_place(room, card))
    if chosen in nodes:
        assert chosen is not None
        return chosen
    visits = [visit for visit in room.state.visits if visit.card == card]
    if not visits:
        return next(iter(nodes))
    last = nodes[visits[-1].node]
    led = [edge.to for edge in last.edges if edge.heard == visits[-1].heard and edge.target == "node"]
    return led[0] if led else last.node


def _point(room: Room, card: str, node: str) -> None:
    st.session_state[_place(room, card)] = node
    room.redraw()


def _place(room: Room, card: str) -> str:
    """Of this room alone: the same tab may lead another one with the same pack afterwards."""
    return f"console.at.{room.id}.{card}"


def _edge(room: Room, node: NodeRow, edge: EdgeRow, number: int) -> None:
    """A reply of one kind, what a press on it gives the candidate, and the press; afterwards what was given."""
    private = room.rater.private
    words = f"{HEARD_WORDS[edge.heard]} {money_safe(edge.hear)}"
    key = f"now.edge.{node.card}.{node.node}.{number}"
    hint = next(
        (r for r in private.hints if edge.target == "hint" and (r.card, str(r.hint)) == (node.card, edge.to)), None
    )
    drill = next((row for row in private.drills if edge.target == "drill" and row.drill == edge.to), None)
    if not release.can_release(room):
        st.markdown(f":small[{words}: {_leads(room, edge)}]")
    elif hint is not None and not hint.released:
        release.hint_words(hint)
        release.hint_button(room, hint, place=key, words=words, visit=node.node, heard=edge.heard)
    else:
        tip = money_safe(drill.prompt) if drill is not None and not drill.released else None
        press = partial(_follow, room, node, edge, key)
        st.button(f"{words}: {_leads(room, edge)}", key=key, help=tip, on_click=press)
        room.refusal(key)
    if hint is not None and hint.released:
        release.hint_words(hint)
    if drill is not None and drill.released:
        release.drill_shown(drill, key=key)


def _leads(room: Room, edge: EdgeRow) -> str:
    if edge.target == "drill":
        drill = next(row for row in room.rater.private.drills if row.drill == edge.to)
        return "shown below" if drill.released else f"show *{plain(drill.title)}*"
    return {"node": "next question", "hint": f"hint {edge.to}", "twist": f"twist {plain(edge.to)}"}[edge.target]


def _follow(room: Room, node: NodeRow, edge: EdgeRow, key: str) -> None:
    """Mark how the reply went, then go where it leads."""
    private = room.rater.private
    marked = room.act("node_visited", at=key, card=node.card, node=node.node, heard=edge.heard)
    if marked and edge.target == "node":
        st.session_state[_place(room, node.card)] = edge.to
    elif marked and edge.target == "twist":
        if not any(row.twist == edge.to and row.card == node.card and row.applied for row in private.twists):
            apply_twist(room, edge.to, node.card, at=key)
    elif marked and edge.target == "drill" and not any(row.drill == edge.to and row.released for row in private.drills):
        room.act("drill_released", at=key, drill=edge.to)
    room.redraw()
