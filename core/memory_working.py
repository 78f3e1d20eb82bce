"""Derivations of one GPU's memory in training: what the fullest pipeline stage keeps, and what its peak adds up."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from core.activation_working import layer_activation_working, logits_working
from core.activations import layer_activation_bytes
from core.memory import ACTIVATION_FIELDS, LOGITS_COPIES, TrainingMemory, training_memory
from core.mixer_params import mixer_label
from core.model_spec import Layer, Moe
from core.parallelism import in_flight_micro_batches, layer_stages
from core.passing_working import passing_terms
from core.scenario import TrainingScenario
from core.stage_activations import StageActivations, stage_activation_bytes
from core.working import Term, Working, number, product

_STAGE_FIELDS = ("pipeline_parallel", "virtual_stages", "num_micro_batches", "recompute")  # no business of one layer
_CAPACITY = {  # Accelerator.hbm_bytes_basis, in a sentence
    "driver": "as its driver reports it; a reserve may still come off (616 of 143,771 MiB on an H200)",
    "label read as GiB": "as its vendor prints it, GB read as GiB; a reserve may still come off",
    "edited by hand": "edited by hand",
}


def fullest_stage(scenario: TrainingScenario) -> tuple[int, TrainingMemory]:
    """Index of the pipeline stage with the highest peak, and the memory of all stages."""
    memory = training_memory(scenario.model, **scenario.layout)
    return int(np.argmax(memory.peak_bytes)), memory


def activation_workings(scenario: TrainingScenario) -> list[Working]:
    """Activations of the fullest stage, one of its layers tensor by tensor, and the logits where they lie."""
    stage, _ = fullest_stage(scenario)
    model, run = scenario.model, _micro_batch(scenario)
    flight = float(
        in_flight_micro_batches(
            scenario.pipeline_parallel,
            scenario.num_micro_batches,
            stage=stage,
            virtual_stages=scenario.virtual_stages,
        )
    )
    place = layer_stages(model.num_layers, scenario.pipeline_parallel, virtual_stages=scenario.virtual_stages)
    own = Counter(layer for layer, at in zip(model.layers, place, strict=True) if at == stage)
    terms: list[Term] = []
    for layer, count in own.items():
        one = float(
            layer_activation_bytes(
                layer,
                model.hidden_size,
                recompute=scenario.recompute,
                residual_streams=model.residual_streams,
                **run,
            )
        )
        terms.append(Term(_layer_label(layer), product(count, one, flight), count * one * flight, "bytes"))
    parts = _parts(scenario)
    around = {"final norm and input of the head": parts.head_bytes, "logits": parts.logits_bytes}
    for label, values in around.items():
        if value := float(values[stage]):
            terms.append(Term(label, number(value), value, "bytes"))
    total = Working(
        name=f"Activations, pipeline stage {stage + 1} of {scenario.pipeline_parallel}",
        formula="sum over layer kinds of: layers × bytes a layer × micro-batches in flight, and the head",
        terms=tuple(terms),
        value=float(parts.total_bytes[stage]),
        unit="bytes",
        assumptions=(_schedule(scenario), "no dropout"),
        source="Korthikanti et al. 2022, arXiv:2205.05198, section 4.2.3",
    )
    common = own.most_common(1)[0][0]
    workings = [
        total,
        layer_activation_working(
            common, model.hidden_size, recompute=scenario.recompute, residual_streams=model.residual_streams, **run
        ),
    ]
    if float(parts.logits_bytes[stage]):
        workings.append(
            logits_working(
                seq_len=scenario.seq_len // scenario.context_parallel,  # this GPU's part of the sequence
                micro_batch_size=scenario.micro_batch_size,
                vocab_size=model.vocab_size,
                tensor_parallel=scenario.tensor_parallel,
                copies=LOGITS_COPIES,
            )
        )
    return workings


def peak_workings(scenario: TrainingScenario) -> list[Working]:
    """The peak of the fullest stage and the room that it leaves."""
    stage, memory = fullest_stage(scenario)
    in_backward = float(memory.backward_bytes[stage]) >= float(memory.peak_bytes[stage])
    alive = {
        "weights": memory.weight_bytes,
        "gradients": memory.gradient_bytes,
        "optimizer": memory.optimizer_bytes,
    }
    alive |= {"activations": memory.activation_bytes} if in_backward else {"fp32 copy of gradients": memory.step_bytes}
    terms = [Term(label, number(values[stage]), float(values[stage]), "bytes") for label, values in alive.items()]
    if in_backward:
        logits = float(_parts(scenario).logits_bytes[stage])
        terms += passing_terms(scenario, stage, logits, _micro_batch(scenario))
    peak, gpu = float(memory.peak_bytes[stage]), scenario.accelerator
    return [
        Working(
            name="Peak, in the backward pass" if in_backward else "Peak, in the optimizer step",
            formula="sum of what is alive at once",
            terms=tuple(terms),
            value=peak,
            unit="bytes",
            assumptions=(
                "logits are freed before a layer is made again: of that layer only what exceeds them counts"
                if in_backward
                else "activations are gone by then",
                "CUDA context, communication libraries and fragmentation come on top",
            ),
            source="sum of the parts above",
        ),
        Working(
            name="Room at the peak",
            formula="M - peak",
            terms=(Term("room", f"{number(gpu.hbm_bytes)} - {number(peak)}", gpu.hbm_bytes - peak, "bytes"),),
            value=gpu.hbm_bytes - peak,
            unit="bytes",
            assumptions=(f"M: memory of {gpu.name}, {_CAPACITY[gpu.hbm_bytes_basis]}",),
            source=gpu.source,
        ),
    ]


def _micro_batch(scenario: TrainingScenario) -> dict[str, Any]:
    """The fields of a layout that one layer's activations depend on."""
    return {name: scenario.layout[name] for name in ACTIVATION_FIELDS if name not in _STAGE_FIELDS}


def _parts(scenario: TrainingScenario) -> StageActivations:
    """Activations of every stage, the logits apart."""
    return stage_activation_bytes(
        scenario.model,
        logits_copies=LOGITS_COPIES,
        **{name: scenario.layout[name] for name in ACTIVATION_FIELDS},
    )


def _schedule(scenario: TrainingScenario) -> str:
    """How many micro-batches a stage keeps, as :func:`core.parallelism.in_flight_micro_batches` counts them."""
    if scenario.virtual_stages > 1:
        return (
            "interleaved 1F1B: stage i of p, in v chunks, keeps min((2 (p - i - 1) + (v - 1) p + 1) / v, m)"
            " micro-batches, i from 0"
        )
    return "1F1B: stage i of p keeps min(p - i, m) micro-batches, i from 0"


def _layer_label(layer: Layer) -> str:
    """What a layer is made of, for people."""
    mixer = [mixer_label(layer.mixer)] if layer.mixer else []
    mlp = ["experts" if isinstance(layer.mlp, Moe) else "MLP"] if layer.mlp else []
    return f"layers of {' and '.join([*mixer, *mlp])}"
