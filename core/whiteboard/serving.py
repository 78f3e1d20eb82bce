"""Serving on the whiteboard: floors of a decode step, tokens a second, queues, speculation."""

from __future__ import annotations

from core.roofline import time_floor_s


def decode_step_floor_s(
    weight_bytes: float, kv_bytes_per_request: float, batch: float, bandwidth_bytes_per_s: float
) -> float:
    """The least time of a decode step that reads the weights once and each request's cache: bytes over bandwidth. [s]

    A floor: full bandwidth, perfect overlap. Source: Austin et al. 2025, How to Scale Your Model, chapter Inference.
    """
    moved = weight_bytes + kv_bytes_per_request * batch
    return float(time_floor_s(0.0, moved, peak_flops_per_s=1.0, bytes_per_s=bandwidth_bytes_per_s))


def decode_tokens_per_s(
    weight_bytes: float, kv_bytes_per_request: float, batch: float, bandwidth_bytes_per_s: float
) -> float:
    """Tokens of all requests a second at that floor: one a request and step. [tokens/s]"""
    return batch / decode_step_floor_s(weight_bytes, kv_bytes_per_request, batch, bandwidth_bytes_per_s)
