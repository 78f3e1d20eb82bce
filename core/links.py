"""The links that an accelerator usually comes with, where a scenario names none."""

from __future__ import annotations

from dataclasses import dataclass

from core.hardware import Accelerator, Link, load_links

DEFAULT_GPUS_PER_NODE = 8  # a server of PCIe cards, where the catalog names no scale-up domain
_PLAIN_SLOT, _PLAIN_PORT = "pcie-4-x16", "infiniband-ndr"  # where the catalog knows no link at all


@dataclass(frozen=True, slots=True)
class Links:
    """What joins the GPUs of a node, and what joins nodes."""

    scale_up: Link
    scale_out: Link
    gpus_per_node: int
    assumed: tuple[str, ...] = ()  # plain sentences: what the catalog does not say of this accelerator


def links_of(accelerator: Accelerator, *, scale_up: Link | None = None, scale_out: Link | None = None) -> Links:
    """The given links, or the accelerator's own scale-up link and a port of its usual rate for each GPU.

    A node is a scale-up domain: 8 GPUs of an HGX board, 72 of a rack, or what the given link can join.
    """
    assumed: list[str] = []
    up = scale_up or _scale_up(accelerator, assumed)
    out = scale_out or _scale_out(accelerator, assumed)
    own = up.bytes_per_s == accelerator.scale_up_bytes_per_s
    domain = (accelerator.scale_up_domain if own else None) or up.max_domain
    if domain is None:
        assumed.append(f"{DEFAULT_GPUS_PER_NODE} GPUs share a node.")
    return Links(up, out, domain or DEFAULT_GPUS_PER_NODE, tuple(assumed))


def _scale_up(accelerator: Accelerator, assumed: list[str]) -> Link:
    links = load_links()
    if accelerator.scale_up_link is not None:
        return links[accelerator.scale_up_link]
    if accelerator.scale_up_bytes_per_s is not None:
        same = [link for link in links.values() if link.bytes_per_s == accelerator.scale_up_bytes_per_s]
        return same[0] if same else links["nvlink-5"].edited(bytes_per_s=accelerator.scale_up_bytes_per_s)
    assumed.append(
        f"The catalog has no link between GPUs for {accelerator.name}; {links[_PLAIN_SLOT].name} is assumed."
    )
    return links[_PLAIN_SLOT]


def _scale_out(accelerator: Accelerator, assumed: list[str]) -> Link:
    ports = [link for link in load_links().values() if link.kind == "scale-out"]
    rate = accelerator.scale_out_bytes_per_s
    if rate is not None:
        same = [port for port in ports if port.bytes_per_s == rate]
        return same[0] if same else load_links()[_PLAIN_PORT].edited(bytes_per_s=rate)
    port = load_links()[_PLAIN_PORT]
    assumed.append(f"The catalog has no network port for {accelerator.name}; one {port.name} a GPU is assumed.")
    return port
