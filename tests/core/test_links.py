"""Links that come with an accelerator, and what is said where the catalog knows none."""

import pytest

from core.hardware import load_accelerators, load_links
from core.links import links_of

GPUS, LINKS = load_accelerators(), load_links()


@pytest.mark.parametrize("gpu", GPUS.values(), ids=list(GPUS))
def test_every_accelerator_has_links_of_its_own_rates_or_says_so(gpu):
    links = links_of(gpu)
    if gpu.scale_up_bytes_per_s:
        assert links.scale_up.bytes_per_s == gpu.scale_up_bytes_per_s
    if gpu.scale_out_bytes_per_s:
        assert links.scale_out.bytes_per_s == gpu.scale_out_bytes_per_s
    unknown = (not gpu.scale_up_bytes_per_s) + (not gpu.scale_out_bytes_per_s)
    assert len(links.assumed) >= unknown
    assert links.gpus_per_node >= 1


@pytest.mark.parametrize(("gpu", "node"), [("h100-sxm", 8), ("gb200", 72), ("h100-nvl", 2), ("l40s", 8)])
def test_a_node_is_a_scale_up_domain(gpu, node):
    assert links_of(GPUS[gpu]).gpus_per_node == node


def test_given_links_are_taken():
    links = links_of(GPUS["h100-sxm"], scale_up=LINKS["pcie-5-x16"], scale_out=LINKS["roce-400g"])
    assert (links.scale_up.id, links.scale_out.id) == ("pcie-5-x16", "roce-400g")


def test_h100_comes_with_nvlink_and_one_port_a_gpu():
    links = links_of(GPUS["h100-sxm"])
    assert (links.scale_up.id, links.scale_out.id, links.assumed) == ("nvlink-4", "infiniband-ndr", ())


def test_a_rate_that_no_link_has_becomes_one():
    gpu = GPUS["h100-sxm"].edited(scale_out_bytes_per_s=33e9)
    assert links_of(gpu).scale_out.bytes_per_s == 33e9
