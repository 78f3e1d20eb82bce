"""Each rule of the format is said in words, at its line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.cards.library import CONTENT
from core.mock.pack import MAX_DEPTH, Edge, MockPack
from core.mock.reading import Mocks, read_texts
from tests.core.mock.made import PACK

PATH = "mocks/train-serve-45.yaml"
TEXT = (CONTENT / PATH).read_text()
Change = Callable[[str], str]


def read(text: str) -> Mocks:
    return read_texts({PATH: text.encode()})


def swap(old: str, new: str) -> Change:
    assert old in TEXT, old
    return lambda text: text.replace(old, new, 1)


PLANTED: list[tuple[Change, str, str]] = [
    (swap("minutes: 45", "minutes: 60"), "minutes", "the phases take 45 minutes, and the pack says 60"),
    (swap("minutes: 45", "minutes: 50"), "minutes", "30, 45 or 60"),
    (swap("theme: mixed", "theme: inference"), "theme", "'training', 'serving' or 'mixed'"),
    (swap("kind: reverse", "kind: setup"), "phases.6.kind", "the first phase, and no other, is of kind setup"),
    (swap("kind: wrap", "kind: reverse"), "phases.7.kind", "the last phase, and no other, is of kind wrap"),
    (swap("name: Clarify", "name: Diagnose"), "phases.2.name", "'Diagnose' stands twice"),
    (swap("card: d-serving-decode-tput\n    goal", "goal"), "phases.5", "a probe has a drill as its card"),
    (swap("twists: [long-context, padding, slow-rail, half-budget]\n", "\n"), "phases.4", "offers twists"),
    (swap("node: waiting}", "node: nowhere}"), "cards.0.tree.0.wrong.0.node", "nowhere is no node of this tree"),
    (swap("node: ceiling}", "node: ceiling, hint: 1}"), "cards.0.tree.0.wrong.1", "one of node, hint, twist and drill"),
    (swap("- id: ceiling", "- id: waiting"), "cards.0.tree.2.id", "'waiting' stands twice"),
    (
        swap("twist: padding}", "node: start}"),
        "cards.0.tree.0.id",
        "the edges lead from start back to start",
    ),
    (
        swap('sees that waiting cancels in the ratio", node: second-cause}', 'sees it", node: ceiling}'),
        "cards.0.tree.3.id",
        f"second-cause lies 4 questions deep; at most {MAX_DEPTH}",
    ),
    (
        swap("drill: d-serving-decode-tput}", "drill: d-other-one}"),
        "cards.0.tree.0.stuck.2.drill",
        "d-other-one does not stand in drills",
    ),
    (
        swap("- {card: q-bottleneck-mfu-35-hfu-62, item: define}", "- {card: q-other-one, item: define}"),
        "scored.0.card",
        "q-other-one does not stand in cards",
    ),
    (swap("item: plan}", "item: causes}"), "scored.3.id", "'causes' stands twice"),
    (swap('sign: "+"', 'sign: "!"'), "observations.0.sign", "'+', '-' or '?'"),
    (swap("title: Train", "titel: Train"), "titel", "is not a field of this schema"),
    (swap("id: half-budget", "id: slow-rail"), "events.1.id", "'slow-rail' stands twice"),
    (swap("id: mock-train-serve-45", "id: train-serve-45"), "id", "string should match"),
    (swap("  seed: 0\n    twists", "  seed: -1\n    twists"), "cards.0.seed", "greater than or equal to 0"),
]


@pytest.mark.parametrize(("change", "field", "says"), PLANTED)
def test_a_planted_fault_is_named_with_field_and_line(change, field, says):
    text = change(TEXT)
    problems = read(text).problems
    found = [problem for problem in problems if problem.field == field and says in problem.message]
    assert found, list(map(str, problems))
    last = field.split(".")[-1]
    line = text.split("\n")[found[0].line - 1]
    assert f"{last}:" in line or last.isdigit() or field == "scored.3.id", (found[0].line, line)


def test_a_node_that_no_edge_leads_to_is_named():
    text = TEXT.replace("node: waiting}", "hint: 1}", 1)
    assert [problem.message for problem in read(text).problems] == ["no edge leads to waiting"]


def test_a_first_node_without_a_way_for_the_stuck_is_named():
    start = TEXT.index("        stuck:\n")
    end = TEXT.index("      - id: waiting")
    assert [problem.message for problem in read(TEXT[:start] + TEXT[end:]).problems] == [
        "the first node says where stuck leads"
    ]


def test_a_card_that_no_phase_plays_is_named():
    text = TEXT.replace("    card: q-bottleneck-mfu-35-hfu-62\n    goal", "    card: q-other-card\n    goal")
    assert any("stands neither in cards nor in drills" in problem.message for problem in read(text).problems)


def test_an_edge_leads_to_one_place():
    assert Edge(hear="x", hint=1).hint == 1
    with pytest.raises(ValueError, match="one of node, hint, twist and drill"):
        Edge(hear="x")


def test_the_example_knows_its_slug_and_seeds():
    model = read(TEXT).packs[PACK].model
    assert isinstance(model, MockPack)
    assert model.slug == "train-serve-45"
    assert model.seeds == {"q-bottleneck-mfu-35-hfu-62": 0, "d-serving-decode-tput": 0}
    assert [item.key for item in model.scored] == ["define", "arithmetic", "causes", "plan"]
