"""Today's queue: order, cap, catching up, new cards, neighbours, tomorrow."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.progress.document import Progress, Settings
from core.progress.merging import merge
from core.progress.queue import todays_queue
from core.progress.reading import read, to_json
from core.progress.schedule import replay, retrievability
from core.progress.topic_map import topic_map
from tests.progress.made import START, attempt, card, day, progress

TOPICS = ("bottleneck", "hardware", "kv-cache", "serving")
BANK = [card(f"d-{topic}-{n:02d}", topic) for topic in TOPICS for n in range(50)]
NO_NEW = Settings(new_per_day=0)


def answered(cards, at=START, **fields):
    return [
        attempt(n, at + timedelta(seconds=n), card_id=one.id, topic=one.topic, kind=one.kind, **fields)
        for n, one in enumerate(cards)
    ]


def ids(queue):
    return [item.card.id for item in queue.items]


def reasons(queue):
    return {item.reason for item in queue.items}


def test_a_fresh_profile_gets_ten_new_cards_that_change_topic():
    queue = todays_queue(Progress(), BANK, START)
    assert len(queue.items) == 10
    assert reasons(queue) == {"new"}
    assert all(one.card.topic != other.card.topic for one, other in pairwise(queue.items))
    assert (queue.left_for_later, queue.tomorrow_reviews, queue.tomorrow_new) == (0, 0, 10)


def test_what_is_due_comes_by_lowest_retrievability():
    one_topic = [dataclasses.replace(each, topic="serving") for each in BANK[:20]]
    log = [attempt(n, day(-n), card_id=one_topic[n].id, topic="serving") for n in range(2, 20)]
    done = progress(*log, settings=NO_NEW)
    queue = todays_queue(done, one_topic, START)
    states = replay(done.attempts, NO_NEW, START)
    shares = [retrievability(states[card_id], START) for card_id in ids(queue)]
    assert len(shares) == 18
    assert shares == sorted(shares)
    assert shares == [item.retrievability for item in queue.items]


def test_cards_that_left_the_bank_are_left_out():
    done = progress(*answered(BANK[:5]), settings=NO_NEW)
    assert ids(todays_queue(done, BANK[:2], day(9))) == [BANK[0].id, BANK[1].id]
    assert todays_queue(done, [], day(9)).items == ()


def test_after_200_days_away_the_queue_is_capped_and_catching_up_is_offered():
    done = progress(*answered(BANK, rating="good"))
    queue = todays_queue(done, BANK, day(200))
    assert (len(queue.items), queue.left_for_later, queue.offers_catch_up) == (30, 170, True)
    assert all(0 < item.retrievability < 1 for item in queue.items)
    assert (queue.tomorrow_reviews, queue.tomorrow_new) == (30, 0)


def test_catching_up_spreads_a_backlog_over_three_days_without_new_cards():
    backlog = BANK[:40]
    log = answered(backlog)
    done = progress(*log, settings=Settings(catch_up_from=day(50).date()))
    sizes = []
    for offset in range(4):
        now = day(50 + offset)
        queue = todays_queue(done, BANK, now)
        sizes.append(len(queue.items))
        assert queue.catching_up == (offset < 3)
        assert not queue.offers_catch_up
        if offset < 3:
            assert "new" not in reasons(queue)
        more = [
            attempt(1_000 * (offset + 1) + n, now, card_id=item.card.id, topic=item.card.topic, rating="easy")
            for n, item in enumerate(queue.items)
        ]
        done = done.model_copy(update={"attempts": (*done.attempts, *more)})
    assert sizes == [14, 13, 13, 10]  # 40 over three days; then ten new cards again


def test_a_catch_up_day_keeps_its_share_while_it_is_worked_off():
    done = progress(*answered(BANK[:60]), settings=Settings(catch_up_from=day(50).date()))
    first = todays_queue(done, BANK, day(50))
    item = first.items[0]
    one_done = (*done.attempts, attempt(999, day(50), card_id=item.card.id, topic=item.card.topic))
    rest = todays_queue(done.model_copy(update={"attempts": one_done}), BANK, day(50.01))
    assert (len(first.items), len(rest.items)) == (20, 19)


def test_the_cap_holds_while_catching_up():
    done = progress(*answered(BANK), settings=Settings(catch_up_from=day(50).date()))
    assert len(todays_queue(done, BANK, day(50)).items) == 30


@pytest.mark.parametrize(("due", "away", "offered"), [(20, 3, False), (21, 3, True), (21, 2, False)])
def test_catching_up_is_offered_for_more_than_a_sitting_after_three_days(due, away, offered):
    log = [attempt(n, day(-away), card_id=one.id, topic=one.topic, rating="again") for n, one in enumerate(BANK[:due])]
    assert todays_queue(progress(*log), BANK, START).offers_catch_up is offered


def test_without_an_absence_a_long_queue_is_only_capped():
    recent = attempt(999, day(49), card_id=BANK[0].id)
    queue = todays_queue(progress(*answered(BANK[:60]), recent), BANK, day(50))
    assert not queue.offers_catch_up
    assert queue.left_for_later == 29


def test_what_was_done_today_takes_from_the_cap_and_from_the_new_cards():
    done = progress(*answered(BANK[:60]), settings=Settings(cap=10, new_per_day=4))
    more = [
        *(attempt(1_000 + n, day(50), card_id=BANK[n].id) for n in range(3)),  # reviewed
        attempt(2_000, day(50), card_id=BANK[100].id, topic=BANK[100].topic),  # begun
    ]
    queue = todays_queue(done.model_copy(update={"attempts": (*done.attempts, *more)}), BANK, day(50.1))
    assert sum(item.reason == "due" for item in queue.items) == 7
    assert sum(item.reason == "new" for item in queue.items) == 3


def test_new_cards_come_from_the_weakest_topic():
    strong = [one for one in BANK if one.topic != "hardware"]
    queue = todays_queue(progress(*answered(strong, rating="easy")), BANK, day(1))
    assert {item.card.topic for item in queue.items} == {"hardware"}


def test_easier_levels_come_first():
    bank = [card("d-hard", "serving", level="staff"), card("d-easy", "serving"), card("d-odd", "serving", level="?")]
    new = todays_queue(progress(settings=Settings(new_per_day=2)), bank, START)
    assert ids(new) == ["d-easy", "d-hard"]


def test_an_open_card_a_day():
    bank = [card(f"q-{topic}-{n}", topic, kind="question") for topic in TOPICS for n in range(3)] + BANK
    first = todays_queue(Progress(), bank, START)
    assert [item.card.kind for item in first.items].count("question") == 1
    assert len(first.items) == 10
    questions = [one for one in bank if one.kind == "question"]
    later = todays_queue(progress(*answered(questions, confidence=None, correct=None)), bank, day(30))
    assert [item.card.kind for item in later.items].count("question") == 1
    assert later.left_for_later == 11
    q = questions[0]
    one_done = [
        *answered(questions, confidence=None, correct=None),
        attempt(99, day(30), card_id=q.id, kind="question"),
    ]
    rest = todays_queue(progress(*one_done), bank, day(30.1))
    assert "question" not in {item.card.kind for item in rest.items}


def test_new_cards_stop_three_days_before_the_interview():
    for left, expected in ((4, 10), (3, 0), (0, 0)):
        chosen = Settings(interview_date=(START + timedelta(days=left)).date())
        assert len(todays_queue(progress(settings=chosen), BANK, START).items) == expected


def test_in_the_last_days_what_is_answered_today_is_back_tomorrow():
    chosen = Settings(interview_date=day(4).date(), new_per_day=0)
    done = progress(*answered(BANK[:5], day(-3)), settings=chosen)
    assert todays_queue(done, BANK, START).tomorrow_reviews == 5


def test_tomorrow_counts_what_comes_due_and_today_that_is_left():
    log = [*answered(BANK[:3], rating="again"), attempt(50, card_id=BANK[60].id, topic="hardware", rating="easy")]
    queue = todays_queue(progress(*log), BANK, day(0.1))
    assert (queue.tomorrow_reviews, queue.tomorrow_new) == (3, 10)
    assert len(todays_queue(progress(*log), BANK, day(1)).items) == 3 + 10


def test_neighbours_differ_in_topic():
    log = answered([*BANK[:12], *BANK[50:60], *BANK[100:108]])
    queue = todays_queue(progress(*log), BANK, day(20))
    assert len(queue.items) == 40
    assert all(one.card.topic != other.card.topic for one, other in pairwise(queue.items))


def test_whoever_stops_early_has_had_new_cards_too():
    queue = todays_queue(progress(*answered(BANK[::4])), BANK, day(20))
    assert 3 <= sum(item.reason == "new" for item in queue.items[:20]) <= 7


SURE = {"rating": "again", "correct": False, "number": 9.0, "truth": 42.95, "confidence": 90}


def test_one_miss_by_a_sure_learner_comes_first():
    log = answered(BANK[:20], rating="good")
    log += [attempt(100 + n, card_id=BANK[60 + n].id, topic="hardware", **SURE) for n in range(6)]
    log += [attempt(200, card_id=BANK[130].id, topic="kv-cache", **SURE | {"confidence": 99})]
    queue = todays_queue(progress(*log), BANK, day(1))
    assert queue.items[0].reason == "sure but wrong"
    assert queue.items[0].card.topic == "kv-cache"  # 99% sure and never right is the widest gap
    assert [item.reason for item in queue.items].count("sure but wrong") == 1
    assert queue.items[1].card.topic != "kv-cache"


def test_the_miss_comes_from_the_topic_of_the_widest_gap_not_from_the_surest_answer():
    log = [attempt(n, card_id=BANK[50 + n].id, topic="hardware", confidence=50) for n in range(5)]
    log.append(attempt(8, card_id=BANK[60].id, topic="hardware", **SURE | {"confidence": 99}))
    log.append(attempt(9, card_id=BANK[130].id, topic="kv-cache", **SURE))
    assert todays_queue(progress(*log), BANK, day(1)).items[0].card.topic == "kv-cache"


def test_a_sure_miss_waits_for_tomorrow_and_one_a_day_is_enough():
    log = [attempt(n, card_id=BANK[n].id, topic="bottleneck", **SURE) for n in range(3)]
    assert "sure but wrong" not in reasons(todays_queue(progress(*log), BANK, day(0.1)))
    assert "sure but wrong" in reasons(todays_queue(progress(*log), BANK, day(1)))
    log.append(attempt(9, day(1), card_id=BANK[0].id))
    assert "sure but wrong" not in reasons(todays_queue(progress(*log), BANK, day(1.1)))


@pytest.mark.parametrize("fields", [{"confidence": 50}, {"confidence": None}, {"number": 40.0}])
def test_a_doubting_or_close_miss_is_an_ordinary_one(fields):
    log = [attempt(0, card_id=BANK[0].id, topic="bottleneck", **SURE | fields)]
    assert "sure but wrong" not in reasons(todays_queue(progress(*log), BANK, day(1)))


def test_a_revised_card_comes_and_says_why():
    bank = [card("d-a", content_hash="c2", answer_hash="h2"), card("d-b", content_hash="c2")]
    done = progress(*answered(bank, rating="easy"), settings=NO_NEW)
    queue = todays_queue(done, bank, day(1))
    assert [(item.card.id, item.reason) for item in queue.items] == [("d-a", "revised")]


def test_export_wipe_import_gives_the_same_queue_and_the_same_map():
    done = progress(*answered(BANK[:90], rating="hard"), settings=Settings(cap=25, changed_at=START))
    back = merge(merge(Progress(), read(to_json(done))), read(to_json(done)))
    now = day(12)
    assert todays_queue(back, BANK, now) == todays_queue(done, BANK, now)
    maps = [topic_map(BANK, replay(d.attempts, d.settings, now), d.attempts, now) for d in (done, back)]
    assert maps[0] == maps[1]


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            lambda number, when, rating, sure: (number, when, rating, sure),
            st.integers(0, 199),
            st.floats(-400, 30),
            st.sampled_from(["again", "hard", "good", "easy"]),
            st.sampled_from([None, 50, 99]),
        ),
        max_size=60,
    ),
    st.integers(0, 400),
    st.integers(1, 50),
    st.none() | st.integers(-5, 40),
)
def test_any_log_gives_a_queue_within_its_bounds(rows, today, cap, interview):
    log = [
        attempt(
            n,
            day(when),
            card_id=BANK[number].id,
            topic=BANK[number].topic,
            rating=rating,
            confidence=sure,
            correct=rating != "again",
        )
        for n, (number, when, rating, sure) in enumerate(rows)
    ]
    date = None if interview is None else (day(today) + timedelta(days=interview)).date()
    queue = todays_queue(progress(*log, settings=Settings(cap=cap, interview_date=date)), BANK, day(today))
    assert len(queue.items) <= cap + 10
    assert len(set(ids(queue))) == len(queue.items)
    assert queue.left_for_later >= 0
    assert 0 <= queue.tomorrow_reviews <= cap
    assert all(0 <= item.retrievability <= 1 for item in queue.items)
