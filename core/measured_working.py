"""The derivation of a step that a measured profile predicts: kernel by kernel, and how each was read."""

from __future__ import annotations

from core.measured_step import Basis, MeasuredStep
from core.working import Term, Working, number, scalar

_HOW: dict[Basis, str] = {
    "measured": "between measured cells",
    "bounded": "charged as the next larger measured size, an upper bound",
    "continued": "continued beyond measured cells",
    "stated": "not measured: stated",
}
_RESTS: dict[Basis, str] = {
    "measured": "rests on measured cells",
    "bounded": "on the next larger measured size: an upper bound",
    "continued": "on tables continued beyond their measured cells",
    "stated": "on stated efficiencies, where nothing was measured",
}


def measured_working(step: MeasuredStep) -> Working:
    """The estimate of one decode step as the sum of its kernels."""
    terms = []
    for part in step.parts:
        seconds = scalar(part.label, part.seconds)
        if seconds:
            terms.append(Term(f"{part.label} ({_HOW[part.basis]})", number(seconds), seconds, "s"))
    return Working(
        name="Estimate of a decode step",
        formula="kernels as they were measured, one after the other",
        terms=tuple(terms),
        value=scalar("step_s", step.step_s),
        unit="s",
        assumptions=step.notes or ("every kernel lies between measured cells",),
        source=step.citation,
    )


def basis_in_words(step: MeasuredStep) -> str:
    """How much of a prediction rests on what, in a sentence; with it what was read otherwise than as it stands."""
    shares = {basis: scalar(basis, step.share(basis)) for basis in _RESTS}
    said = [f"{100 * share:.0f}% {_RESTS[basis]}" for basis, share in shares.items() if share >= 0.005]
    return f"Of this step's estimate {', '.join(said)}."
