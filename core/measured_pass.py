"""One pass of a model put together from a measured profile: products, attention, what lies between, messages, launches.

Whatever the profile has no table for is put in at stated efficiencies (:class:`core.serving_rates.Efficiencies`) and
marked so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

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
from core.measured_step import ATTENTION, BETWEEN, LAUNCHES, MATRICES, MESSAGES, Basis, MeasuredStep, Part
from core.mixer_matrices import EXPANSION
from core.mixer_operators import mixing_operators
from core.model_spec import Attention, LatentAttention, Mixer, ModelSpec
from core.operators import model_operators
from core.sequence_state import MOST_GPUS, MOST_SEQUENCES
from core.serving_messages import Fabric, fabric_of, messages_s
from core.serving_rates import Efficiencies, floor_time, multiply_dtype, multiply_flops_per_s
from core.serving_weights import ServedMatrix, ServingFormats, experts_hit_share, served_matrices
from core.serving_work import ServingWork
from core.token_mixing import visible_tokens
from core.work import Operator, Work

_SORTING = "routing and permutation"
_IN_PROPORTION = "Attention is read as a plain pass's, in proportion to their floors."
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


class MeasuredPass:
    """One pass being put together; what all parts share.

    Args:
        work: of the pass.
        plain: of the same with one token of each sequence, or of whole prompts, as attention was measured.
        seq_len: tokens of each sequence, those of the pass included. [tokens]
        new_tokens: of each sequence those that run. [tokens]
    """

    def __init__(
        self,
        work: ServingWork,
        plain: ServingWork,
        *,
        profile: Profile,
        accelerator: Accelerator,
        model: ModelSpec,
        phase: Phase,
        seq_len: ArrayLike,
        batch: ArrayLike,
        new_tokens: Floats,
        tensor_parallel: int,
        fabric: Fabric | None,
        efficiencies: Efficiencies,
        formats: ServingFormats,
    ) -> None:
        self.work, self.profile, self.chip, self.model, self.phase = work, profile, accelerator, model, phase
        self.rates, self.formats, self.new = efficiencies, formats, new_tokens
        self.gpus = int(whole("tensor_parallel", tensor_parallel, high=MOST_GPUS))
        self.length, self.batch = np.broadcast_arrays(
            whole("seq_len", seq_len), whole("batch", batch, high=MOST_SEQUENCES)
        )
        self.tokens = self.batch * new_tokens
        self.sampled = self.tokens if phase == "decode" else self.batch  # that logits are made for
        self.of_plain = _attention_ratio(work, plain, accelerator)
        self.fabric = fabric or fabric_of(accelerator)
        self.kv_dtype = formats.get("kv_dtype", "bf16")
        self.absorbed = phase == "decode" and formats.get("layout", "latent") == "latent"
        self.bytes_per_s = accelerator.hbm_bytes_per_s
        self.moved_per_s = profile.memory_bytes_per_s or self.bytes_per_s * efficiencies.weight_bandwidth

    def step(self, *, eager: bool) -> MeasuredStep:
        """The prediction.

        Args:
            eager: kernels are launched one by one, so the queue of launches may be longer than the work.
        """
        return MeasuredStep(tuple(self._parts(eager=eager)), floor_time(self.work, self.chip), self.profile.citation)

    def _parts(self, *, eager: bool) -> Iterator[Part]:
        operators = self._operators()
        found = [*self._matrices(), *self._attention(), *self._between(operators), *self._messages()]
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

    def _messages(self) -> Iterator[Part]:
        if self.gpus == 1:
            return
        usual = self.fabric.scale_up == fabric_of(self.chip).scale_up
        reading = self.profile.collective_s("all_reduce", self.work.message_bytes, self.gpus) if usual else None
        if reading is not None:
            yield _read("all-reduces", MESSAGES, reading.times(self.work.num_messages))
            return
        seconds = messages_s(self.work, self.gpus, self.fabric, efficiency=self.rates.link)
        over = "" if usual else " over these links"
        note = f"All-reduces among {self.gpus} GPUs{over} were not measured."
        yield Part("all-reduces", MESSAGES, seconds, "stated", (note,))


def _attention_ratio(work: ServingWork, plain: ServingWork, chip: Accelerator) -> Floats:
    """Floor of the attention of one pass over that of another; 1 where there is none. [-]"""
    ours, theirs = (np.fmax(time.kv_s, time.attention_s) for time in (floor_time(work, chip), floor_time(plain, chip)))
    return np.asarray(np.where(theirs > 0, ours / np.where(theirs > 0, theirs, 1.0), 1.0))


def _read(label: str, kind: str, reading: Reading) -> Part:
    basis: Basis = "measured" if reading.inside else "bounded" if reading.bounds else "continued"
    return Part(label, kind, reading.seconds, basis, reading.notes)
