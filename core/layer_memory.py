"""Memory of one decoder layer's forward and backward pass, beside what a run of our own benchmark counted.

What the forward pass keeps is the sum of :mod:`core.activations`. The backward pass frees it part by part while
gradients of the weights pile up, so that a single layer peaks at one of four moments; its sizes say at which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.activations import layer_activation_bytes
from core.kept_tensors import FP32_BYTES, ActivationOptions, Kept, Run
from core.layer_prediction import model_of
from core.mixer_activations import mixer_tensors
from core.mlp_activations import mlp_tensors
from core.model_spec import Attention, Mlp, ModelSpec
from core.own_entry import Entry
from core.prediction_error import Errors, errors_of

ELEMENT_BYTES = 2
PEAK_DTYPES = ("bf16", "fp16")  # of layers whose peak is predicted


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of the backward pass at which memory may peak. [bytes]"""

    name: str  # the part whose gradients are being made
    kept_bytes: float  # by the forward pass, and not yet freed
    gradient_bytes: float  # of weights, made so far
    passing_bytes: float  # gradients of activations, and what a kernel works in

    @property
    def total_bytes(self) -> float:
        """All that is alive beside the weights and the input."""
        return self.kept_bytes + self.gradient_bytes + self.passing_bytes


@dataclass(frozen=True, slots=True)
class LayerMemory:
    """Memory of one layer's training step without its optimizer, beside weights and input. [bytes]"""

    kept_bytes: float  # by the forward pass, its output included
    moments: tuple[Moment, ...]

    @property
    def peak(self) -> Moment:
        """The highest moment."""
        return max(self.moments, key=lambda moment: moment.total_bytes)


@dataclass(frozen=True, slots=True)
class JudgedMemory:
    """Memory of one measured training step beside its prediction. [bytes]"""

    model: str
    batch: int
    seq_len: int
    kept_bytes: float | None  # measured; None where it was not counted
    peak_bytes: float  # measured
    predicted: LayerMemory

    @property
    def error(self) -> float:
        """Of the peak: prediction over measurement, less one. [-]"""
        return self.predicted.peak.total_bytes / self.peak_bytes - 1

    @property
    def kept_error(self) -> float | None:
        """Of what the forward pass keeps. [-]"""
        return None if self.kept_bytes is None else self.predicted.kept_bytes / self.kept_bytes - 1


def layer_memory(model: ModelSpec, *, batch: int, seq_len: int) -> LayerMemory:
    """What one layer's forward and backward pass holds beside its weights and its input.

    Args:
        model: of one layer, softmax attention over a joint projection and a dense gated MLP, as
            :mod:`core.microbench` measures it. Embedding and head are left out.
        batch: sequences. [sequences]
        seq_len: tokens of each. [tokens]

    Raises:
        ValueError: the model's layers are of another kind.

    Assumes 16 bits throughout, no recomputation, a tiled attention kernel, an MLP whose activation function and product
    are two kernels, and gradients of all weights and of the input that are held until the pass ends. Values are a slice
    of the joint projection, which therefore stays whole. The backward pass of attention adds up the queries' gradient
    in fp32 and, where query heads share keys, makes a gradient of keys and values for each query head: FlashAttention-2
    as in PyTorch, aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, ``mha_bwd``.
    """
    layer, hidden = model.layers[0], model.hidden_size
    mixer, mlp = layer.mixer, layer.mlp
    if model.num_layers != 1 or not isinstance(mixer, Attention) or not isinstance(mlp, Mlp) or not mlp.gated:
        raise ValueError(f"{model.id}: one layer of softmax attention beside a dense gated MLP is what can be followed")
    options: ActivationOptions = {"seq_len": seq_len, "micro_batch_size": batch, "fused_mlp": False}
    run, tokens = Run.of(**options), float(batch * seq_len)
    token = ELEMENT_BYTES * tokens  # bytes of a tensor for each element of its width
    stream, inner = token * hidden, token * mlp.intermediate_size
    queries, keys = token * mixer.num_heads * mixer.head_dim, token * mixer.num_kv_heads * mixer.head_dim
    joint = queries + 2 * keys
    # Held for the values' sake; where heads have norms, these need it anyhow, and it is counted with them.
    beside_values = queries + keys if mixer.qk_norm == "none" else 0.0
    # Of the layer's input, which whoever calls holds, and its output, as large, the core counts the first.
    kept = float(layer_activation_bytes(layer, hidden, **options)) + beside_values
    of_mlp = _bytes(tuple(mlp_tensors(mlp, hidden, run)), run)
    of_mixer = _bytes(tuple(mixer_tensors(mixer, run)), run) + beside_values
    row = ELEMENT_BYTES * float(hidden)  # bytes of a matrix for each of its rows or columns that is not the stream's
    down, up, out, qkv = (row * width / token for width in (inner, 2 * inner, queries, joint))
    expanded = 2 * queries if mixer.num_heads != mixer.num_kv_heads else 0.0
    statistics = FP32_BYTES * tokens * mixer.num_heads  # each query's output times its gradient
    fp32 = queries * FP32_BYTES / ELEMENT_BYTES
    ends = 2 * stream  # the input of the joint projection; the layer's output
    moments = (
        # The product is gone; its gradient and those of both factors are there.
        Moment("product of gate and up", kept - inner, down, 3 * inner),
        Moment("gate and up projections", kept - of_mlp, down + up, 2 * inner + stream),
        # In passing: gradients of the residual stream, the output, the queries twice, keys and values.
        Moment(
            "attention",
            ends + of_mixer,
            down + up + out,
            stream + 2 * queries + fp32 + expanded + 2 * keys + statistics,
        ),
        Moment("joint projection", ends, down + up + out + qkv, 2 * stream + joint),
    )
    return LayerMemory(kept, moments)


def judge_memory(result: Entry) -> tuple[JudgedMemory, ...]:
    """Every training step of a result whose peak was counted, as it is on CUDA, in 16 bits.

    Args:
        result: a validated document ``microbench/1`` as plain values.
    """
    shapes = {shape["model"]: shape for shape in result["run"]["models"]}
    return tuple(
        JudgedMemory(
            one["model"],
            one["batch"],
            one["seq_len"],
            one.get("kept_bytes"),
            float(one["peak_bytes"]),
            layer_memory(model_of(shapes[one["model"]]), batch=one["batch"], seq_len=one["seq_len"]),
        )
        for one in result["measurements"]
        if one["kind"] == "step" and one["phase"] == "training" and one["dtype"] in PEAK_DTYPES
        if one.get("peak_bytes") and one["model"] in shapes
    )


def memory_score(judged: Iterable[JudgedMemory]) -> Errors | None:
    """Errors of the peaks; None where there is none."""
    return errors_of([one.error for one in judged])


def _bytes(tensors: Sequence[Kept], run: Run) -> float:
    return float(sum(tensor.bytes(run) for tensor in tensors))
