"""The tables of step 5 as rows of text: what lifts the cap, formats, reservations, prefix hits, prices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.batch import Headline
from core.batch_levers import Format, Lever, Reserved
from core.batch_token import PrefixHits, Price
from core.display import digits, show_bytes, show_percent, show_seconds

Rows = list[dict[str, str]]


def lever_rows(levers: Sequence[Lever], unit: str, baseline: Headline | None) -> Rows:
    """The cap as it stands and after each change on its own."""
    base = levers[0].max_batch
    return [
        {
            "change": lever.name,
            "requests that fit": f"{lever.max_batch:,}",
            "against now": f"{digits(lever.max_batch / base)} x" if base else ("fits" if lever.max_batch else "none"),
            "GPUs": f"{lever.gpus:,}",
            "a request takes, each GPU": show_bytes(lever.sequence_bytes, unit),
        }
        | ({"against pinned": f"{lever.max_batch - baseline.max_batch:+,}"} if baseline else {})
        for lever in levers
    ]


def format_rows(formats: Sequence[Format], unit: str) -> Rows:
    """Number formats side by side."""
    return [
        {
            "format": row.name,
            "bits an element": digits(row.bits),
            "weights, whole model": show_bytes(row.weight_bytes, unit),
            "fit with these weights": f"{row.with_weights:,}",
            "a request's cache, each GPU": show_bytes(row.kv_bytes, unit),
            "fit with this cache": f"{row.with_cache:,}",
        }
        for row in formats
    ]


def reserved_rows(reserved: Sequence[Reserved]) -> Rows:
    """Ways to set memory aside, and how much of it stays empty."""
    return [
        {
            "set aside": row.name,
            "room for a request": f"{row.tokens:,.0f} tokens",
            "of it empty": show_percent(row.wasted),
        }
        for row in reserved
    ]


def prefix_rows(hits: PrefixHits, unit: str) -> Rows:
    """Prefill with growing parts of the prompt known."""
    times = [float(value) for value in hits.prefill_s]
    return [
        {
            "prompt already cached": f"{share:.0%}",
            "tokens found": f"{int(hits.cached_tokens[at]):,}",
            "prefill, estimate": "no confirmed peak" if math.isnan(times[at]) else show_seconds(times[at]),
            "FLOPs saved": show_percent(float(hits.saved_flops[at])),
            "cache not held twice, each GPU": show_bytes(float(hits.saved_bytes[at]), unit),
        }
        for at, share in enumerate(hits.share)
    ]


def price_rows(prices: Sequence[Price]) -> Rows:
    """A million output tokens at a few batches."""
    return [
        {
            "requests at once": f"{row.batch:,}",
            "tokens a second, estimate": digits(row.tokens_per_s),
            "a million tokens, estimate": digits(row.estimate),
            "floor": digits(row.floor),
            "fits": "yes" if row.fits else "no: if memory held it",
        }
        for row in prices
    ]
