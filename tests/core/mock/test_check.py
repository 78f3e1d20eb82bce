"""Packs are held against the bank: what they name exists, what they print fills, what they score is reasoned."""

from __future__ import annotations

import pytest

from core.cards.library import CONTENT
from core.mock.check import check_mocks, pack_texts, question_of
from core.mock.reading import read_mocks, read_texts
from tests.core.mock.made import CARD, DRILL, bank, pack

PACK_PATH, ANSWERS_PATH = "mocks/train-serve-45.yaml", "calibration/train-serve-45.md"
PACK_TEXT, ANSWERS_TEXT = ((CONTENT / path).read_text() for path in (PACK_PATH, ANSWERS_PATH))


def check(pack_text: str = PACK_TEXT, answers_text: str = ANSWERS_TEXT) -> list[str]:
    mocks = read_texts({PACK_PATH: pack_text.encode(), ANSWERS_PATH: answers_text.encode()})
    return [str(problem) for problem in check_mocks(mocks, bank())]


def test_every_shipped_pack_is_without_a_finding():
    assert [str(problem) for problem in check_mocks(read_mocks(), bank())] == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "twists: [long-context, padding]",
            "twists: [long-context, nothing]",
            f"cards.0.twists.1: {CARD} has no twist",
        ),
        ("twist: padding}", "twist: experts}", "twist: experts is not on offer: long-context, padding"),
        ("hint: 3}", "hint: 7}", f"hint: {CARD} has 3 hints"),
        ("item: plan}", "item: charm}", "scored.3.item: the rubric of"),
        (
            "long-context, padding, slow-rail,",
            "experts, padding, slow-rail,",
            "experts is neither an event of the pack",
        ),
        ("id: slow-rail", "id: padding", "is a twist of q-bottleneck-mfu-35-hfu-62 and an event"),
        ("{{ ratio }} is more", "{{ ratoi }} is more", "reads ratoi"),
        ("from {{ hfu }}% to", "from {{ hfu | 9x }}% to", "there is no filter"),
        ("What does that cost?", "What does {{ mfu }} cost?", "there is no card here whose numbers"),
        ("What does that cost?", "See https://example.org", "is a link"),
        ("What does that cost?", "What is that in $?", "write USD"),
        ("id: mock-train-serve-45", "id: mock-other", "mock-other lies in mocks/other.yaml"),
    ],
)
def test_a_planted_fault_in_a_pack_is_found(old, new, says):
    assert old in PACK_TEXT
    found = check(PACK_TEXT.replace(old, new, 1))
    assert [line for line in found if says in line], found


def test_cards_that_are_not_there_are_named():
    found = check(PACK_TEXT.replace(CARD, "q-bottleneck-gone").replace(DRILL, "d-serving-gone"))
    assert any("cards.0.card: q-bottleneck-gone is no open card of the bank" in line for line in found)
    assert any("drills.0.card: d-serving-gone is no drill of the bank" in line for line in found)


def test_items_cover_at_least_three_competencies():
    lines = [line for line in PACK_TEXT.split("\n") if "item: causes" not in line and "item: plan" not in line]
    twice = "\n".join(lines).replace(
        "  - {card: q-bottleneck-mfu-35-hfu-62, item: define}\n",
        "".join(f"  - {{card: {CARD}, item: define, id: define{n}}}\n" for n in range(3)),
    )
    assert any("scored: covers measurement, quantitative; score at least 3" in line for line in check(twice))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("pack: mock-train-serve-45", "pack: mock-other", "lie in calibration/other.md"),
        (f"card: {CARD}", "card: q-serving-serve-175b", "is no card of mock-train-serve-45"),
        (f"card: {CARD}", "card: q-serving-gone", "is no open card of the bank"),
        ("    define: {level: 1", "    charm: {level: 1", "differ in charm, define: score each item once"),
        ("define: {level: 4", "define: {level: 1", "the mean level rises"),
        ("## Weak\n", "## Weak\n\nToo short.\n\n## Other\n", "2 words; 60 to 600"),
        ("{{ ceiling }}%.", "{{ ceilnig }}%.", "reads ceilnig"),
    ],
)
def test_a_planted_fault_in_the_answers_is_found(old, new, says):
    assert old in ANSWERS_TEXT
    text = ANSWERS_TEXT.replace(old, new, 1)
    if "mean level" in says:
        text = text.replace("level: 4", "level: 1").replace("level: 3", "level: 1")
    assert [line for line in check(answers_text=text) if says in line], check(answers_text=text)


def test_a_pack_without_answers_is_named():
    mocks = read_texts({PACK_PATH: PACK_TEXT.encode()})
    assert ["write calibration/train-serve-45.md" in str(problem) for problem in check_mocks(mocks, bank())] == [True]


def test_a_section_that_is_none_of_the_three_is_named():
    assert any("## Other: is no section" in line for line in check(answers_text=ANSWERS_TEXT + "\n## Other\n\nx\n"))


def test_every_text_of_a_pack_is_looked_at():
    texts = pack_texts(pack().model)
    whole = pack().text
    assert len(texts) > 70
    for field, (_, text) in texts.items():
        assert " ".join(text.split()[:3]) in " ".join(whole.split()), field


def test_an_open_card_is_told_from_a_drill():
    assert question_of(CARD, bank()) is not None
    assert question_of(DRILL, bank()) is None
    assert question_of("q-nowhere", bank()) is None
