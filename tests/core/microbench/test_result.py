"""A document of every kind of measurement, read by kind, with rates from counts and times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest

from core.microbench import result as result_module
from core.microbench.reading import read
from core.microbench.record import FORMAT as WRITTEN
from core.microbench.result import FORMAT, Copy, HostLink, Matmul, Step, Time
from tests.core.microbench.fakes import EACH_KIND, text


def test_every_kind_is_in_the_document():
    union = get_args(result_module.Measurement)[0]
    kinds = {get_args(kind.model_fields["kind"].annotation)[0] for kind in get_args(union)}
    assert {entry["kind"] for entry in EACH_KIND} == kinds


def test_what_is_written_is_what_is_read():
    assert FORMAT == WRITTEN


def test_measurements_by_kind():
    result = read(text())
    assert [entry.op for entry in result.of(Copy)] == ["copy"]
    assert result.of(HostLink)[0].pinned is True
    assert result.of(Step)[0].weight_bytes == 436207616
    assert result.date == datetime(2026, 11, 30, 9, 30, tzinfo=UTC)


def test_rates_are_counts_over_the_median():
    [product] = read(text()).of(Matmul)
    assert product.flops_per_s == pytest.approx(2.1e9 / product.time.median_s)
    assert product.bytes_per_s == pytest.approx(3e7 / product.time.median_s)
    assert read(text()).of(HostLink)[0].flops_per_s is None


def test_spread():
    time = Time(median_s=1.0, p10_s=0.9, p90_s=1.08, samples=10, calls=1, method="graph")
    assert time.spread == pytest.approx(0.2)


def test_settings_are_what_was_measured_without_what_came_out():
    [step] = read(text()).of(Step)
    assert step.settings == ("step", "training", "meta-llama/Llama-3.1-8B", 1, 2048, "eager", "bf16")
