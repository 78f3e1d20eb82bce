"""Typed reading of a ``config.json``: the right type and range, or a sentence with field, value, rule and way out.

A quantity is asked for by one name and found under any of those in :data:`core.hf_config.names.NAMES`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.hf_config.errors import ConfigError
from core.hf_config.names import NAMES, WIDTH, Quantity


def show(value: object) -> str:
    """A value as JSON would write it, cut to a readable length."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass
class Fields:
    """A config and what was said while it was read. ``None`` counts as absent, as in the files of the hub."""

    raw: Mapping[str, Any]
    path: str = ""  # "text_config." where the language model lies deeper
    outer: Mapping[str, Any] = field(default_factory=dict)  # the whole file, for what is only said on top
    notes: list[str] = field(default_factory=list)
    family: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def with_defaults(self, family: str, **defaults: Any) -> Fields:
        """Name the family, and the values that its files leave out since its software fills them in."""
        self.family, self.defaults = family, defaults
        return self

    def note(self, sentence: str) -> None:
        """Keep a plain sentence for :attr:`core.model_spec.ModelSpec.notes`, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def find(self, name: str) -> tuple[str, Any]:
        """The name under which a quantity stands in the file, and its value; ``(name, None)`` where it is absent."""
        quantity = NAMES.get(name)
        for candidate in (name, *(quantity.aliases if quantity else ())):
            if self.raw.get(candidate) is not None:
                return candidate, self.raw[candidate]
        if name in self.defaults:
            value = self.defaults[name]
            self.note(f"The config does not give {name}; {show(value)} is what {self.family} uses then.")
            return name, value
        return name, None

    def has(self, name: str) -> bool:
        """Whether a quantity is given, under any of its names."""
        return self.find(name)[1] is not None

    def require(self, name: str, purpose: str) -> None:
        """Hold a field to be written down, be it as null: its absence would change the model silently."""
        names = (name, *(NAMES[name].aliases if name in NAMES else ()))
        if not any(candidate in self.raw for candidate in names):
            raise self.missing(name, purpose)

    def fail(self, name: str, value: object, rule: str, way_out: str) -> ConfigError:
        """The refusal of one field, ready to raise."""
        return ConfigError(f"{self.path}{name}={show(value)} {rule}; {way_out}")

    def missing(self, name: str, purpose: str) -> ConfigError:
        """The refusal for an absent field, ready to raise."""
        aliases = NAMES[name].aliases if name in NAMES else ()
        also = f" (also accepted: {', '.join(aliases)})" if aliases else ""
        return ConfigError(f"{self.path}{name} is missing: {purpose}; add it to the config{also}")

    def integer(self, name: str, *, default: int | None = None, minimum: int = 1, purpose: str = "") -> int:
        """A whole number in its range; ``default`` where the file leaves it out.

        Raises:
            ConfigError: absent without a default, of another type, or out of range.
        """
        quantity = NAMES.get(name, Quantity(purpose or "a size of the model", WIDTH))
        purpose = purpose or quantity.purpose
        found, value = self.find(name)
        if value is None:
            if default is None:
                raise self.missing(name, purpose)
            return default
        return self.whole(found, value, purpose=purpose, minimum=minimum, maximum=quantity.maximum)

    def whole(self, name: str, value: Any, *, purpose: str, minimum: int = 1, maximum: int = WIDTH) -> int:
        """``value`` as a whole number in a range; 4096.0 is one, true and "4096" are not."""
        way_out = f"it is {purpose}: give a whole number from {minimum} to {maximum}"
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole and not (isinstance(value, float) and value.is_integer()):  # NaN and Infinity are no integers
            raise self.fail(name, value, "is not a whole number", way_out)
        if not minimum <= value <= maximum:
            raise self.fail(name, value, "is out of range", way_out)
        return int(value)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A yes/no field. Raises ConfigError for any other type."""
        value = self.find(name)[1]
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.fail(name, value, "is neither true nor false", "write true or false")
        return value

    def text(self, name: str, *, default: str = "") -> str:
        """A string field. Raises ConfigError for any other type."""
        value = self.find(name)[1]
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.fail(name, value, "is not a text", "write it in quotes")
        return value

    def items(self, name: str, *, length: int | None = None, of: str = "num_hidden_layers") -> list[Any] | None:
        """A list field, or None where absent; ``length`` is what ``of`` says it must have.

        Raises:
            ConfigError: not a list, or of another length.
        """
        value = self.find(name)[1]
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise self.fail(name, value, "is not a list", "write a list with one entry a layer")
        if length is not None and len(value) != length:
            rule = f"has {len(value)} entries but {of}={length}"
            raise self.fail(name, list(value), rule, f"give {length} entries or change {of}")
        return list(value)

    def each(self, name: str, entries: Sequence[Any], known: Sequence[Any], rule: str) -> None:
        """Hold every entry of a list to the known ones.

        Raises:
            ConfigError: the first that is not, with ``rule`` and what is known.
        """
        for index, entry in enumerate(entries):
            if isinstance(entry, bool) or entry not in known:
                way_out = f"known for this model: {', '.join(map(str, known))}"
                raise self.fail(f"{name}[{index}]", entry, rule, way_out)

    def section(self, name: str) -> Fields | None:
        """A nested object as fields of its own, sharing the notes; None where absent."""
        value = self.find(name)[1]
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.fail(name, value, "is not an object", "write it as {...}")
        return Fields(value, path=f"{self.path}{name}.", outer=self.outer, notes=self.notes, family=self.family)
