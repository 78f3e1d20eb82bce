"""The derivations of FLOPs a token, utilization and training time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from core.activations import Recompute
from core.flops import forward_parts, hfu, train_flops_per_token, view_of
from core.mixer_params import mixer_label
from core.model_spec import ModelSpec
from core.scaling import MODEL_FLOPS_PER_PARAM, RECOMPUTED_FLOPS_PER_PARAM, training_time_s
from core.token_mixing import mixing
from core.working import Term, Working, number, product, scalar

_MEGATRON = "Narayanan et al. 2021, arXiv:2104.04473, equation 3"
_PALM = "Chowdhery et al. 2022, arXiv:2204.02311, appendix B"


def train_flops_working(
    model: ModelSpec, seq_len: ArrayLike, *, causal: bool, recompute: Recompute = "none"
) -> Working:
    """The derivation of :func:`core.flops.train_flops_per_token` for one length."""
    tokens = scalar("seq_len", seq_len)
    value = float(train_flops_per_token(model, tokens, causal=causal, recompute=recompute))
    parts = forward_parts(model, tokens, view=view_of(causal))
    layers = 4 if recompute == "full" else 3
    rows = (("matrices of the layers", layers, float(parts.matrices)), ("output head", 3, float(parts.head)))
    terms = [
        Term(label, product(passes, 2, flops / 2), passes * flops, "FLOP", "2 FLOP a weight that a token meets")
        for label, passes, flops in rows
    ]
    terms[1:1] = _mixing_terms(model, tokens, causal=causal, recompute=recompute)
    return Working(
        name=f"Training FLOPs a token, {model.name}",
        formula="passes × 2 × weights of its matrices + passes × layers × 2 × heads × widths × tokens seen",
        terms=tuple(terms),
        value=value,
        unit="FLOP",
        assumptions=tuple(_assumptions(causal, recompute)),
        source=f"{_PALM}; {_MEGATRON}",
    )


def _mixing_terms(model: ModelSpec, tokens: float, *, causal: bool, recompute: Recompute) -> Iterator[Term]:
    """One term for each kind of token mixing; layers that mix alike are counted together."""
    counts: dict[tuple[str, str, float, tuple[int, ...], float], int] = defaultdict(int)
    for layer, count in model.layer_counts.items():
        for part in mixing(layer.mixer, tokens, view_of(causal)) if layer.mixer else ():
            label = mixer_label(layer.mixer) if layer.mixer and part.kind == "attention" else part.label
            counts[label, part.kind, float(part.heads), part.widths, float(part.rows)] += count
    for (label, kind, heads, widths, rows), count in counts.items():
        again = recompute == "full" or (recompute == "selective" and kind == "attention")
        passes = 4 if again else 3
        widths_put_in = f"({' + '.join(map(number, widths))})"
        value = passes * count * 2 * heads * sum(widths) * rows
        why = "a state of constant size" if kind == "state" else "each query with what it sees"
        yield Term(label, product(passes, count, 2, heads, widths_put_in, rows), value, "FLOP", why)


def _assumptions(causal: bool, recompute: Recompute) -> Iterator[str]:
    yield "a forward pass and a backward pass of twice its FLOPs"
    if causal:
        yield "attention counts the tokens that each query sees: half of them, and itself"
    else:
        yield "attention counts every token for every query, as if there were no mask"
    if recompute == "full":
        yield "one more forward pass of the layers, not of the output head"
    if recompute == "selective":
        yield "attention scores and their product with the values are made once more"
    yield "embeddings, norms and activation functions are left out"


def utilization_working(
    tokens_per_s: ArrayLike,
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    num_gpus: ArrayLike,
    peak_flops_per_s: ArrayLike,
    causal: bool,
    recompute: Recompute = "none",
) -> Working:
    """The derivation of :func:`core.flops.mfu`, and with ``recompute`` of :func:`core.flops.hfu`. [-]"""
    speed, gpus, peak = (
        scalar(name, given)
        for name, given in (
            ("tokens_per_s", tokens_per_s),
            ("num_gpus", num_gpus),
            ("peak_flops_per_s", peak_flops_per_s),
        )
    )
    tokens = scalar("seq_len", seq_len)
    value = float(hfu(speed, model, tokens, num_gpus=gpus, peak_flops_per_s=peak, causal=causal, recompute=recompute))
    per_token = float(train_flops_per_token(model, tokens, causal=causal, recompute=recompute))
    short = "MFU" if recompute == "none" else "HFU"
    return Working(
        name=f"{short}, {model.name}",
        formula="tokens a second × FLOPs a token / (GPUs × dense peak)",
        terms=(
            Term("share of the peak", f"{product(speed, per_token)} / ({product(gpus, peak)})", value, "of the peak"),
        ),
        value=value,
        unit="of the peak",
        assumptions=tuple(_assumptions(causal, recompute)),
        source=_PALM,
    )


def training_time_working(
    num_params: ArrayLike, tokens: ArrayLike, *, num_gpus: ArrayLike, flops_per_s: ArrayLike, recompute: bool
) -> Working:
    """The derivation of :func:`core.scaling.training_time_s`."""
    params, seen, gpus, speed = (
        scalar(name, given)
        for name, given in (
            ("num_params", num_params),
            ("tokens", tokens),
            ("num_gpus", num_gpus),
            ("flops_per_s", flops_per_s),
        )
    )
    value = float(np.asarray(training_time_s(params, seen, num_gpus=gpus, flops_per_s=speed, recompute=recompute)))
    each = RECOMPUTED_FLOPS_PER_PARAM if recompute else MODEL_FLOPS_PER_PARAM
    counted = "with the forward passes made again" if recompute else "model FLOPs alone"
    return Working(
        name="Training time",
        formula=f"{each} × P × T / (n × X)",
        terms=(Term("time", f"{product(each, params, seen)} / ({product(gpus, speed)})", value, "s"),),
        value=value,
        unit="s",
        assumptions=(f"X is what one GPU achieves, {counted}", "attention's own FLOPs are left out"),
        source=f"{_MEGATRON.replace('equation 3', 'equation 4')}",
    )
