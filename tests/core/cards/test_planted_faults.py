"""Each planted fault is found once, on its line, under its field, with the value and what would be right."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from core.cards.library import MAX_FILE_BYTES
from tests.core.cards.made import (
    DRILL,
    DRILL_AT,
    FILES,
    QUESTION,
    QUESTION_AT,
    QUIZ,
    QUIZ_AT,
    SOURCES_AT,
    TOPICS,
    changed,
    findings,
)


class Planted(NamedTuple):
    """``old`` becomes ``new``; the finding names ``field``, on the line with ``line``, and says all of ``says``."""

    name: str
    path: str
    old: str
    new: str
    field: str
    line: str
    says: tuple[str, ...]


CHECK = 'check: "size/(hbm*share/100)*1000"'
PLANTED = [
    # who is who
    Planted(
        *("path-is-not-id", DRILL_AT, "id: d-hardware-read", "id: d-hardware-other"),
        *("id", "id: d-hardware-other", ("lies in drills/hardware/other.md",)),
    ),
    Planted(
        *("kind-is-not-id", DRILL_AT, "id: d-hardware-read", "id: q-hardware-read"),
        *("id", "id: q-hardware-read", ("q-hardware-read is a drill", "begins with d-hardware-")),
    ),
    Planted(
        *("unknown-topic", DRILL_AT, "topic: hardware", "topic: hardwear"),
        *("topic", "topic: hardwear", ("'hardwear' is no topic", "there are hardware")),
    ),
    Planted(
        *("unknown-source", DRILL_AT, "sources: [handbook]", "sources: [handbok]"),
        *("sources", "sources: [handbok]", ("'handbok'", "add it with title, url")),
    ),
    Planted(
        *("unknown-source-of-mcq", QUIZ_AT, 'GPU."}\nsources: [handbook]', 'GPU."}\nsources: [handbok]'),
        *("sources", "sources: [handbok]", ("'handbok'",)),
    ),
    Planted(
        *("unknown-followup", QUESTION_AT, "followups: [d-hardware-read]", "followups: [d-hardware-reed]"),
        *("followups", "followups: [d-hardware-reed]", ("'d-hardware-reed' is no card",)),
    ),
    Planted(
        *("unknown-prerequisite", DRILL_AT, "prerequisites: []", "prerequisites: [q-hardware-none]"),
        *("prerequisites", "prerequisites: [q-hardware-none]", ("'q-hardware-none' is no card",)),
    ),
    Planted(
        *("own-followup", QUESTION_AT, "followups: [d-hardware-read]", "followups: [q-hardware-bound]"),
        *("followups", "followups: [q-hardware-bound]", ("this card itself",)),
    ),
    Planted(
        *("related-is-no-mcq", QUESTION_AT, "related_mcq: [m-hardware-read]", "related_mcq: [d-hardware-read]"),
        *("related_mcq", "related_mcq: [d-hardware-read]", ("no multiple-choice question",)),
    ),
    Planted(
        *("repeated-url", SOURCES_AT, "https://example.org/other", "https://example.org/handbook/"),
        *("other.url", "other:", ("is handbook already", "cite that key")),
    ),
    Planted(
        *("repeated-source", SOURCES_AT, "other:\n", "handbook:\n"),
        *("handbook", "handbook:", ("stands twice", "line 2", "keep one")),
    ),
    # numbers
    *(
        Planted(
            *(f"expression-{name}", DRILL_AT, CHECK, f"check: {text}"),
            *("answer.check", "check:", words),
        )
        for name, text, words in (
            ("attribute", '"size.real"', ("'.'", "numbers, names and")),
            ("subscript", '"[size][0]"', ("'['",)),
            ("lambda", '"(lambda: size)()"', ("':'",)),
            ("import", "\"__import__('os')\"", ("numbers, names and",)),
            ("keyword", '"max(size, key=share)"', ("may call ceil, floor", "by position")),
            ("unknown-call", '"open(size)"', ("may call ceil, floor",)),
            ("syntax", '"size +"', ("not an expression",)),
            (
                "unknown-name",
                '"size/bandwidth*1000"',
                ("reads bandwidth", "the card has cap, hbm, nvl, share, size, tf"),
            ),
        )
    ),
    Planted(
        *(
            "parameter-without-unit",
            QUESTION_AT,
            "bw: {choices: [3350, 4800], unit: GB/s}",
            "bw: {choices: [3350, 4800]}",
        ),
        *("params.bw.unit", "bw: {choices", ("is missing",)),
    ),
    Planted(
        *("unknown-unit", DRILL_AT, "unit: GB}", "unit: GB^2}"),
        *("params.size.unit", "size: {choices", ("'GB^2' is not a unit",)),
    ),
    Planted(
        *("unit-in-other-case", DRILL_AT, "unit: GB}", "unit: gb}"),
        *("params.size.unit", "size: {choices", ("'gb' is not a unit", "GB or Gb is")),
    ),
    Planted(
        *(
            "unit-off-by-1e9",
            QUESTION_AT,
            "size: {choices: [140, 70], unit: GB}",
            "size: {choices: [140, 70], unit: B}",
        ),
        *("compute.read_ms.check", "read_ms: {core", ("4.1791e-08 ms", "check gives 41.791", "or a unit, is wrong")),
    ),
    Planted(
        *("check-wrong", DRILL_AT, CHECK, 'check: "size/(hbm*share/100)*1024"'),
        *("answer.check", "check:", ("gives 52.2388 ms", "check gives 53.4925", "size 140")),
    ),
    Planted(
        *("golden-wrong", DRILL_AT, "golden: 52.239", "golden: 52.9"),
        *("golden", "golden: 52.9", ("52.9 is pinned", "52.2388")),
    ),
    Planted(
        *("golden-of-a-question-wrong", QUESTION_AT, "{read_ms: 41.791,", "{read_ms: 42.5,"),
        *("golden.read_ms", "golden:", ("42.5 is pinned", "41.791")),
    ),
    Planted(
        *("golden-missing", QUESTION_AT, ", twice_ms: 83.582}", "}"),
        *("golden", "golden:", ("differ in twice_ms",)),
    ),
    Planted(
        *("golden-is-nan", DRILL_AT, "golden: 52.239", "golden: .nan"),
        *("golden", "golden: .nan", ("nan", "finite number")),
    ),
    Planted(
        *(
            "require-never-satisfied",
            DRILL_AT,
            '"size > share / 2"',
            '"size == 140 and hbm == 1"',
        ),
        *("require", "require:", ("the defaults do not satisfy",)),
    ),
    Planted(
        *(
            "require-of-unequal-units",
            QUESTION_AT,
            "defaults: {size: 140, bw: 3350}",
            'defaults: {size: 140, bw: 3350}\nrequire: "size == bw"',
        ),
        *("require", "require:", ("the defaults do not satisfy 'size == bw'",)),
    ),
    Planted(
        *("default-not-drawn", DRILL_AT, "defaults: {size: 140,", "defaults: {size: 141,"),
        *("defaults.size", "defaults:", ("141", "not among its choices: 140", "70")),
    ),
    Planted(
        *("default-out-of-range", DRILL_AT, "share: 80, gpu", "share: 95, gpu"),
        *("defaults.share", "defaults:", ("95", "outside 50 to 90")),
    ),
    Planted(
        *("default-missing", DRILL_AT, "size: 140, share: 80,", "size: 140,"),
        *("defaults", "defaults:", ("differ in share", "one default")),
    ),
    Planted(
        *("unknown-accelerator", DRILL_AT, "[h100-sxm, h200-sxm]", "[h100-sxm, h201-sxm]"),
        *("params", "params:", ("'h201-sxm' is no accelerator",)),
    ),
    Planted(
        *("name-of-a-function", QUESTION_AT, "compute:\n  read_ms:", 'compute:\n  max: {check: "1"}\n  read_ms:'),
        *("compute.max", "max: {check", ("means something else", "another name")),
    ),
    Planted(
        *("unknown-core-topic", DRILL_AT, "core: hardware.move_floor_s", "core: hardwear.move_floor_s"),
        *("answer.core", "core:", ("no topic 'hardwear'", "hardware")),
    ),
    Planted(
        *("unknown-core-function", DRILL_AT, "core: hardware.move_floor_s", "core: hardware.move_flor_s"),
        *("answer.core", "core:", ("hardware has", "move_floor_s")),
    ),
    Planted(
        *("unknown-argument", DRILL_AT, "{num_bytes: size,", "{bytes: size,"),
        *("answer.args", "args:", ("missing", "num_bytes", "it takes num_bytes, bytes_per_s")),
    ),
    Planted(
        *("accelerator-for-a-number", DRILL_AT, "{num_bytes: size,", "{num_bytes: gpu,"),
        *("defaults", "defaults:", ("hardware.move_floor_s",)),
    ),
    Planted(
        *("answer-not-finite", QUESTION_AT, 'check: "2*size/bw*1000"', 'check: "size/(bw - 3350)"'),
        *("defaults", "defaults:", ("has no value", "division by zero")),
    ),
    Planted(
        *("slip-inside-the-tolerance", DRILL_AT, 'expr: "size/hbm*1000"', 'expr: "answer*1.02"'),
        *("partial.0.expr", "answer*1.02", ("53.2836", "within the tolerance of 52.2388", "counted as right")),
    ),
    Planted(
        *("digits-fewer-than-the-tolerance", DRILL_AT, "rtol: 0.03", "rtol: 0.001\n  digits: 1"),
        *("answer.digits", "digits: 1", ("50 ms", "counted as wrong")),
    ),
    # texts
    *(
        Planted(f"unresolved-in-{name}", path, old, new, field, "{{ nowhere", ("nowhere", "known are"))
        for name, path, old, new, field in (
            ("prompt", DRILL_AT, "A kernel reads {{ size }}", "A kernel reads {{ nowhere }}", "## Prompt"),
            ("steps", DRILL_AT, "{{ hbm*share/100 | 4g }}", "{{ nowhere | 4g }}", "## Steps"),
            ("why", DRILL_AT, "no kernel can beat", "no kernel beats {{ nowhere }}", "## Why it matters"),
            ("slip", DRILL_AT, "{{ share }}% of it", "{{ nowhere }}% of it", "partial.0.say"),
            ("rubric", QUESTION_AT, "Names it with {{ read_ms }}", "Names it with {{ nowhere }}", "rubric.limit.3"),
            ("hint", QUESTION_AT, "It is {{ read_ms }} ms", "It is {{ nowhere }} ms", "hints.2.text"),
            ("reply", QUESTION_AT, '{{ bw | int }} GB/s.", signal', '{{ nowhere }}.", signal', "clarify.1.give"),
            ("trade-off", QUESTION_AT, "gains: fewer bytes", 'gains: "{{ nowhere }} bytes"', "tradeoffs.0.gains"),
            ("stress", QUESTION_AT, "read twice?", "read {{ nowhere }} times?", "stress.0"),
            ("twist", QUESTION_AT, "The weights halve.", "They are {{ nowhere }}.", "twists.half.say"),
            (
                "strong-answer",
                QUESTION_AT,
                "give {{ read_ms }} ms, and",
                "give {{ nowhere }} ms, and",
                "## Strong answer",
            ),
            ("mistakes", QUESTION_AT, "take {{ read_ms }}", "take {{ nowhere }}", "## Common mistakes"),
        )
    ),
    Planted(
        *(
            "unresolved-after-a-twist",
            QUESTION_AT,
            'set: {bw: "2*bw"}, expect: "The floor falls to {{ read_ms }}',
            'set: {bw: "2*bw"}, expect: "It is {{ nowhere }}',
        ),
        *("twists.faster.expect", "{{ nowhere", ("nowhere",)),
    ),
    Planted(
        *("unknown-filter", DRILL_AT, "{{ answer | 4g }}", "{{ answer | 4f }}"),
        *("## Steps", "4f", ("'{{ answer | 4f }}'", "no filter '4f'", "known are")),
    ),
    Planted(
        *("open-placeholder", DRILL_AT, "reads {{ size }} GB", "reads {{ size GB"),
        *("## Prompt", "{{ size GB", ("both pairs of braces",)),
    ),
    Planted(
        *("prompt-shows-the-answer", DRILL_AT, "How many milliseconds at least?", "Is it {{ answer }} ms?"),
        *("## Prompt", "Is it {{ answer", ("gives away answer",)),
    ),
    Planted(
        *(
            "prompt-works-the-answer-out",
            DRILL_AT,
            "How many milliseconds at least?",
            "Is it {{ 1e5*size/(hbm*share) }} ms?",
        ),
        *("## Prompt", "Is it {{ 1e5", ("is the answer in all variants",)),
    ),
    Planted(
        *(
            "early-step-shows-the-answer",
            DRILL_AT,
            "1. It reaches {{ hbm*share/100 | 4g }} GB/s.",
            "1. It takes {{ answer }} ms.",
        ),
        *("## Steps", "## Steps", ("only the last step",)),
    ),
    Planted(
        *("placeholder-in-a-title", DRILL_AT, "title: Time to read some bytes", 'title: "Read {{ size }} GB"'),
        *("title", "title:", ("no numbers are put into a title",)),
    ),
    Planted(
        *("placeholder-in-an-mcq", QUIZ_AT, "A kernel only reads bytes.", "A kernel reads {{ size }} bytes."),
        *("stem", "stem:", ("no numbers are drawn",)),
    ),
    Planted(
        *("link", QUESTION_AT, "They would wait.", "See https://example.org/more"),
        *(
            "## Common mistakes",
            "https://example.org/more",
            ("'https://example.org/more\"'", "cite a source by its key"),
        ),
    ),
    Planted(
        *("picture", DRILL_AT, "A floor says", "![a floor](//example.org/x.png) says"),
        *("## Why it matters", "x.png", ("a link or a picture",)),
    ),
    Planted(
        *("dollar", DRILL_AT, "no kernel can beat", "no $5 kernel can beat"),
        *("## Why it matters", "$5", ("'$'", "write USD")),
    ),
    Planted(
        *("missing-section", DRILL_AT, "## Why it matters\n", "### Why it matters\n"),
        *("## Why it matters", "---", ("missing or empty",)),
    ),
    Planted(
        *("repeated-section", DRILL_AT, "## Why it matters\n", "## Steps\n\nAgain.\n\n## Why it matters\n"),
        *("## Steps", "## Steps", ("stands twice",)),
    ),
    Planted(
        *("unknown-section", DRILL_AT, "## Why it matters\n", "## Remarks\n\nNone.\n\n## Why it matters\n"),
        *("## Remarks", "## Remarks", ("no section of a drill", "Prompt, Steps, Why it matters")),
    ),
    Planted(
        *("text-above-the-sections", DRILL_AT, "## Prompt\n", "Lost words.\n\n## Prompt\n"),
        *("", "Lost words.", ("'Lost words.'", "would not be shown")),
    ),
    Planted(
        *("wrong-without-right", QUESTION_AT, '\n  right: "They would wait."', ""),
        *("## Common mistakes", "## Common mistakes", ("each '- wrong:' has its",)),
    ),
    # rubric, hints, twists
    Planted(
        *("three-levels", QUESTION_AT, '2: "Once", ', ""),
        *("rubric.2.levels", "levels:", ("1, 2, 3 and 4", "[1, 3, 4]")),
    ),
    Planted(
        *("descending-costs", QUESTION_AT, "cost: 0.5,", "cost: 0.2,"),
        *("hints.1.cost", "cost: 0.2", ("ascend", "0.2 follows 0.25")),
    ),
    Planted(
        *("repeated-rubric-id", QUESTION_AT, "- id: number", "- id: limit"),
        *("rubric.1.id", "id: limit", ("limit stands twice",)),
    ),
    Planted(
        *("twist-of-an-unknown-parameter", QUESTION_AT, 'set: {bw: "2*bw"}', 'set: {speed: "2*bw"}'),
        *("twists.faster.set", "id: faster", ("sets speed", "does not have")),
    ),
    Planted(
        *("twist-that-the-core-refuses", QUESTION_AT, 'set: {bw: "2*bw"}', 'set: {bw: "-bw"}'),
        *("twists.faster.set", "id: faster", ("hardware.move_floor_s refuses", "seed 0")),
    ),
    # multiple choice
    Planted(
        *("two-correct", QUIZ_AT, 'rate", why: "No FLOP', 'rate", correct: true, why: "No FLOP'),
        *("options.1.correct", "No FLOP", ("exactly one option is correct, here 2 are",)),
    ),
    Planted(
        *("none-correct", QUIZ_AT, "correct: true, ", ""),
        *("options", "options:", ("exactly one option is correct, here 0 are",)),
    ),
    Planted(
        *("option-without-reason", QUIZ_AT, '"Peak compute rate", why: "No FLOP is done."', '"Peak compute rate"'),
        *("options.1.why", "Peak compute rate", ("is missing",)),
    ),
    Planted(
        *("all-of-the-above", QUIZ_AT, "Latency of a link", "All of the above"),
        *("options.2.text", "All of the above", ("'All of the above'", "shuffled")),
    ),
    Planted(
        *("option-by-letter", QUIZ_AT, "They wait for bytes already.", "Unlike option B they wait."),
        *("options.1.why", "option B", ("'option B'", "shuffled")),
    ),
    Planted(
        *("option-by-place", QUIZ_AT, "They wait for bytes already.", "The first option is better."),
        *("options.1.why", "first option", ("'first option'",)),
    ),
    Planted(
        *(
            "long-correct-option",
            QUIZ_AT,
            '"More bandwidth"',
            '"More bandwidth, since it waits for bytes and not for arithmetic"',
        ),
        *("options.0.text", "More bandwidth,", ("63 characters", "even the options out")),
    ),
    Planted(
        *("repeated-option", QUIZ_AT, "Latency of a link", "Peak compute rate"),
        *("options.2.text", "Nothing leaves", ("'Peak compute rate' stands twice",)),
    ),
    Planted(
        *("quiz-of-another-topic", QUIZ_AT, "topic: hardware\n", "topic: serving\n"),
        *("id", "id: m-hardware-", ("begins with m-serving-",)),
    ),
    Planted(
        *(
            "open-block",
            QUIZ_AT,
            "sources: [handbook]\n```\n\n```mcq\nid: m-hardware-ridge",
            "sources: [handbook]\n\n```mcq\nid: m-hardware-ridge",
        ),
        *("", "```mcq", ("not closed",)),
    ),
    # scene
    Planted(
        *("scene-of-an-unknown-field", DRILL_AT, "serving: {batch: 8}", "serving: {bach: 8}"),
        *("scene", "scene:", ("Bach is 8", "no such field")),
    ),
    Planted(
        *(
            "scene-of-an-unknown-model",
            DRILL_AT,
            "scene: {accelerator: gpu,",
            "scene: {model: nobody/nothing, accelerator: gpu,",
        ),
        *("scene", "scene:", ("'nobody/nothing' is neither",)),
    ),
    Planted(
        *("scene-that-a-twist-breaks", QUESTION_AT, "related_mcq: [m-hardware-read]"),
        "related_mcq: [m-hardware-read]\nscene: {serving: {memory_fraction: bw/8e12}}",
        *("twists.faster.set", "id: faster", ("with it, the scene makes no scenario", "at most 1")),
    ),
    # the file itself
    Planted(
        *("unknown-field", DRILL_AT, "seconds: 60", "secs: 60"),
        *("secs", "secs: 60", ("not a field of this schema",)),
    ),
    Planted(
        *("unknown-schema", DRILL_AT, "schema: drill/1", "schema: drill/2"),
        *("schema", "schema: drill/2", ("'drill/2'", "write one of drill/1")),
    ),
    Planted(
        *("repeated-field", DRILL_AT, "seconds: 60", "seconds: 60\nseconds: 90"),
        *("seconds", "seconds: 90", ("stands twice", "line 8")),
    ),
    Planted(
        *("yaml-error", DRILL_AT, "title: Time to read some bytes", "title: Time: to read"),
        *("", "title: Time: to read", ("cannot be read here", "quote a text")),
    ),
    Planted(
        *("yaml-error-in-an-mcq", QUIZ_AT, "title: Left of the ridge", "title: [Left"),
        *("", "level: senior", ("cannot be read here",)),
    ),
    Planted(
        *("alias-bomb", DRILL_AT, "seconds: 60", "seconds: 60\na: &a [1, 1]\nb: &b [*a, *a]\nc: [*b, *b]"),
        *("", "b: &b [*a, *a]", ("aliases", "write the value out")),
    ),
    Planted(
        *("deep-nesting", DRILL_AT, "seconds: 60", f"seconds: {'[' * 200}{']' * 200}"),
        *("", "seconds: [", ("nested more than",)),
    ),
    Planted(
        *("no-front-matter", DRILL_AT, "---\nid: d-hardware-read", "id: d-hardware-read"),
        *("", "id: d-hardware-read", ("front matter",)),
    ),
]


@pytest.mark.parametrize("planted", PLANTED, ids=[planted.name for planted in PLANTED])
def test_the_fault_is_named_by_file_line_field_and_value(planted):
    files = changed(planted.path, planted.old, planted.new)
    found = [problem for problem in findings(files) if problem.path == planted.path and problem.field == planted.field]
    assert found, [str(problem) for problem in findings(files)]
    lines = files[planted.path].split("\n")
    fitting = [problem for problem in found if all(words in problem.message for words in planted.says)]
    assert fitting, [str(problem) for problem in found]
    assert planted.line in lines[fitting[0].line - 1], f"{fitting[0]} names {lines[fitting[0].line - 1]!r}"


def test_the_bank_is_good_without_them():
    assert findings(seeds=40) == []


def test_at_least_the_twenty_of_the_specification_are_planted():
    assert len({planted.name for planted in PLANTED}) == len(PLANTED) >= 60


def test_a_requirement_that_few_draws_satisfy_is_named():
    text = DRILL.replace("step: 10", "step: 1").replace(
        '"size > share / 2"', '"size == 140 and share == 80 and hbm < 4000"'
    )
    [problem] = findings({**FILES, DRILL_AT: text})
    assert problem.field == "require"
    assert "1% of all draws satisfy" in problem.message or "0% of all draws satisfy" in problem.message


def test_a_second_card_of_one_id_is_named_with_the_place_of_the_first():
    [problem] = [
        problem
        for problem in findings({**FILES, "drills/hardware/again.md": DRILL})
        if problem.path == "drills/hardware/again.md"
    ]
    assert (problem.line, problem.field) == (2, "id")
    assert "d-hardware-read stands in drills/hardware/read.md already" in problem.message


def test_a_second_mcq_of_one_id_is_named_on_its_line():
    files = changed(QUIZ_AT, "id: m-hardware-ridge", "id: m-hardware-read")
    [problem] = findings(files)
    assert files[QUIZ_AT].split("\n")[problem.line - 1] == "id: m-hardware-read"
    assert problem.line > QUIZ.split("\n").index("id: m-hardware-read") + 1


def test_a_file_that_is_too_large_is_not_read():
    [*_, problem] = [p for p in findings({**FILES, DRILL_AT: DRILL + "x" * MAX_FILE_BYTES}) if p.path == DRILL_AT]
    assert f"at most {MAX_FILE_BYTES:,}" in problem.message


def test_a_source_in_two_files_is_named_with_both_places():
    second = "handbook:\n  title: A\n  year: 2020\n  url: https://example.org/a\n  kind: book\n  supports: b\n"
    [problem] = findings({**FILES, "sources/more.yaml": f"# more\n{second}"})
    assert str(problem) == "sources/more.yaml:2: handbook: stands in sources/hardware.yaml:2 already: keep one"


def test_a_quiz_without_a_block_is_named():
    [problem] = [p for p in findings({**FILES, QUIZ_AT: QUIZ.split("```")[0]}) if p.path == QUIZ_AT]
    assert "no block" in problem.message


def test_all_faults_of_a_file_are_found_at_once():
    text = DRILL.replace("golden: 52.239", "golden: 1").replace("sources: [handbook]", "sources: [nobody]")
    assert {"golden", "sources"} <= {problem.field for problem in findings({**FILES, DRILL_AT: text})}


def test_findings_stand_in_the_order_of_files_and_lines():
    files = {**FILES, DRILL_AT: DRILL.replace("52.239", "1"), QUESTION_AT: QUESTION.replace("41.791", "1")}
    files["topics.yaml"] = TOPICS.replace("hardware:", "other:")
    found = findings(files)
    assert found == sorted(found)
    assert len(found) > 4
