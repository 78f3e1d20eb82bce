"""Every shipped pack is played to its end: no private text reaches a public view, and each twist computes."""

from __future__ import annotations

import pytest

from core.cards.card import Card
from core.cards.draw import draw
from core.cards.expressions import evaluate
from core.cards.models import Question
from core.mock.fold import fold
from core.mock.opening import opening
from core.mock.plan import plan_of
from core.mock.reading import load_packs
from core.mock.scorecard_build import scorecard
from core.mock.scorecard_file import from_json, to_json
from core.mock.state import AppliedTwist, Mark, RoomState
from core.mock.truth import card_truth
from core.mock.views import RaterView, view_for
from tests.core.mock.made import Played, bank
from tests.core.mock.walk import private_texts, strings

PACKS = load_packs()
FEWEST = 6  # in full, beside the example


def test_there_are_packs_of_each_length_theme_and_level():
    models = [pack.model for pack in PACKS.values()]
    assert len(models) > FEWEST
    assert {model.minutes for model in models} == {30, 45, 60}
    assert {model.theme for model in models} == {"training", "serving", "mixed"}
    assert {model.level for model in models} == {"mid", "senior", "staff"}


def played(pack_id: str, seed: int | None) -> Played:
    """A session in which everything is asked, released, applied and scored."""
    pack = PACKS[pack_id]
    plan = plan_of(pack, bank())
    room = Played(state=RoomState(plan))
    room.does("interviewer", "opened", **opening(pack, bank(), level=pack.model.level, seed=seed))
    for actor in ("interviewer", "candidate"):
        room.does(actor, "joined", holder=f"tab-{actor}")
    for phase, part in enumerate(pack.model.phases):
        room.does("interviewer", "phase_started", phase=phase, after_s=60 * part.minutes)
        if part.card in plan.cards:
            card = plan.cards[part.card]
            if part.kind == "clarify":
                room.does("interviewer", "reply_released", card=part.card, reply=0)
            if part.kind == "design":
                room.does("interviewer", "hint_released", card=part.card, hint=1)
            for twist in part.twists:
                own = part.card if twist in card.twists else None
                room.does("interviewer", "twist_applied", twist=twist, card=own)
        if part.kind == "probe":
            room.does("candidate", "answer_locked", drill=part.card, text="12.5", confidence=50)
    for item in plan.items:
        room.does("interviewer", "evidence", text=f"heard on the item {item}", item=item)
        room.does("interviewer", "score_drafted", item=item, level=2)
    room.does("interviewer", "overall", judgement="lean no", reason="as an example")
    return room


@pytest.mark.parametrize("seed", [None, 11])
@pytest.mark.parametrize("pack_id", PACKS)
def test_no_private_text_of_a_pack_is_in_a_public_view(pack_id, seed):
    pack, room = PACKS[pack_id], played(pack_id, seed)
    state = RoomState(plan_of(pack, bank()))
    for line in room.log:
        state = fold(state, [line])
        if line.kind not in ("phase_started", "twist_applied", "hint_released", "reply_released", "overall"):
            continue
        texts = private_texts(state, pack)
        for role in ("candidate", "observer"):
            shown = "\n".join(strings(view_for(role, state, pack, bank())))
            assert [where for where, text in texts.items() if text in shown] == [], (role, line)


@pytest.mark.parametrize("pack_id", PACKS)
def test_a_played_pack_ends_in_a_scorecard_with_drills(pack_id):
    room = played(pack_id, None)
    assert [twist.twist for twist in room.state.twists]
    room.does("interviewer", "committed").does("candidate", "self_rated", overall="lean no")
    card = scorecard(room.state, room.log, PACKS[pack_id], bank())
    assert len(card.next_drills) == 5
    text = to_json(card)
    found = from_json(text.encode(), PACKS, bank())
    assert found.warnings == ()
    assert to_json(found.card) == text
    view = view_for("interviewer", room.state, PACKS[pack_id], bank())
    assert "{{" not in "".join(strings(view))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("pack_id", PACKS)
def test_the_working_of_a_number_gives_that_number_after_each_twist(pack_id, seed):
    """The strip prints both side by side: what core caps, say at 100% of a peak, its working has to cap as well."""
    model = PACKS[pack_id].model
    for row in model.cards:
        card = bank().cards[row.card]
        assert isinstance(card, Card)
        assert isinstance(card.model, Question)
        for twist in card.model.twists:
            applied = AppliedTwist(twist.id, row.card, public=True, mark=Mark(None, 0.0, 0))
            for number in card_truth(draw(card, seed), [applied]).rows():
                assert evaluate(number.working, {}) == pytest.approx(number.now, rel=2e-3), (twist.id, number)


@pytest.mark.parametrize(
    ("card_id", "twist_id", "says", "no_more"),
    [
        ("q-serving-serve-175b", "gqa", "and 8 for keys and values", "no grouping"),
        ("q-serving-speculative", "evening", "1 for interactive users", "512 for"),
        ("q-communication-overlap", "one-unit", "1 for the 40 layers", "Yes, 1 units"),
        ("q-bottleneck-first-measurement", "scale-out", "idles 38.7% of", "38.7097"),
        ("q-reliability-data-fault-tolerance", "cured", "Once in 16.7 GPU-years", "16.6667"),
    ],
)
def test_a_reply_that_is_asked_for_after_a_twist_is_still_true(card_id, twist_id, says, no_more):
    card = bank().cards[card_id]
    assert isinstance(card, Card)
    assert isinstance(card.model, Question)
    applied = AppliedTwist(twist_id, card_id, public=True, mark=Mark(None, 0.0, 0))
    now = card_truth(draw(card, 0), [applied]).now
    replies = "\n".join(now.fill(reply.give) for reply in card.model.clarify)
    assert says in replies
    assert no_more not in replies


def test_the_tree_speaks_of_the_first_numbers_after_a_twist():
    # Its fixed words were written for them: with 16 GPUs "ZeRO-1 does too, at 87.5 GB" would be false on 80 GB.
    card_id = "q-training-memory-fit-70b"
    room = played("mock-fit-train-45", None)
    assert (card_id, "sixteen") in {(twist.card, twist.twist) for twist in room.state.twists}
    view = view_for("interviewer", room.state, PACKS["mock-fit-train-45"], bank())
    assert isinstance(view, RaterView)
    assert card_id in view.private.moved
    good = next(row.good for row in view.private.tree if (row.card, row.node) == (card_id, "start"))
    assert "leave 293, 155 and 17.5 GB" in good
    assert "ZeRO-1 does too, at 48.1 GB" in good
