"""A small bank made by hand: one drill, one question, two quiz questions, and what they cite."""

from __future__ import annotations

from collections.abc import Mapping

from core.cards.card import Card
from core.cards.library import Bank, read_texts
from core.cards.mcq import McqCard
from core.cards.problems import CardProblem
from core.cards.validate import check_bank

DRILL_AT = "drills/hardware/read.md"
QUESTION_AT = "questions/hardware/bound.md"
QUIZ_AT = "quizzes/hardware.md"
SOURCES_AT = "sources/hardware.yaml"

DRILL = """---
id: d-hardware-read
schema: drill/1
title: Time to read some bytes
topic: hardware
step: 1
level: mid
seconds: 60
sources: [handbook]
prerequisites: []
params:
  size: {choices: [140, 70], unit: GB}
  share: {range: [50, 90], step: 10, unit: "%"}
  gpu: {choices: [h100-sxm, h200-sxm], unit: accelerator}
defaults: {size: 140, share: 80, gpu: h100-sxm}
require: "size > share / 2"
answer:
  core: hardware.move_floor_s
  args: {num_bytes: size, bytes_per_s: "hbm*share"}
  check: "size/(hbm*share/100)*1000"
  unit: ms
  rtol: 0.03
golden: 52.239
partial:
  - {expr: "size/hbm*1000", say: "That is at the full rate; {{ share }}% of it is reached."}
  - {expr: "answer/1000", say: "Those are seconds."}
scene: {accelerator: gpu, serving: {batch: 8}}
---

## Prompt

A kernel reads {{ size }} GB on a {{ gpu }} ({{ hbm | int }} GB/s) at {{ share }}% of that rate.
How many milliseconds at least?

## Steps

1. It reaches {{ hbm*share/100 | 4g }} GB/s.
2. Bytes over that rate: {{ answer | 4g }} ms.

## Why it matters

A floor says what no kernel can beat.
"""

QUESTION = """---
id: q-hardware-bound
schema: question/1
title: What bounds this step?
topic: hardware
step: 1
level: senior
kind: explain
minutes: 12
sources: [handbook]
prerequisites: [d-hardware-read]
params:
  size: {choices: [140, 70], unit: GB}
  bw: {choices: [3350, 4800], unit: GB/s}
defaults: {size: 140, bw: 3350}
compute:
  read_ms: {core: hardware.move_floor_s, args: {num_bytes: size, bytes_per_s: bw}, check: "size/bw*1000", unit: ms}
  twice_ms: {check: "2*size/bw*1000", unit: ms, digits: 3}
golden: {read_ms: 41.791, twice_ms: 83.582}
rubric:
  - id: limit
    competency: measurement
    observe: Names the limit before a technique
    levels:
      1: "Lists techniques"
      2: "Names a limit"
      3: "Names it with {{ read_ms }} ms"
      4: "Says which reading would prove it"
  - id: number
    competency: quantitative
    observe: Works the floor out
    levels: {1: "No number", 2: "No unit", 3: "Right", 4: "And says why it is a floor"}
  - id: proof
    competency: verification
    observe: Says how to confirm it
    levels: {1: "Does not", 2: "Once", 3: "Predicts first", 4: "Guards against noise"}
clarify:
  - {ask: "Which precision?", give: "16 bits.", signal: ok}
  - {ask: "Which bandwidth?", give: "{{ bw | int }} GB/s.", signal: strong}
  - {ask: "How many GPUs?", give: "One.", signal: ok}
hints:
  - {cost: 0.25, text: "Which bytes move?"}
  - {cost: 0.5, text: "Divide them by the bandwidth."}
  - {cost: 1, text: "It is {{ read_ms }} ms."}
tradeoffs:
  - {option: Fewer bits, gains: fewer bytes, costs: accuracy, use_when: evaluations pass}
  - {option: More GPUs, gains: more bandwidth, costs: money, use_when: latency binds}
  - {option: Larger batch, gains: reuse, costs: latency, use_when: there is traffic}
twists:
  - {id: half, say: "The weights halve.", set: {size: "size/2"}, expect: "The floor falls to {{ read_ms }} ms."}
  - {id: faster, say: "The bandwidth doubles.", set: {bw: "2*bw"}, expect: "The floor falls to {{ read_ms }} ms."}
stress:
  - "What if the bytes are read twice?"
  - "What if they fit into the cache?"
followups: [d-hardware-read]
related_mcq: [m-hardware-read]
---

## Prompt

A step reads {{ size }} GB at {{ bw | int }} GB/s. What bounds it?

## Predict

How many milliseconds at least?

## Strong answer

The bytes over the bandwidth give {{ read_ms }} ms, and {{ twice_ms }} ms if they are read twice.

## Common mistakes

- wrong: "It is compute-bound."
  right: "The bytes alone take {{ read_ms }} ms."
- wrong: "Add tensor cores."
  right: "They would wait."
"""

QUIZ = """---
schema: quiz/1
topic: hardware
step: 1
---

```mcq
id: m-hardware-read
title: What bounds a read
level: mid
stem: A kernel only reads bytes. What bounds it?
options:
  - {text: "Memory bandwidth", correct: true, why: "Nothing is computed."}
  - {text: "Peak compute rate", why: "No FLOP is done."}
  - {text: "Latency of a link", why: "Nothing leaves the GPU."}
sources: [handbook]
```

```mcq
id: m-hardware-ridge
title: Left of the ridge
level: senior
stem: Which upgrade helps a kernel left of the ridge point?
options:
  - text: "More bandwidth"
    correct: true
    why: "Its floor is bytes over bandwidth."
  - {text: "More tensor cores", why: "They wait for bytes already."}
  - {text: "A larger memory", why: "Capacity is not what it waits for."}
sources: [handbook]
```
"""

SOURCES = """# What the cards of hardware cite
handbook:
  title: A handbook
  year: 2020
  url: https://example.org/handbook
  kind: book
  supports: "Time is bytes over bandwidth"
other:
  title: Another book
  year: 2021
  url: https://example.org/other
  kind: book
  supports: "The same"
"""

TOPICS = """hardware:
  title: Hardware
  about: Memory and links
  steps: [1]
  page: bottleneck
  modules: [hardware]
"""

FILES = {SOURCES_AT: SOURCES, "topics.yaml": TOPICS, DRILL_AT: DRILL, QUESTION_AT: QUESTION, QUIZ_AT: QUIZ}


def changed(path: str, old: str, new: str) -> dict[str, str]:
    """The files of the bank with one place of one of them changed."""
    assert FILES[path].count(old) == 1, f"{old!r} stands {FILES[path].count(old)} times in {path}"
    return {**FILES, path: FILES[path].replace(old, new)}


def read(files: Mapping[str, str] = FILES) -> Bank:
    return read_texts({path: text.encode() for path, text in files.items()})


def findings(files: Mapping[str, str] = FILES, *, seeds: int = 12) -> list[CardProblem]:
    return check_bank(read(files), seeds=seeds)


def drill(text: str = DRILL) -> Card:
    return _card(DRILL_AT, text, "d-hardware-read")


def question(text: str = QUESTION) -> Card:
    return _card(QUESTION_AT, text, "q-hardware-bound")


def mcq() -> McqCard:
    card = read().cards["m-hardware-read"]
    assert isinstance(card, McqCard)
    return card


def _card(path: str, text: str, card_id: str) -> Card:
    bank = read({**FILES, path: text})
    assert not bank.problems, bank.problems
    card = bank.cards[card_id]
    assert isinstance(card, Card)
    return card
