"""What was given stands with the problem at hand; what belongs to a former one lies folded below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.mock.plan import plan_of
from core.mock.reading import load_packs
from core.mock.state import RoomState
from core.mock.truth import truths
from core.mock.views import public_view
from tests.core.mock.made import CARD, Played, at_phase, bank
from tests.pages.mock_visit import SeatVisit, stored

PACK = load_packs()["mock-serve-peak-45"]  # two problems
FIRST, SECOND = (row.card for row in PACK.model.cards)
BANNER = "The product wants 15 ms per token"


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


def phase_of(card: str, kind: str) -> int:
    return next(n for n, phase in enumerate(PACK.model.phases) if (phase.card, phase.kind) == (card, kind))


def first_problem() -> Played:
    """A room in the first problem, with a reply, a hint and a twist given."""
    plan = plan_of(PACK, bank())
    room = Played(state=RoomState(plan))
    room.does("interviewer", "opened", pack=PACK.id, content_hash=plan.content_hash, level="staff")
    for actor in ("interviewer", "candidate"):
        room.does(actor, "joined", holder=f"tab-{actor}").does(actor, "consented").does(actor, "ready")
    room.does("interviewer", "phase_started", phase=phase_of(FIRST, "clarify"), after_s=60)
    room.does("interviewer", "reply_released", card=FIRST, reply=0, after_s=5)
    room.does("interviewer", "hint_released", card=FIRST, hint=2, item="", after_s=5)
    room.does("interviewer", "phase_started", phase=phase_of(FIRST, "twist"), after_s=60)
    twist = next(t for t in plan.cards[FIRST].twists if BANNER in _say(room, t))
    return room.does("interviewer", "twist_applied", twist=twist, card=FIRST, after_s=5)


def _say(room: Played, twist: str) -> str:
    return next(row.say for row in truths(room.state, bank())[FIRST].base.card.model.twists if row.id == twist)


def public(room: Played):
    return public_view(room.state, PACK, truths(room.state, bank()))


def test_what_is_given_belongs_to_the_problem_that_is_at_hand():
    room = first_problem()
    (first,) = public(room).problems
    assert (first.number, public(room).problem_count) == (1, 2)
    assert (len(first.banners), len(first.replies), len(first.hints)) == (1, 1, 1)
    room.does("interviewer", "paused")  # so that the clock of the session stands at the same second
    room.does("interviewer", "phase_started", phase=phase_of(SECOND, "design"))
    room.does("interviewer", "hint_released", card=SECOND, hint=1, item="")
    second, former = public(room).problems
    assert former == first
    assert (second.number, second.banners, second.replies, len(second.hints)) == (2, (), (), 1)


def test_a_phase_without_a_problem_goes_on_with_that_of_before_and_one_can_go_back():
    room = first_problem()
    room.does("interviewer", "phase_started", phase=phase_of(SECOND, "design"), after_s=60)
    probe = next(n for n, phase in enumerate(PACK.model.phases) if phase.kind == "probe")
    room.does("interviewer", "phase_started", phase=probe, after_s=60)
    room.does("interviewer", "hint_released", card=SECOND, hint=1, item="", after_s=5)
    assert [(row.number, len(row.hints)) for row in public(room).problems] == [(2, 1), (1, 1)]
    room.does("interviewer", "phase_started", phase=phase_of(FIRST, "diagnose"), after_s=60)
    assert [(row.number, len(row.hints)) for row in public(room).problems] == [(1, 1), (2, 1)]


def test_what_is_given_before_any_problem_is_read_all_the_same():
    room = at_phase(0).does("interviewer", "reply_released", card=CARD, reply=1)
    page = SeatVisit(stored(room), "candidate")
    assert "Full, in every layer." in page.says()
    assert "Problem" not in page.says()


@pytest.mark.parametrize("role", ["candidate", "observer"])
def test_a_new_problem_comes_first_under_its_number_and_the_former_is_folded_below(role: str):
    room = first_problem()
    page = SeatVisit(stored(room), role)
    assert "Problem 1 of 2" in [heading.value for heading in page.at.subheader]
    assert [BANNER in box.value for box in page.at.warning] == [True]
    prompt, next_prompt = (truths(room.state, bank())[card].base.fill(_prompt(card)) for card in (FIRST, SECOND))
    room.does("interviewer", "phase_started", phase=phase_of(SECOND, "design"), after_s=60)
    page = SeatVisit(stored(room), role)
    assert "Problem 2 of 2" in [heading.value for heading in page.at.subheader]
    assert not page.at.warning
    (fold,) = [box for box in page.at.expander if box.label.startswith("Problem 1")]
    assert not fold.proto.expanded
    folded = "\n".join(element.value for element in fold.markdown)
    for words in (prompt[:40], BANNER, "**Hint.**", ":material/contact_support:"):
        assert words in folded
    said = page.says()
    assert said.index(next_prompt[:40]) < said.index(prompt[:40])


def _prompt(card: str) -> str:
    return bank().cards[card].sections["Prompt"]


def test_a_pack_with_one_problem_has_no_number_over_it():
    page = SeatVisit(stored(at_phase(3)), "candidate")
    assert not [heading for heading in page.at.subheader if heading.value.startswith("Problem")]


def test_no_number_is_on_a_hint_since_the_console_counts_the_rungs_of_a_ladder():
    page = SeatVisit(stored(first_problem()), "candidate")
    assert "**Hint.**" in page.says()
    assert "Hint 1" not in page.payload()
