"""Agreement with HolisticTraceAnalysis within 2%, on made-up recordings and on the real ones that ship as examples."""

from __future__ import annotations

import random

import pytest

from core.trace.examples import examples
from core.trace.launches import launches
from core.trace.reading import read_trace
from core.trace.split import split
from tests.trace.build import Event, as_bytes, recording
from tests.trace.independent import analyze

WITHIN = 0.02
RECORDED = [path for example in examples().values() for path in example.paths]


# The tool 0.5.0 keeps row numbers in a column as narrow as the correlations, which pandas 3 refuses to widen. So these
# count on from a number that needs as many bits as a row.
FIRST_LAUNCH = 1000


def of_seed(seed: int) -> bytes:
    return as_bytes(recording(seed, steps=1 + seed % 4, layers=5 + 5 * seed, first_launch=FIRST_LAUNCH))


def with_nanoseconds(seed: int) -> bytes:
    """Fractions of a microsecond, as the profiler has written them since 2024."""
    draw, events = random.Random(seed), recording(seed, first_launch=FIRST_LAUNCH)
    return as_bytes([event | {"dur": event["dur"] + draw.randrange(1000) / 1000} for event in events])


TRACES = {
    **{f"seed {seed}": of_seed(seed) for seed in range(8)},
    **{f"nanoseconds, seed {seed}": with_nanoseconds(seed) for seed in range(4)},
    **{path.name: path.read_bytes() for path in RECORDED},
}


@pytest.mark.parametrize("name", TRACES)
def test_the_time_split_agrees(name, tmp_path):
    theirs = analyze(TRACES[name], tmp_path)
    ours = split(read_trace([(name, TRACES[name])]).ranks[0])[0].whole
    allowed = WITHIN * theirs.whole_s
    assert float(ours.whole_s) == pytest.approx(theirs.whole_s, rel=WITHIN)
    assert float(ours.compute_s) == pytest.approx(theirs.compute_s, rel=WITHIN)
    assert float(ours.idle_s) == pytest.approx(theirs.idle_s, rel=WITHIN, abs=allowed / 10)
    beside = float(ours.exposed_communication_s + ours.copy_s)
    assert beside == pytest.approx(theirs.non_compute_s, rel=WITHIN, abs=allowed / 10)
    assert float(ours.overlap) == pytest.approx(theirs.overlap, abs=WITHIN, nan_ok=True)


def on_one_stream(seed: int) -> list[Event]:
    """Where there is one stream, its gaps are the GPU's, and the tool's causes are comparable."""
    events = recording(seed, first_launch=FIRST_LAUNCH)
    assert len({event["args"].get("stream", 7) for event in events}) > 1
    return [event for event in events if event["args"].get("stream", 7) == 7]


@pytest.mark.parametrize("seed", range(8))
def test_idle_time_agrees_by_cause(seed, tmp_path):
    content = as_bytes(on_one_stream(seed))
    theirs = analyze(content, tmp_path)
    ours = split(read_trace([("trace.json", content)]).ranks[0])[0].whole
    of_host = ours.idle_launch_s + ours.idle_input_s + ours.idle_communication_s
    assert theirs.host_wait_s > 0
    assert float(of_host) == pytest.approx(theirs.host_wait_s, rel=WITHIN)
    assert float(ours.idle_queued_s) == pytest.approx(theirs.other_wait_s, rel=WITHIN)
    assert float(ours.idle_unknown_s) == 0


@pytest.mark.parametrize("seed", range(8))
def test_launches_agree(seed, tmp_path):
    content = of_seed(seed)
    theirs = analyze(content, tmp_path)
    ours = launches(read_trace([("trace.json", content)]).ranks[0])
    assert ours.count == theirs.launches
    assert float(ours.call_s.sum()) == pytest.approx(theirs.launch_calls_s, rel=WITHIN)
    assert float(ours.delay_s.sum()) == pytest.approx(theirs.launch_delays_s, rel=WITHIN)
