"""The derivation of a step that waits for its kernel launches, or does not."""

from __future__ import annotations

from numpy.typing import ArrayLike

from core.launches import LAUNCH_SOURCE, queue_s, step_s
from core.working import Term, Working, number, product, scalar


def step_working(work_s: ArrayLike, kernels: ArrayLike, *, launch_s: ArrayLike, source: str = LAUNCH_SOURCE) -> Working:
    """The derivation of :func:`core.launches.step_s`: the longer of work and launches, the other said beside it."""
    work, count, each = (
        scalar(name, given) for name, given in (("work_s", work_s), ("kernels", kernels), ("launch_s", launch_s))
    )
    value, launches = float(step_s(work, count, launch_s=each)), float(queue_s(count, launch_s=each))
    if launches > work:
        term = Term("launches", product(count, each), launches, "s", "the GPU waits for the next kernel")
        beside = f"the kernels' own work takes {number(work)} s and hides behind the launches"
    else:
        term = Term("work", number(work), work, "s", "launches hide behind it")
        beside = f"the launches take {product(count, each)} = {number(launches)} s and hide behind the work"
    return Working(
        name="Step with its launches",
        formula="the longer of work and kernels × time a launch",
        terms=(term,),
        value=value,
        unit="s",
        assumptions=(beside, "a floor: short and long kernels take turns"),
        source=f"time a launch: {source}, {number(each)} s",
    )
