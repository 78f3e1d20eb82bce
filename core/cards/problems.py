"""What is wrong with a card file: file, line, field, value, and what would be right."""

from __future__ import annotations

from dataclasses import dataclass

import yaml


@dataclass(frozen=True, slots=True, order=True)
class CardProblem:
    """One finding, printed as ``file:line: field: rule``."""

    path: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}"
        return f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


class CardError(ValueError):
    """Card files that cannot be used, with every finding."""

    def __init__(self, problems: list[CardProblem]) -> None:
        self.problems = sorted(problems)
        super().__init__("\n".join(map(str, self.problems)))


def line_of(text: str, path: tuple[object, ...], first_line: int = 1) -> int:
    """The line of a YAML text at which the value under ``path`` (keys and positions) begins.

    What lies deeper than the text goes is reported at its nearest ancestor.
    """
    try:
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return first_line
    line = 0
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == str(step)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line
        else:
            break
    return first_line + line
