"""Derivations of one GPU's memory in training: what the fullest pipeline stage keeps, and what its peak adds up."""

from __future__ import annotations

from collections import Counter

import numpy as np

from core.activation_working import layer_activation_working, logits_working
from core.activations import layer_activation_bytes
from core.memory import LOGITS_COPIES, TrainingMemory, training_memory
from core.parallelism import in_flight_micro_batches, layer_stages
from core.scenario import TrainingScenario
from core.stage_activations import stage_activation_bytes
from core.working import Term, Working, number, product


def fullest_stage(scenario: TrainingScenario) -> tuple[int, TrainingMemory]:
    """Index of the pipeline stage with the highest peak, and the memory of all stages."""
    memory = training_memory(scenario.model, **scenario.layout)
    return int(np.argmax(memory.peak_bytes)), memory


def activation_workings(scenario: TrainingScenario) -> list[Working]:
    """Activations of the fullest stage, one of its layers tensor by tensor, and the logits where they lie."""
    stage, _ = fullest_stage(scenario)
    model, layout = scenario.model, scenario.layout
    run = {name: layout[name] for name in ("seq_len", "micro_batch_size", "tensor_parallel", "sequence_parallel")}
    run |= {name: layout[name] for name in ("context_parallel", "expert_parallel", "fused_attention")}
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
    for index, (layer, count) in enumerate(own.items(), start=1):
        one = float(
            layer_activation_bytes(
                layer,
                model.hidden_size,
                recompute=scenario.recompute,
                residual_streams=model.residual_streams,
                **run,
            )
        )
        label = f"layers of kind {index}: count × bytes a layer × micro-batches in flight"
        terms.append(Term(label, product(count, one, flight), count * one * flight, "bytes"))
    parts = stage_activation_bytes(
        model,
        pipeline_parallel=scenario.pipeline_parallel,
        num_micro_batches=scenario.num_micro_batches,
        virtual_stages=scenario.virtual_stages,
        recompute=scenario.recompute,
        logits_copies=LOGITS_COPIES,
        **run,
    )
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
        assumptions=("1F1B: stage i of p keeps min(p - i, m) micro-batches, i from 0", "no dropout"),
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
    backward = {
        "weights": memory.weight_bytes,
        "gradients": memory.gradient_bytes,
        "optimizer": memory.optimizer_bytes,
        "activations": memory.activation_bytes,
        "gathered weights, gradient buckets, a layer made again": memory.transient_bytes,
    }
    update = {
        "weights": memory.weight_bytes,
        "gradients": memory.gradient_bytes,
        "optimizer": memory.optimizer_bytes,
        "fp32 copy of the gradients": memory.step_bytes,
    }
    in_backward = float(memory.backward_bytes[stage]) >= float(memory.peak_bytes[stage])
    peak = float(memory.peak_bytes[stage])
    hbm = scenario.accelerator.hbm_bytes
    return [
        Working(
            name="Peak, in the backward pass" if in_backward else "Peak, in the optimizer step",
            formula="sum of what is alive at once",
            terms=tuple(
                Term(label, number(float(values[stage])), float(values[stage]), "bytes")
                for label, values in (backward if in_backward else update).items()
            ),
            value=peak,
            unit="bytes",
            assumptions=(
                "logits are freed before a layer is made again: of that layer only what exceeds them counts",
                "CUDA context, communication libraries and fragmentation come on top",
            ),
            source="sum of the parts above",
        ),
        Working(
            name="Room at the peak",
            formula="M - peak",
            terms=(Term("room", f"{number(hbm)} - {number(peak)}", hbm - peak, "bytes"),),
            value=hbm - peak,
            unit="bytes",
            assumptions=(f"M: memory of {scenario.accelerator.name} that software can address",),
            source=scenario.accelerator.source,
        ),
    ]
