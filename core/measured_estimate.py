"""How long decode and prefill take on a measured profile: its kernels' times added up, the datasheet's floor beside.

A step is one kernel after another: each weight matrix, each layer's attention, what lies between, messages. Whatever
the profile has no table for is put in at stated efficiencies (:class:`core.serving_rates.Efficiencies`) and marked so.
No measured step is seen: kernels and links predict it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, whole
from core.dtypes import bytes_per_element
from core.hardware import Accelerator
from core.kernel_counts import num_kernels
from core.kv_layers import heads_per_gpu, mixer_counts
from core.kv_reads import picks_tokens
from core.launches import EAGER_LAUNCH_S, queue_s
from core.log_grid import Reading
from core.measured_profile import ExpertShape, Phase, Profile
from core.mixer_matrices import EXPANSION
from core.mixer_operators import mixing_operators
from core.model_spec import Attention, LatentAttention, Mixer, ModelSpec
from core.operators import model_operators
from core.sequence_state import MOST_GPUS, MOST_SEQUENCES
from core.serving_messages import Fabric, fabric_of, messages_s
from core.serving_rates import (
    EFFICIENCIES,
    Efficiencies,
    StepTime,
    floor_time,
    multiply_dtype,
    multiply_flops_per_s,
)
from core.serving_step import MEMORY_FRACTION, ServingStep, serving_step
from core.serving_weights import ServedMatrix, ServingFormats, experts_hit_share, served_matrices
from core.serving_work import ServingWork, decode_work, prefill_work
from core.token_mixing import visible_tokens
from core.work import Operator, Work

Basis = Literal["measured", "continued", "stated"]
MATRICES, ATTENTION, BETWEEN, MESSAGES, LAUNCHES = "matrices", "attention", "between", "messages", "launches"
_SORTING = "routing and permutation"
_IN_PROPORTION = "Attention is read as a plain pass's, in proportion to their floors."
_OUTSIDE = ("embedding", "final norm", "output head")
# Measured kernels that do the work of an operator, and the share of its bytes that each moves. A fused norm reads the
# sum and the residual and writes both back (4 widths); apart, the norm moves 2 of these and the sum 3.
_VECTOR_KERNELS = {
    "norms and residuals": (("norm", 0.5), ("add", 0.75)),
    "final norm": (("norm", 0.5),),
    "rotary positions": (("heads", 1.0),),
    "activation function": (("swiglu", 1.0),),
    "cache write": (("append", 1.0),),
}
_MOVES_ONLY = ("convolution", "named")  # small matrices without a shape worth a product


class Part(NamedTuple):
    """One kind of kernel of a step, over all layers."""

    label: str
    kind: str  # matrices, attention, between (norms, activations, cache writes), messages, launches
    seconds: Floats
    basis: Basis  # measured: between measured cells. continued: beyond them. stated: not measured at all
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredStep:
    """A step predicted from a profile; arrays have the broadcast shape of batch and length."""

    parts: tuple[Part, ...]
    floor: StepTime  # the datasheet's, which nothing beats
    citation: str

    @property
    def step_s(self) -> Floats:
        """The prediction. [s]"""
        return sum((part.seconds for part in self.parts), np.zeros(()))

    @property
    def floor_s(self) -> Floats:
        """The datasheet's floor. [s]"""
        return self.floor.overlapped_s

    @property
    def notes(self) -> tuple[str, ...]:
        """How tables were read where not as they stand, each sentence once."""
        return tuple(dict.fromkeys(note for part in self.parts for note in part.notes))

    def of_kind(self, kind: str) -> Floats:
        """All parts of one kind. [s]"""
        return sum((part.seconds for part in self.parts if part.kind == kind), np.zeros(()))

    @property
    def layers(self) -> MeasuredStep:
        """All layers without what stands before and behind them: embedding, final norm, head."""
        return replace(self, parts=tuple(part for part in self.parts if part.label not in _OUTSIDE))

    @property
    def layers_s(self) -> Floats:
        """The time of :attr:`layers`. [s]"""
        return self.layers.step_s

    def share(self, basis: Basis) -> Floats:
        """Share of the prediction that rests on measured cells, on continued ones, or on stated efficiencies. [-]"""
        mine = sum((part.seconds for part in self.parts if part.basis == basis), np.zeros(()))
        return np.asarray(mine / self.step_s)

    @property
    def time(self) -> StepTime:
        """The prediction by kind of work, as every page takes an estimate; its ``sequential_s`` is ``step_s``.

        A kernel's time cannot be told apart into memory and compute. The longer of the two floors is given all of it,
        the shorter its own proportion, so that limits compare as under the roofline.
        """
        floor = self.floor
        weight, matmul = _split(self.of_kind(MATRICES), floor.weight_s, floor.matmul_s)
        cache, attention = _split(self.of_kind(ATTENTION), floor.kv_s, floor.attention_s)
        overhead = self.of_kind(BETWEEN) + self.of_kind(LAUNCHES)
        return StepTime(weight, cache, matmul, attention, np.asarray(self.of_kind(MESSAGES)), np.asarray(overhead))


def measured_decode(
    profile: Profile,
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: int = 1,
    accelerator: Accelerator | None = None,
    fabric: Fabric | None = None,
    eager: bool = False,
    tokens_per_sequence: ArrayLike = 1,
    efficiencies: Efficiencies = EFFICIENCIES,
    **formats: Unpack[ServingFormats],
) -> MeasuredStep:
    """One decode step.

    Args:
        profile: what was measured.
        model: the model.
        seq_len: tokens of each sequence, the new one included. [tokens]
        batch: sequences; broadcasts with ``seq_len``. [sequences]
        tensor_parallel: GPUs that share the step; one degree a call.
        accelerator: the datasheet beside; None: the profile's own.
        fabric: links between the GPUs; None: those that the accelerator usually comes with. Messages are read from the
            profile only over those, since it was measured on them.
        eager: kernels are launched one by one and not in a graph, so the queue of launches may be longer than the work.
        tokens_per_sequence: tokens checked at once, as in :func:`core.serving_work.decode_work`. Attention over several
            is that over one, times the ratio of their floors: no profile measures it. [tokens]
        efficiencies: for what was not measured.
        formats: see :class:`core.serving_weights.ServingFormats`.

    Raises:
        ValueError: the profile's system is not in the catalog and no accelerator is given.
    """
    chip = _datasheet(profile, accelerator)
    plain = decode_work(model, seq_len, batch=batch, tensor_parallel=tensor_parallel, **formats)
    work = decode_work(
        model,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        tokens_per_sequence=tokens_per_sequence,
        **formats,
    )
    step = _Step(profile, chip, model, "decode", seq_len, batch, tensor_parallel, fabric, efficiencies, formats)
    step.run(whole("tokens_per_sequence", tokens_per_sequence), of_plain=_attention_ratio(work, plain, chip))
    return MeasuredStep(tuple(step.parts(work, eager=eager)), floor_time(work, chip), profile.citation)


def measured_prefill(
    profile: Profile,
    model: ModelSpec,
    prompt_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: int = 1,
    accelerator: Accelerator | None = None,
    fabric: Fabric | None = None,
    eager: bool = False,
    cached_tokens: ArrayLike = 0,
    efficiencies: Efficiencies = EFFICIENCIES,
    **formats: Unpack[ServingFormats],
) -> MeasuredStep:
    """Prefill of ``batch`` prompts in one pass, logits of the last token only; as :func:`measured_decode`.

    Of each prompt ``cached_tokens`` are in the cache, as in :func:`core.serving_work.prefill_work`; attention of the
    rest is that of a whole prompt, times the ratio of their floors.
    """
    chip = _datasheet(profile, accelerator)
    plain = prefill_work(model, prompt_len, batch=batch, tensor_parallel=tensor_parallel, **formats)
    work = prefill_work(
        model, prompt_len, batch=batch, tensor_parallel=tensor_parallel, cached_tokens=cached_tokens, **formats
    )
    step = _Step(profile, chip, model, "prefill", prompt_len, batch, tensor_parallel, fabric, efficiencies, formats)
    new = step.length - whole("cached_tokens", cached_tokens, low=0)
    step.run(new, of_plain=_attention_ratio(work, plain, chip))
    return MeasuredStep(tuple(step.parts(work, eager=eager)), floor_time(work, chip), profile.citation)


def measured_serving_step(
    profile: Profile,
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: int = 1,
    accelerator: Accelerator | None = None,
    memory_fraction: float = MEMORY_FRACTION,
    fabric: Fabric | None = None,
    **formats: Unpack[ServingFormats],
) -> ServingStep:
    """:func:`core.serving_step.serving_step` with its estimate from the profile; all else is the datasheet's."""
    chip = _datasheet(profile, accelerator)
    stated = serving_step(
        model,
        chip,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        memory_fraction=memory_fraction,
        fabric=fabric,
        **formats,
    )
    measured = measured_decode(
        profile,
        model,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        accelerator=chip,
        fabric=fabric,
        **formats,
    )
    return replace(stated, estimate=measured.time)


class _Step:
    """One pass being put together; what all parts share."""

    def __init__(
        self,
        profile: Profile,
        chip: Accelerator,
        model: ModelSpec,
        phase: Phase,
        seq_len: ArrayLike,
        batch: ArrayLike,
        gpus: int,
        fabric: Fabric | None,
        rates: Efficiencies,
        formats: ServingFormats,
    ) -> None:
        self.profile, self.chip, self.model, self.phase, self.rates = profile, chip, model, phase, rates
        self.gpus = int(whole("tensor_parallel", gpus, high=MOST_GPUS))
        self.length, self.batch = np.broadcast_arrays(
            whole("seq_len", seq_len), whole("batch", batch, high=MOST_SEQUENCES)
        )
        self.fabric = fabric or fabric_of(chip)
        self.formats = formats
        self.kv_dtype = formats.get("kv_dtype", "bf16")
        self.absorbed = phase == "decode" and formats.get("layout", "latent") == "latent"
        self.bytes_per_s = chip.hbm_bytes_per_s
        self.moved_per_s = profile.memory_bytes_per_s or self.bytes_per_s * rates.weight_bandwidth

    def run(self, new: Floats, *, of_plain: Floats) -> None:
        """Which tokens run.

        Args:
            new: of each sequence. [tokens]
            of_plain: floor of the attention, over that of a pass of one token, or of a whole prompt. [-]
        """
        self.new, self.of_plain = new, of_plain
        self.tokens = self.batch * new
        self.sampled = self.tokens if self.phase == "decode" else self.batch  # that logits are made for

    def parts(self, work: ServingWork, *, eager: bool) -> Iterator[Part]:
        operators = self._operators()
        found = [*self._matrices(), *self._attention(), *self._between(operators), *self._messages(work)]
        yield from found
        if eager:
            launch = self.profile.file.launch_s or EAGER_LAUNCH_S
            queue = queue_s(num_kernels(self.model, operators, fused=True), launch_s=launch)
            busy = sum((part.seconds for part in found), np.zeros(()))
            basis: Basis = "measured" if self.profile.file.launch_s else "stated"
            yield Part("waiting for launches", LAUNCHES, np.maximum(queue - busy, 0.0), basis)

    @cached_property
    def _served(self) -> tuple[ServedMatrix, ...]:
        return tuple(served_matrices(self.model, self.gpus, self.formats, absorbed=self.absorbed))

    @property
    def _made(self) -> Floats:
        """Tokens whose latents become keys and values: cached ones again, unless sparse attention reads latents."""
        again = self.formats.get("layout", "latent") == "latent" and not any(map(picks_tokens, self.model.mixers))
        return self.batch * self.length if again and self.phase == "prefill" else self.tokens

    def _operators(self) -> tuple[Operator, ...]:
        return model_operators(
            self.model,
            self.phase,
            seq_len=self.length if self.phase == "decode" else self.new,
            batch=self.tokens if self.phase == "decode" else self.batch,
            tensor_parallel=self.gpus,
            kv_dtype=self.kv_dtype,
        )

    def _matrices(self) -> Iterator[Part]:
        for one in self._served:
            rows = self.sampled if one.is_head else self._made if one.matrix.label == EXPANSION else self.tokens
            experts = self._experts(one)
            if experts is not None:  # both products of the experts together: the first stands for both
                if one.matrix.label.endswith("up projections"):
                    yield _read("routed experts", MATRICES, experts.times(one.layers))
                continue
            reading = self._product(one, rows)
            if reading is None:
                seconds, note = self._stated_product(one, rows), f"Products in {one.dtype} were not measured."
                yield Part(one.matrix.label, MATRICES, seconds, "stated", (note,))
            else:
                yield _read(one.matrix.label, MATRICES, reading.times(one.layers))

    def _product(self, one: ServedMatrix, rows: Floats) -> Reading | None:
        """All matrices of this shape that the rows meet, as one wide product: the same bytes and the same FLOPs."""
        dtype = multiply_dtype(self.chip, one.dtype)
        widened = dtype is None or bytes_per_element(one.dtype) < 0.9 * bytes_per_element(dtype)
        if dtype is None or widened or one.matrix.kind in _MOVES_ONLY:
            return None
        met = np.asarray(one.matrix.stored, dtype=np.float64) * self._hit(one, rows)
        reading = self.profile.matmul_s(
            rows * one.matrix.used / met, one.matrix.outputs * met, one.matrix.inputs, dtype
        )
        if reading is not None and one.moe:
            reading = Reading(reading.seconds, np.ones_like(reading.outside), reading.notes).noted(
                "Grouped products of experts are read as one product of the same bytes and FLOPs."
            )
        return reading

    def _experts(self, one: ServedMatrix) -> Reading | None:
        """Measured routed experts; None for other matrices and where these experts were not measured."""
        moe = one.moe
        if moe is None or not moe.gated:
            return None
        space = moe.expert_hidden_size or self.model.hidden_size
        shape = ExpertShape(one.dtype, space, moe.expert_intermediate_size, moe.num_experts, moe.top_k, self.gpus)
        return self.profile.experts_s(shape, self.tokens)

    def _hit(self, one: ServedMatrix, rows: Floats) -> Floats | float:
        return experts_hit_share(one.moe.top_k, one.moe.num_experts, rows) if one.moe else 1.0

    def _stated_product(self, one: ServedMatrix, rows: Floats) -> Floats:
        peak = (multiply_flops_per_s(self.chip, one.dtype) or np.nan) * self.rates.matmul_compute
        read = one.read_bytes(rows) / (self.bytes_per_s * self.rates.weight_bandwidth)
        return np.fmax(read, one.flops * rows / peak) + one.layers * self.rates.matmul_start_s

    def _attention(self) -> Iterator[Part]:
        for mixer, layers in mixer_counts(self.model).items():
            reading = self._softmax(mixer) if isinstance(mixer, Attention) else None
            if reading is None:
                yield from self._stated_mixer(mixer, layers)
            else:
                label = "attention" if mixer.window is None else "windowed attention"
                yield _read(label, ATTENTION, self._in_proportion(reading).times(layers))

    def _in_proportion(self, reading: Reading) -> Reading:
        """Of the pass, from that of a plain one."""
        if np.all(self.of_plain == 1):
            return reading
        cut = Reading(reading.seconds, reading.outside | (self.of_plain != 1), reading.notes).times(self.of_plain)
        return cut.noted(_IN_PROPORTION)

    def _softmax(self, mixer: Attention) -> Reading | None:
        """From the curve of full attention: decode reads a window's tokens, prefill multiplies a share of all."""
        heads, kv_heads = (int(heads_per_gpu(n, np.asarray(self.gpus))) for n in (mixer.num_heads, mixer.num_kv_heads))
        seen = self.length
        if self.phase == "decode":
            seen = np.maximum(np.minimum(self.length, mixer.window or np.inf) - 1, 1)  # before the new token
        width = mixer.head_dim if mixer.head_dim == mixer.v_head_dim else (mixer.head_dim + mixer.v_head_dim) // 2
        reading = self.profile.attention_s(
            self.phase,
            self.batch,
            seen,
            heads=heads,
            kv_heads=kv_heads,
            head_dim=width,
            kv_dtype=self.kv_dtype,
        )
        if reading is None or mixer.window is None:
            return reading
        if self.phase == "decode":
            return reading.noted("A window is read as a cache of its length.")
        limit, chunked = mixer.window, mixer.window_kind == "chunked"
        share = visible_tokens(self.length, "causal", limit=limit, chunked=chunked) / visible_tokens(
            self.length, "causal"
        )
        cut = Reading(reading.seconds, reading.outside | (share < 1), reading.notes).times(share)
        return cut.noted("A window's prefill is read as its share of full attention's FLOPs.")

    def _stated_mixer(self, mixer: Mixer, layers: int) -> Iterator[Part]:
        work = Work.of(self.phase, self.length, batch=self.batch, tensor_parallel=self.gpus, kv_dtype=self.kv_dtype)
        sparse = isinstance(mixer, LatentAttention) and bool(mixer.indexer or mixer.shared_top_k)
        peak = (multiply_flops_per_s(self.chip, "bf16") or np.nan) * self.rates.attention_compute
        for operator in mixing_operators(mixer, layers, work, absorbed=work.absorbed(sparse=sparse)):
            moved = operator.bytes / (self.bytes_per_s * self.rates.kv_bandwidth)
            seconds = self.of_plain * np.fmax(moved, operator.flops / peak) + layers * self.rates.attention_start_s
            note = f"{operator.label[:1].upper()}{operator.label[1:]} was not measured."
            yield Part(operator.label, ATTENTION, seconds, "stated", (note,))

    def _between(self, operators: tuple[Operator, ...]) -> Iterator[Part]:
        """Kernels between products, by the bytes each moves: measured ones, or their start and the memory's rate."""
        start = self.profile.file.graph_launch_s or self.rates.small_kernel_s
        measured = self.profile.file.graph_launch_s and self.profile.memory_bytes_per_s
        sorts = any(one.moe and self._experts(one) for one in self._served)  # measured with the experts
        for operator in operators:
            if not operator.on_vector_units or (sorts and operator.label == _SORTING):
                continue
            each = operator.bytes / operator.count
            readings = [
                self.profile.vectors[op, "forward"].read(share * each)
                for op, share in _VECTOR_KERNELS.get(operator.label, ())
                if (op, "forward") in self.profile.vectors
            ]
            if readings:
                seconds = operator.count * sum((reading.seconds for reading in readings), np.zeros(()))
                # Fewer bytes than measured cost the measured start: what small kernels take is in the table's first.
                notes = tuple(note for reading in readings for note in reading.notes if "past" in note)
                yield Part(operator.label, BETWEEN, np.asarray(seconds), "continued" if notes else "measured", notes)
                continue
            seconds = operator.count * start + operator.bytes / self.moved_per_s
            yield Part(operator.label, BETWEEN, np.asarray(seconds), "measured" if measured else "stated")

    def _messages(self, work: ServingWork) -> Iterator[Part]:
        if self.gpus == 1:
            return
        usual = self.fabric.scale_up == fabric_of(self.chip).scale_up
        reading = self.profile.collective_s("all_reduce", work.message_bytes, self.gpus) if usual else None
        if reading is not None:
            yield _read("all-reduces", MESSAGES, reading.times(work.num_messages))
            return
        seconds = messages_s(work, self.gpus, self.fabric, efficiency=self.rates.link)
        over = "" if usual else " over these links"
        note = f"All-reduces among {self.gpus} GPUs{over} were not measured."
        yield Part("all-reduces", MESSAGES, seconds, "stated", (note,))


def _attention_ratio(work: ServingWork, plain: ServingWork, chip: Accelerator) -> Floats:
    """Floor of the attention of one pass over that of another; 1 where there is none. [-]"""
    ours, theirs = (np.fmax(time.kv_s, time.attention_s) for time in (floor_time(work, chip), floor_time(plain, chip)))
    return np.asarray(np.where(theirs > 0, ours / np.where(theirs > 0, theirs, 1.0), 1.0))


def _read(label: str, kind: str, reading: Reading) -> Part:
    return Part(label, kind, reading.seconds, "measured" if reading.inside else "continued", reading.notes)


def _split(seconds: Floats, memory: Floats, compute: Floats) -> tuple[Floats, Floats]:
    """One time as memory's and compute's, the longer of which is all of it; an unknown one stays unknown."""
    longer = np.fmax(memory, compute)
    none = longer == 0  # nothing of the kind: the time, if any, is memory's
    scale = seconds / np.where(none, 1.0, longer)
    return np.asarray(np.where(none, seconds, memory * scale)), np.asarray(np.where(none, 0.0, compute * scale))


def _datasheet(profile: Profile, accelerator: Accelerator | None) -> Accelerator:
    chip = accelerator or profile.accelerator
    if chip is None:
        raise ValueError(
            f"the catalog has no accelerator for {profile.file.device!r}; choose the one whose datasheet stands beside"
        )
    return chip
