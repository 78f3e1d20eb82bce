"""What the pages of steps 1 and 3 show of a scenario, by the line of a worked sheet: a value and its text."""

from core import bottleneck, bottleneck_questions, bottleneck_text, communication, communication_questions
from core import communication_text as said
from core.bottleneck_counts import COUNT_WORDS, COUNTS, Known, counted, over_seq_len
from core.bottleneck_verdict import verdicts
from core.display import digits, show_bytes, show_count, show_percent, show_seconds
from core.parallelism import pipeline_bubble
from core.scenario import Scenario
from core.under_roof import half_roof

Line = tuple[float, str]


def bottleneck_lines(scenario: Scenario, known: Known) -> dict[str, Line]:
    """Step 1: ridge, limits, operators under the roof, and a run's speed counted every way."""
    ridge = half_roof(scenario.accelerator).ridge
    assert ridge is not None
    lines = {"ridge": (ridge, digits(ridge))}
    for verdict in verdicts(scenario):
        for pressure in verdict.pressures:
            words = bottleneck_text.pressure_words(pressure, verdict, "GB")
            lines[f"{verdict.of}: {pressure.limit}"] = (pressure.value, ", ".join(words))
        lines[f"{verdict.of}: step"] = (verdict.step_s, show_seconds(verdict.step_s))
    for phase in bottleneck.PHASES:
        placed = bottleneck.place(scenario, phase)
        for spot in placed.spots(bottleneck.index_of(placed, scenario)):
            lines[f"{phase}: {spot.label}"] = (spot.intensity, digits(spot.intensity))
        if placed.crossing:
            lines[f"{phase}: crosses the ridge from"] = (placed.crossing, f"{placed.crossing:,}")
    run = scenario.training
    used, at = counted(run, known, scenario.accelerator.half_dtype), over_seq_len(run).seq_len.index(run.seq_len)
    for count in COUNTS:
        flops, ceiling = float(used.sweep.per_token(count)[at]), float(used.sweep.ceiling(count)[at])
        mfu, hfu = float(used.share(count)[at]), float(used.share(count, "full")[at])
        lines |= {
            f"{COUNT_WORDS[count]}: FLOP a token": (flops, show_count(flops)),
            f"{COUNT_WORDS[count]}: MFU": (mfu, show_percent(mfu)),
            f"{COUNT_WORDS[count]}: HFU": (hfu, show_percent(hfu)),
            f"{COUNT_WORDS[count]}: ceiling": (ceiling, f"{ceiling:.3f} x"),
        }
    exact = bottleneck_questions.recomputed_share(run).exact_percent / 100
    return lines | {"HFU of an MFU of 35%, all recomputed": (exact, show_percent(exact))}


def communication_lines(scenario: Scenario) -> dict[str, Line]:
    """Step 3: bytes and times by axis, the step, and points of the scaling curves."""
    run, sweep = scenario.training, communication.over_gpus(scenario)
    at = sweep.data_parallel.index(run.data_parallel)
    lines: dict[str, Line] = {}
    for axis, row in zip(sweep.axes, said.axis_table(sweep, scenario, "GB", None), strict=True):
        lines |= {
            f"{axis}: sent": (float(sweep.sent_bytes[axis][at]), row["a GPU sends, a step"]),
            f"{axis}: exposed": (float(sweep.exposed_s[axis][at]), row["exposed"]),
            f"{axis}: hidden": (float(sweep.hidden_s[axis][at]), row["hidden"]),
        }
    here = communication.headline_of(scenario)
    ring = communication_questions.ring_bytes(run)
    shares = {"MFU": here.mfu, "exposed share": here.exposed_share}
    times = {"bubble": here.bubble_s, "step": here.step_s, "exposed, all axes": here.exposed_s}
    idle = pipeline_bubble(run.pipeline_parallel, run.num_micro_batches, virtual_stages=run.virtual_stages).of_total
    curves = communication.scaling(scenario)
    assert curves is not None
    for name, curve in (("strong", curves.strong), ("weak", curves.weak)):
        shares |= {f"{name} on {gpus:,}": mfu for gpus, mfu in zip(curve.num_gpus, curve.mfu, strict=True)}
    lines |= {name: (share, show_percent(share)) for name, share in shares.items() if share is not None}
    lines |= {name: (seconds, show_seconds(seconds)) for name, seconds in times.items() if seconds is not None}
    return lines | {
        "sent, all axes": (here.sent_bytes, show_bytes(here.sent_bytes)),
        "idle share of equal stages": (float(idle), show_percent(float(idle))),
        "ring over 8": (ring.few_bytes, show_bytes(ring.few_bytes)),
        "ring over 512": (ring.many_bytes, show_bytes(ring.many_bytes)),
    }
