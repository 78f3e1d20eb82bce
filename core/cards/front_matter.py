"""The YAML of card files: plain values within bounds, and the line on which each of them stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import yaml

MAX_DEPTH = 16  # levels of nesting; a question needs five
MAX_CHARS = 100_000  # of one YAML text; the longest of the bank has a third of that
MAX_NODES = 10_000
_PREFIX = "tag:yaml.org,2002:"
_PLAIN_TAGS = {_PREFIX + name for name in ("map", "seq", "str", "int", "float", "bool", "null")}
# Junk under an explicit tag makes the constructors of YAML raise any of these.
_CONSTRUCTOR_ERRORS = (ValueError, LookupError, ArithmeticError, TypeError, AttributeError, RecursionError)


class YamlFault(ValueError):
    """YAML that cannot be read as a card: ``line`` says where, ``field`` under which key."""

    def __init__(self, message: str, line: int, field: str = "") -> None:
        super().__init__(message)
        self.line, self.field = line, field


class _Loader(yaml.CSafeLoader):
    """Numbers, true, false, null and texts as in YAML 1.2: a "no" is a word, "1:30" no number, 1e9 is one."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - the base class has it so


for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]{1,17}", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
):
    _Loader.add_implicit_resolver(_PREFIX + _name, re.compile(rf"^(?:{_pattern})$"), list(_first))


def _decimal(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> int:
    return int(str(loader.construct_scalar(node)))  # 010 is ten, not an octal eight


_Loader.add_constructor(_PREFIX + "int", _decimal)


def split_front_matter(text: str) -> tuple[str, str]:
    """The YAML between a first line ``---`` and the next such line, and the Markdown below.

    The YAML begins on line 2. It is empty where the text does not begin so, or where no second line of dashes follows.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return "", text
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), None)
    return ("", text) if end is None else ("\n".join(lines[1:end]), "\n".join(lines[end + 1 :]))


def read_yaml(text: str, first_line: int = 1) -> object:
    """The value of a YAML text.

    Raises:
        YamlFault: it is no YAML, uses aliases or tags, names a key twice, or is nested too deeply.
    """
    if len(text) > MAX_CHARS:
        raise YamlFault(f"{len(text):,} characters of YAML; at most {MAX_CHARS:,} are read", first_line)
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_what_cards_do_not_use(node, text, first_line)
        return loader.construct_document(node)
    except YamlFault:
        raise
    except (yaml.YAMLError, *_CONSTRUCTOR_ERRORS) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0][:120]
        line = first_line + (mark.line if mark else 0)
        raise YamlFault(
            f"the YAML cannot be read here: {problem}; quote a text that holds ': ' or ' #'", line
        ) from None
    finally:
        loader.dispose()


def path_of(field: str) -> tuple[object, ...]:
    """``hints.2.text`` as keys and positions."""
    return tuple(int(step) if re.fullmatch(r"[0-9]{1,6}", step) else step for step in field.split("."))


def line_of(text: str, path: tuple[object, ...], first_line: int = 1) -> int:
    """The line of a YAML text on which the value under ``path`` begins: keys, positions, or the ``id`` of a row.

    What lies deeper than the text goes is reported at its nearest ancestor.
    """
    node = _composed(text)
    line = 0
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == str(step)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, yaml.SequenceNode):
            row = _row(node, step)
            if row is None:
                break
            line, node = row.start_mark.line, row
        else:
            break
    return first_line + line


def _row(node: yaml.SequenceNode, step: object) -> yaml.Node | None:
    if isinstance(step, int):
        return node.value[step] if step < len(node.value) else None
    for row in node.value:
        if isinstance(row, yaml.MappingNode) and any(
            key.value == "id" and value.value == step for key, value in row.value
        ):
            return row
    return None


@lru_cache(maxsize=16)
def _composed(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    except yaml.YAMLError:
        return None
    finally:
        loader.dispose()


def _refuse_what_cards_do_not_use(root: yaml.Node, text: str, first_line: int) -> None:
    seen: set[int] = set()
    waiting: list[tuple[yaml.Node, int]] = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        line = first_line + node.start_mark.line
        if id(node) in seen:
            raise YamlFault(
                "YAML aliases (*name) are not used in cards: write the value out", first_line + _alias_line(text)
            )
        seen.add(id(node))
        if len(seen) > MAX_NODES:
            raise YamlFault(f"holds more than {MAX_NODES:,} values", line)
        if depth > MAX_DEPTH:
            raise YamlFault(f"is nested more than {MAX_DEPTH} levels deep; no card needs that", line)
        if node.tag not in _PLAIN_TAGS:
            raise YamlFault(f"the YAML tag {node.tag[:60]!r} is not used in cards: write a plain value", line)
        if isinstance(node, yaml.MappingNode):
            _refuse_keys(node, first_line)
        waiting += [(child, depth + 1) for child in _children(node)]


def _refuse_keys(node: yaml.MappingNode, first_line: int) -> None:
    names: dict[str, int] = {}
    for key, _ in node.value:
        line = first_line + key.start_mark.line
        if not isinstance(key, yaml.ScalarNode):
            raise YamlFault("a key is a word, here it is a list or a table", line)
        if key.value in names:
            raise YamlFault(f"stands twice, on line {names[key.value]} already: keep one", line, key.value[:60])
        names[key.value] = line


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _alias_line(text: str) -> int:
    marks = (event.start_mark for event in yaml.parse(text, Loader=_Loader) if isinstance(event, yaml.AliasEvent))
    return next((mark.line for mark in marks if mark), 0)
