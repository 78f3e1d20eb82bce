"""The derivation of a KV cache: one product for each kind of layer, and how its numbers were counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.dtypes import bytes_per_element
from core.kv_cache import KvOptions, kv_bytes
from core.kv_layers import GrowingCache, growing_caches
from core.model_spec import ModelSpec
from core.working import Term, Working, number, product, scalar

_FORMULA = "layers × heads × width of an entry × entries × bytes an element × sequences, for each kind of layer"
_SHARED_HEADS = "Shazeer 2019, arXiv:1911.02150"
_LATENTS = "DeepSeek-AI 2024, arXiv:2405.04434, section 2.1"


def kv_working(model: ModelSpec, seq_len: ArrayLike, *, batch: ArrayLike = 1, **options: Unpack[KvOptions]) -> Working:
    """The derivation of :func:`core.kv_cache.kv_bytes` for one length and one batch."""
    value = scalar("kv_bytes", kv_bytes(model, seq_len, batch=batch, **options))
    tokens, page, gpus, sequences = (
        np.asarray(scalar(name, given))
        for name, given in (
            ("seq_len", seq_len),
            ("page_tokens", options.get("page_tokens", 1)),
            ("tensor_parallel", options.get("tensor_parallel", 1)),
            ("batch", batch),
        )
    )
    uniform = options.get("reservation", "ideal") == "uniform"
    caches = list(growing_caches(model, gpus, expanded=options.get("layout", "latent") == "expanded"))
    terms = [
        term
        for count, cache in caches
        for term in _terms(count, cache, cache.entries(tokens, page, uniform=uniform), sequences, options)
    ]
    latent = any(cache.kind.startswith("MLA") for _, cache in caches)
    return Working(
        name=f"KV cache per GPU, {model.name}",
        formula=_FORMULA,
        terms=tuple(terms) or (Term("no layer keeps keys or values", "0", 0.0, "bytes"),),
        value=value,
        unit="bytes",
        assumptions=tuple(_assumptions([cache for _, cache in caches], options)),
        source=_LATENTS if latent else _SHARED_HEADS,
    )


def _terms(
    count: int, cache: GrowingCache, entries: tuple[Floats, Floats], sequences: Floats, options: KvOptions
) -> Iterator[Term]:
    """Exact entries, pooled ones and index keys of one kind of layer."""
    exact, pooled = entries
    kv_dtype = options.get("kv_dtype", "bf16")
    size, index_size = bytes_per_element(kv_dtype), bytes_per_element(options.get("indexer_dtype") or kv_dtype)
    layers = f"{count} layer{'s' if count > 1 else ''}"
    width = f"({' + '.join(map(number, cache.widths))})"
    for label, tokens in ((cache.kind, exact), (f"pooled, 1 for {cache.ratio} tokens", pooled)):
        if tokens:
            result = float(count * cache.elements * tokens * size * sequences)
            expression = product(count, cache.heads, width, tokens, size, sequences)
            yield Term(f"{layers}, {label}", expression, result, "bytes")
    picked = pooled if cache.ratio else exact
    if cache.index_elements and picked and cache.counts_index(options.get("indexer", "usual")):
        expression = product(count, cache.index_elements, picked, index_size, sequences)
        result = float(count * cache.index_elements * picked * index_size * sequences)
        yield Term(f"{layers}, index keys", expression, result, "bytes")


def _assumptions(caches: list[GrowingCache], options: KvOptions) -> Iterator[str]:
    """The conventions that changed this number, each in a sentence."""
    yield f"{options.get('kv_dtype', 'bf16')} keys and values"
    if any(cache.window for cache in caches):
        if options.get("reservation", "ideal") == "uniform":
            yield "every layer reserves pages for every token"
        else:
            yield "a layer with a window stops growing when it is full"
    indexed = [cache for cache in caches if cache.index_elements]
    if indexed:
        counted = all(cache.counts_index(options.get("indexer", "usual")) for cache in indexed)
        yield "index keys are counted" if counted else "index keys of sparse attention are left out"
    if options.get("tensor_parallel", 1) != 1:
        yield "KV heads are split over the GPUs until each holds one; latents and shared keys lie on every GPU"
