"""The session's clock at a server time: it warns and never blocks, and what one phase takes the later ones lose."""

from __future__ import annotations

from dataclasses import dataclass

from core.mock.state import RoomState

WARN_SHARE = 0.75  # of a phase
MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Times in seconds; ``upcoming`` are the phases after this one, by position, with the time left for each."""

    started: bool
    paused: bool
    finished: bool
    elapsed_s: float
    left_s: float  # of the whole session; 0 when it is over its time
    phase: int | None
    phase_elapsed_s: float
    phase_s: float
    upcoming: tuple[tuple[int, float], ...]

    @property
    def running(self) -> bool:
        """Whether the clock moves."""
        return self.started and not self.paused and not self.finished

    @property
    def phase_left_s(self) -> float:
        """What is left of the phase; negative when it runs over."""
        return self.phase_s - self.phase_elapsed_s

    @property
    def warns(self) -> bool:
        """Whether three quarters of the phase are over."""
        return self.phase is not None and self.phase_elapsed_s >= WARN_SHARE * self.phase_s


def clock(state: RoomState, now: float) -> Clock:
    """The clock of a room at the server's time. [s since 1970]

    A phase has its planned minutes, less where too little is left for all that is to come, plus what it was stretched
    by. Those after it share what then remains, in the proportions of the plan, and never get more than planned.
    """
    time = state.time
    planned = [minutes * MINUTE_S for minutes in state.plan.minutes]
    total, elapsed = sum(planned), time.running_s(now)
    at = -1 if time.phase is None else time.phase
    phase_s = phase_elapsed = 0.0
    if time.phase is not None:
        phase_elapsed = elapsed - time.phase_began_s
        phase_s = max(0.0, unstretched_s(state) + time.stretched_s)
    ends = (time.phase_began_s if time.phase is not None else 0.0) + max(phase_s, phase_elapsed)
    share = _share(total - ends, sum(planned[at + 1 :]))
    return Clock(
        started=time.started_at is not None,
        paused=time.paused_at is not None,
        finished=time.finished_at is not None,
        elapsed_s=elapsed,
        left_s=max(0.0, total - elapsed),
        phase=time.phase,
        phase_elapsed_s=phase_elapsed,
        phase_s=phase_s,
        upcoming=tuple((later, planned[later] * share) for later in range(at + 1, len(planned))),
    )


def unstretched_s(state: RoomState) -> float:
    """The length of the running phase before it was stretched; 0 where none runs. [s]"""
    at = state.time.phase
    if at is None:
        return 0.0
    planned = [minutes * MINUTE_S for minutes in state.plan.minutes]
    return planned[at] * _share(sum(planned) - state.time.phase_began_s, sum(planned[at:]))


def _share(left: float, wanted: float) -> float:
    return min(1.0, max(0.0, left) / wanted) if wanted > 0 else 0.0
