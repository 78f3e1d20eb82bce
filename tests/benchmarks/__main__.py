"""Measure the app against the smallest apps that could do the same: python -m tests.benchmarks

Ratios count, not milliseconds: both sides are measured in one run, by turns. Ends with status 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from tests.benchmarks import cards, drag, imports, load
from tests.benchmarks.machine import describe
from tests.benchmarks.report import Row, table
from tests.benchmarks.session import Session
from tests.e2e.server import running_server

PLOTLY_FRAGMENT = Path(__file__).parent / "apps" / "plotly_fragment.py"
NO_PREDICTIONS = "ridgepoint_settings=unit=GB&predictions=off"  # else the page asks before it draws


async def slide_baseline(session: Session, step: int) -> float:
    return await session.slide("height", step % 100)


def live_chart_mover(key: str) -> load.Move:
    async def commit(session: Session, step: int) -> float:
        positions = json.loads(session.data(key)[0])["frames"]
        return await session.commit(key, "commit", {"index": step % positions, "at": int(1e3 * time.time())})

    return commit


def measure_server(page: str, chart: str, quick: bool) -> list[Row]:
    with running_server() as app, running_server(PLOTLY_FRAGMENT) as smallest:
        targets = [
            load.Target(app.url + page, app.process.pid, live_chart_mover(chart), NO_PREDICTIONS),
            load.Target(smallest.url, smallest.process.pid, slide_baseline),
        ]
        rounds = 2 if quick else 6
        alone = asyncio.run(load.compare(targets, sessions=1, rounds=rounds, seconds=2))
        crowd = asyncio.run(load.compare(targets, sessions=25, rounds=rounds // 2, seconds=4))
    return [
        Row("server CPU of a rerun after a slider", "ms", alone[0].cpu_ms, alone[1].cpu_ms, at_most=2.5),
        Row("round trip of that rerun, one visitor", "ms", alone[0].median_ms, alone[1].median_ms),
        Row("bytes of that rerun", "kB", alone[0].message_bytes / 1e3, alone[1].message_bytes / 1e3),
        Row("reruns, 25 visitors in a closed loop", "/s", crowd[0].reruns_per_s, crowd[1].reruns_per_s, at_least=0.4),
        Row("server CPU of a rerun, 25 visitors", "ms", crowd[0].cpu_ms, crowd[1].cpu_ms),
    ]


def measure_drag(page: str, chart: str, quick: bool) -> list[Row]:
    slider = f'.st-key-{chart.replace(".", "-")} input[type="range"]'
    with running_server() as app, drag.baseline() as smallest:
        charts = [drag.LiveChart(app.url + page, slider, NO_PREDICTIONS), smallest]
        ours, theirs = drag.compare(charts, rounds=2 if quick else 6)
    rows = [
        Row("one drawing while dragging, median", "ms", ours.median_ms, theirs.median_ms, at_most=1.3),
        Row("one drawing while dragging, p95", "ms", ours.p95_ms, theirs.p95_ms),
        Row("drawings in all drags", "", ours.draws, theirs.draws),
        Row("drawings for each position passed", "", ours.draws / ours.steps, theirs.draws / theirs.steps),
    ]
    return rows if ours.same_node else [*rows, Row("the plot was replaced", "", 1, 1, at_most=0)]


def measure_imports(quick: bool) -> list[Row]:
    formulas, libraries = imports.compare(rounds=5 if quick else 21)
    return [Row("import of the formulas", "ms", 1e3 * formulas, 1e3 * libraries, at_most=1.6)]


def measure_cards(quick: bool) -> list[Row]:
    """Against limits of their own instead of another app: no smaller one does the same."""
    first = cards.first_card_ms()
    slowest = cards.slowest_card_ms(seeds=3 if quick else 9)
    checked = cards.check_s()
    return [
        Row("draw and fill the first card of a process (limit)", "ms", first, cards.CARD_LIMIT_MS),
        Row("draw and fill the slowest card (limit)", "ms", slowest, cards.CARD_LIMIT_MS, at_most=1),
        Row("check the whole bank, 200 variants a card (limit)", "s", checked, cards.CHECK_LIMIT_S, at_most=1),
    ]


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.splitlines()[0])
    options.add_argument("--page", default="/partition", help="path of the page with the live chart")
    options.add_argument("--chart", default="partition.memory", help="key of the live chart")
    options.add_argument("--only", choices=["server", "drag", "imports", "cards"], help="one part instead of all")
    options.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a result")
    chosen = options.parse_args()
    parts = {
        "imports": lambda: measure_imports(chosen.quick),
        "cards": lambda: measure_cards(chosen.quick),
        "server": lambda: measure_server(chosen.page, chosen.chart, chosen.quick),
        "drag": lambda: measure_drag(chosen.page, chosen.chart, chosen.quick),
    }
    rows = [row for name, measure in parts.items() if chosen.only in (None, name) for row in measure()]
    print(table(rows))
    print(f"\n{describe()}")
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
