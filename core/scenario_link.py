"""A scenario as a short address, and as a file: both can be read again, and neither is trusted.

The address holds only what differs from the default scenario. Catalog rows go by id; a pasted model, or hardware edited
by hand, is packed (JSON, deflate, base64url) as long as the address stays under :data:`MAX_ADDRESS_CHARS`.
"""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Mapping
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError

from core.constraints import Problem
from core.hardware import Accelerator, Link, load_accelerators, load_links
from core.model_spec import ModelSpec, load_models
from core.scenario import Scenario, ScenarioError, build, field_values

MAX_ADDRESS_CHARS = 2000  # what chat tools and mail pass on unbroken
MAX_UNPACKED_BYTES = 1_000_000
FILE_FORMAT = "ridgepoint-scenario/1"

DEFAULT_MODEL = "meta-llama/Llama-3.1-70B"
DEFAULT_ACCELERATOR = "h100-sxm"
DEFAULT_SCALE_UP = "nvlink-4"
DEFAULT_SCALE_OUT = "infiniband-ndr"

# Address key -> field. Short, stable for good: old addresses must keep opening.
KEYS: dict[str, str] = {
    "dp": "data_parallel",
    "tp": "tensor_parallel",
    "pp": "pipeline_parallel",
    "cp": "context_parallel",
    "ep": "expert_parallel",
    "sp": "sequence_parallel",
    "vp": "virtual_stages",
    "zero": "zero_stage",
    "opt": "recipe",
    "off": "offload",
    "mbs": "micro_batch_size",
    "mb": "num_micro_batches",
    "seq": "seq_len",
    "rc": "recompute",
    "fa": "fused_attention",
    "stp": "serving_tensor_parallel",
    "w": "weight_dtype",
    "kv": "kv_dtype",
    "ctx": "context_len",
    "batch": "batch",
    "mem": "memory_fraction",
}
OBJECT_KEYS = ("model", "gpu", "up", "out")
PACKED_PREFIX = "1."  # the pack's own version


@functools.cache
def default_scenario() -> Scenario:
    """Where a first visit starts: Llama 3.1 70B on 64 H100 with ZeRO-3."""
    return build(
        load_models()[DEFAULT_MODEL],
        load_accelerators()[DEFAULT_ACCELERATOR],
        load_links()[DEFAULT_SCALE_UP],
        load_links()[DEFAULT_SCALE_OUT],
        {},
    )


def to_address(scenario: Scenario) -> dict[str, str]:
    """Query parameters that reopen this scenario; empty for the default one.

    Raises:
        ScenarioError: the address would be too long; the way out is the scenario file.
    """
    start, values = field_values(default_scenario()), field_values(scenario)
    address = {key: _text(values[field]) for key, field in KEYS.items() if values[field] != start[field]}
    for key, part, known, default in _parts(scenario):
        if known.get(part.id) == part:
            if part.id != default:
                address[key] = part.id
        else:
            address[key] = pack(part)
    length = len(urlencode(address))
    if length > MAX_ADDRESS_CHARS:
        rule = f"an address holds at most {MAX_ADDRESS_CHARS:,} characters"
        raise ScenarioError(
            [Problem("address", f"{length:,} characters", rule, "Save the scenario as a file instead.")]
        )
    return address


def from_address(address: Mapping[str, str]) -> Scenario:
    """The scenario that an address names; keys that are not ours are left alone.

    Raises:
        ScenarioError: naming each key that cannot be read.
    """
    found: list[Problem] = []
    chosen: dict[str, Any] = {}
    defaults = dict(
        zip(OBJECT_KEYS, (DEFAULT_MODEL, DEFAULT_ACCELERATOR, DEFAULT_SCALE_UP, DEFAULT_SCALE_OUT), strict=True)
    )
    for key, (known, kind) in _catalogs().items():
        text = address.get(key, defaults[key])
        try:
            chosen[key] = known[text] if text in known else unpack(text, kind)
        except ValueError as error:
            found.append(
                Problem(key, text, str(error), "Pick one from the list, or open the link again as it was sent.")
            )
    if found:
        raise ScenarioError(found)
    values = {field: address[key] for key, field in KEYS.items() if key in address}
    return build(chosen["model"], chosen["gpu"], chosen["up"], chosen["out"], values)


def to_file(scenario: Scenario) -> str:
    """The whole scenario as JSON text that :func:`from_file` reads; holds models of any size."""
    parts = {key: _dump(part) for key, part, _, _ in _parts(scenario)}
    return json.dumps({"format": FILE_FORMAT, **parts, "values": field_values(scenario)}, indent=1)


def from_file(text: str) -> Scenario:
    """The scenario in a file that :func:`to_file` wrote.

    Raises:
        ScenarioError: not JSON, another format, or a part at fault, each in words.
    """
    if len(text) > MAX_UNPACKED_BYTES:
        raise _file_problem(f"{len(text):,} characters", f"a scenario file holds at most {MAX_UNPACKED_BYTES:,}")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise _file_problem(text[:40], "it must be JSON that this app wrote") from None
    if not isinstance(data, dict) or data.get("format") != FILE_FORMAT:
        version = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise _file_problem(version, f"its format must be {FILE_FORMAT}")
    parts: dict[str, Any] = {}
    for key, (_, kind) in _catalogs().items():
        try:
            parts[key] = _load(data.get(key), kind)
        except ValueError as error:
            raise _file_problem(key, str(error)) from None
    values = data.get("values")
    if not isinstance(values, dict):
        raise _file_problem("values", "it must hold the scenario's fields")
    return build(parts["model"], parts["gpu"], parts["up"], parts["out"], values)


def pack(part: BaseModel) -> str:
    """A model or piece of hardware as URL-safe text."""
    text = json.dumps(_dump(part), separators=(",", ":"))
    return PACKED_PREFIX + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def unpack(text: str, kind: type[BaseModel]) -> BaseModel:
    """What :func:`pack` packed. Raises ValueError in words; never unpacks more than :data:`MAX_UNPACKED_BYTES`."""
    if not text.startswith(PACKED_PREFIX):
        raise ValueError("it is no id of the catalog")
    body = text.removeprefix(PACKED_PREFIX)
    try:
        inflate = zlib.decompressobj()
        raw = inflate.decompress(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), MAX_UNPACKED_BYTES)
        data = json.loads(raw) if inflate.eof else None
    except (ValueError, zlib.error, RecursionError):  # no base64, no deflate, no text, no JSON, nested too deep
        raise ValueError("it cannot be unpacked: the link was cut or changed") from None
    if not inflate.eof:
        raise ValueError("it is cut short or too large")
    return _load(data, kind)


def _parts(scenario: Scenario) -> list[tuple[str, Any, Mapping[str, Any], str]]:
    return [
        ("model", scenario.model, load_models(), DEFAULT_MODEL),
        ("gpu", scenario.accelerator, load_accelerators(), DEFAULT_ACCELERATOR),
        ("up", scenario.scale_up, load_links(), DEFAULT_SCALE_UP),
        ("out", scenario.scale_out, load_links(), DEFAULT_SCALE_OUT),
    ]


def _catalogs() -> dict[str, tuple[Mapping[str, Any], type[BaseModel]]]:
    return {
        "model": (load_models(), ModelSpec),
        "gpu": (load_accelerators(), Accelerator),
        "up": (load_links(), Link),
        "out": (load_links(), Link),
    }


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _dump(part: BaseModel) -> dict[str, Any]:
    """JSON form without defaults; a model's equal neighbouring layers are folded into [count, layer]."""
    data = part.model_dump(mode="json", exclude_defaults=True)
    if isinstance(part, ModelSpec):
        data["layers"] = [[len(list(run)), layer] for layer, run in groupby(data["layers"])]
    return data


def _load(data: Any, kind: type[BaseModel]) -> BaseModel:
    if not isinstance(data, dict):
        raise ValueError("it must be a JSON object")
    if kind is ModelSpec:
        data = data | {"layers": _unfold(data.get("layers"))}
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"its field {'.'.join(map(str, first['loc']))} is at fault: {first['msg'].lower()}") from None


def _unfold(runs: Any) -> list[Any]:
    layers: list[Any] = []
    for run in runs if isinstance(runs, list) else []:
        if not (isinstance(run, list) and len(run) == 2 and isinstance(run[0], int) and 0 < run[0] <= 4096):
            raise ValueError("its layers must be pairs of a count and a layer")
        layers += [run[1]] * run[0]
        if len(layers) > 4096:
            raise ValueError("it has more than 4,096 layers")
    return layers


def _file_problem(value: object, rule: str) -> ScenarioError:
    return ScenarioError([Problem("scenario_file", value, rule, "Open a file that Save scenario wrote.")])
