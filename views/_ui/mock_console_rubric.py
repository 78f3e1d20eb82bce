"""Rating: levels with the evidence under them, the whole before the mean, then the commit."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.cards.text import significant
from core.mock.events import NOT_OBSERVED
from core.mock.rater_view import RubricRow
from core.mock.scoring import JUDGEMENTS, judgement_gap
from views._ui import drafts
from views._ui.mirrored import key_of, moved
from views._ui.mock_console_evidence import SIGNS
from views._ui.room import Room
from views._ui.words import counted, inline, money_safe, plain

BAR = (
    "Score the level that was reached. Hints come off by themselves. The bar is the level that is expected at {} level."
)
# As core.mock.scoring draws the lines.
BANDS = (
    "Each item's level after hints, less its bar, on average by weight: a quarter above reads strong hire, down to a "
    "quarter below lean hire, down to a whole level below lean no, and further below no hire."
)
HALO = "Halo: is one great item lifting the rest? Read the two weakest once more."


def rubric_tab(room: Room) -> None:
    """Items, then the whole, then the commit; what is committed stays."""
    private = room.rater.private
    committed = private.own.committed is not None
    st.markdown(f":small[:gray[{BAR.format(room.public.level)}]]")
    for row in private.rubric:
        _item(room, row, locked=committed or not room.seated)
    st.divider()
    _whole(room, locked=committed or not room.seated)
    if committed:
        st.success("Committed. Your scores stay as they are.", icon=":material/lock:")
        _self_rating(room)
        return
    if room.seated:
        _commit(room)


def _item(room: Room, row: RubricRow, *, locked: bool) -> None:
    """A level counts once a line of evidence is linked to it; until then it is amber."""
    key = key_of(room, _name(row.key), row.level)
    options = [*row.levels, NOT_OBSERVED]
    amber = row.level not in (None, NOT_OBSERVED) and not row.evidence
    with st.container(border=True, gap="xsmall"):
        hints = f" · hints cost {row.hint_cost:g}" if row.hint_cost else ""
        about = f":small[:gray[{plain(row.competency_title)} · weight {row.weight:g}{hints}]]"
        st.markdown(money_safe(f"**#{row.key}** {row.observe}  \n{about}"))
        st.radio(
            f"Level of {row.key}",
            options,
            index=None if row.level is None else options.index(row.level),
            format_func=partial(_level_words, row),
            key=key,
            label_visibility="collapsed",
            disabled=locked,
            on_change=partial(_score, room, row.key, key),
        )
        lines = [line for line in room.rater.private.own.evidence if line.item == row.key]
        for line in lines:
            st.markdown(f":small[{SIGNS[line.sign]} {plain(line.text)}]")
        if amber:
            st.badge(f"A score without evidence: link one line (#{row.key})", icon=":material/warning:", color="orange")
        elif not lines:
            st.markdown(f":small[:gray[No evidence yet: #{row.key}]]")
        room.refusal(_place(row.key))


def _place(item: str) -> str:
    return f"score.{item}"


def _level_words(row: RubricRow, level: int) -> str:
    if level == NOT_OBSERVED:
        return ":gray[not observed]"
    bar = " :small[:blue[(the bar)]]" if level == row.bar else ""
    return money_safe(f"**{level}** {inline(row.levels[level])}{bar}")


def _name(item: str) -> str:
    return f"console.score.{item}"


def _score(room: Room, item: str, key: str) -> None:
    if moved(room, _name(item), key):
        room.act("score_drafted", at=_place(item), item=item, level=st.session_state[key])
    room.redraw()


def _whole(room: Room, *, locked: bool) -> None:
    """The judgement as a whole comes first; only then is the mean of the items shown beside it."""
    private = room.rater.private
    own = private.own.overall
    st.markdown(f"**The whole, at {room.public.level} level.** {money_safe(private.lens)}")
    if own is not None:
        st.markdown(f"Your judgement: **{own.judgement}**. {plain(own.reason)}")
        if private.mean is not None:
            gap = judgement_gap(own.judgement, private.nearest) if private.nearest else 0
            beside = f"The items alone: {significant(private.mean, 2)} of 4 after hints"
            near = f", which is nearest to **{private.nearest}**" if private.nearest else ""
            ask = " One sentence on why the whole differs belongs into your reason." if gap else ""
            st.markdown(f":small[{beside}{near}. It decides nothing.{ask}]", help=BANDS)
    if locked:
        return
    box = st.expander("Judge the whole" if own is None else "Change the judgement", expanded=own is None)
    with box, st.form("console.overall.form", border=False):
        st.segmented_control("Judgement", JUDGEMENTS, key="console.judgement")
        st.text_input("Why, in one sentence", key="console.reason", max_chars=400)
        st.form_submit_button("Keep the judgement", on_click=partial(_judge, room))
    drafts.keep(room, "console.overall", "console.reason")
    room.refusal("overall")


def _judge(room: Room) -> None:
    judgement = st.session_state.get("console.judgement")
    if judgement is None:
        room.refuse("overall", "Choose one of the four judgements first.")
    else:
        if room.act("overall", judgement=judgement, reason=st.session_state.get("console.reason") or ""):
            drafts.settled("console.overall")
    room.redraw()


def _commit(room: Room) -> None:
    refusals = room.rater.private.commit_refusals
    if refusals:
        st.markdown(f":small[:gray[Before you can commit, {counted(len(refusals), 'thing')}:]]")
        st.markdown("\n".join(f"- :small[{plain(words)}]" for words in refusals))
    st.markdown(f":small[{HALO}]")
    st.button(
        "Commit my scores",
        key="console.commit",
        type="primary",
        icon=":material/lock:",
        on_click=partial(room.do, "committed"),
    )
    room.refusal("committed")


def _self_rating(room: Room) -> None:
    private = room.rater.private
    if private.self_rating is not None:
        st.markdown(f"The candidate's own view: **{private.self_rating.overall}**. {plain(private.self_rating.words)}")
    elif private.candidate_committed:
        st.markdown("The candidate has committed; it opens when the one who leads has too.")
    else:
        st.markdown(":gray[The candidate's own view opens when they have committed it.]")
