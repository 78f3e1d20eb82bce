"""What of step 4 a measured profile has: tiled attention of the scenario's own layer, and the time a launch takes."""

from __future__ import annotations

from dataclasses import dataclass

from core.attention_shapes import AttentionShape, layer_shapes
from core.log_grid import Reading
from core.measured_profile import Profile
from core.scenario import TrainingScenario
from core.working import Term, Working, number, scalar

_NOTES_SHOWN = 2  # the derivation has them all
_OTHER_KINDS = ("latent attention", "compressed attention")  # of core.attention_shapes


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPasses:
    """One layer's tiled causal attention as it was measured; None: that pass was not."""

    forward: Reading | None
    both: Reading | None  # forward and backward
    citation: str

    @property
    def seconds(self) -> dict[str, float]:
        """By the table's word for a pass. The backward pass is what both take less the forward pass. [s]"""
        found = {
            name: scalar(name, reading.seconds)
            for name, reading in (("forward", self.forward), ("both", self.both))
            if reading is not None
        }
        if len(found) > 1 and found["both"] > found["forward"]:
            found["backward"] = found["both"] - found["forward"]
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """How the tables were read where not as they stand, each sentence once."""
        readings = (reading for reading in (self.forward, self.both) if reading is not None)
        return tuple(dict.fromkeys(note for reading in readings for note in reading.notes))

    def in_words(self) -> str:
        """Whose the measured column is, and how it was read."""
        return " ".join([f"Measured: {self.citation}.", *self.notes[:_NOTES_SHOWN]])


def measured_passes(scenario: TrainingScenario, profile: Profile | None) -> MeasuredPasses | None:
    """The layer that the table shows, at the scenario's length and micro-batch.

    None without a profile, where nothing like the layer was measured, and for layers whose heads see less than the
    sequence, or a latent: profiles measure full attention.
    """
    shape = next(iter(layer_shapes(scenario.model, scenario.tensor_parallel)), None)
    if profile is None or shape is None or not _sees_all(shape, scenario.seq_len):
        return None

    def read(phase: str) -> Reading | None:
        return profile.attention_s(
            "prefill" if phase == "forward" else "training",
            scenario.micro_batch_size,
            scenario.seq_len,
            heads=shape.heads,
            kv_heads=shape.kv_heads,
            head_dim=shape.head_dim,
        )

    forward, both = read("forward"), read("both")
    return None if forward is None and both is None else MeasuredPasses(forward, both, profile.citation)


def _sees_all(shape: AttentionShape, seq_len: int) -> bool:
    reaches = shape.window is None or shape.window >= seq_len
    return shape.kind not in _OTHER_KINDS and shape.head_dim == shape.v_head_dim and reaches


def passes_workings(passes: MeasuredPasses | None) -> list[Working]:
    """Where each measured time was read."""
    if passes is None:
        return []
    words = {"forward": "forward", "both": "forward and backward", "backward": "backward"}
    found = []
    for name, seconds in passes.seconds.items():
        expression = number(seconds)
        if name == "backward":
            expression = f"{number(passes.seconds['both'])} - {number(passes.seconds['forward'])}"
        found.append(
            Working(
                name=f"Attention of one layer, tiled, {words[name]}, as measured",
                formula="forward and backward - forward" if name == "backward" else "read between measured sizes",
                terms=(Term(words[name], expression, seconds, "s"),),
                value=seconds,
                unit="s",
                assumptions=passes.notes or ("the size lies between measured cells",),
                source=passes.citation,
            )
        )
    return found


def has_launches(profile: Profile | None) -> bool:
    """Whether the profile knows what a launch takes, both one by one and in a graph."""
    return profile is not None and profile.file.launch_s is not None and profile.file.graph_launch_s is not None
